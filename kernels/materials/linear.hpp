#pragma once

#include "kernels/materials/strain.hpp"

namespace ductile {

/// Linear elasticity: e = sym(F) - I, Psi = mu |e|^2 + lambda/2 tr(e)^2 (P2 table 1). Not rotation invariant: for small
/// displacements and for comparisons only.
template <class Real>
struct Linear {
  Real mu, lambda;

  [[gnu::always_inline]] constexpr Response<Real> displacement_response(const Mat3<Real>& H) const {
    const Mat3<Real> e = symmetric_part(H);
    const Real volume = trace(e);
    return {mu * squared_norm(e) + Real(0.5) * lambda * square(volume),
            Real(2) * mu * e + Mat3<Real>::identity() * (lambda * volume)};
  }
  [[gnu::always_inline]] constexpr FastResponse<Real> fast_response(const Mat3<Real>& H) const {
    return {displacement_response(H), true};
  }
  [[gnu::always_inline]] constexpr Response<Real> response(const Mat3<Real>& F) const {
    return displacement_response(displacement_gradient(F));
  }
  constexpr Real energy(const Mat3<Real>& F) const { return response(F).energy; }
  constexpr Mat3<Real> stress(const Mat3<Real>& F) const { return response(F).stress; }
};

}  // namespace ductile
