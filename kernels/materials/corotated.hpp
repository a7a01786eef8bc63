#pragma once

#include "kernels/materials/principal.hpp"
#include "kernels/materials/stretch.hpp"

namespace ductile {

/// Corotated linear elasticity: Psi = mu |F - R|^2 + lambda/2 tr(R^T F - I)^2, F = R U (P0 eq. 15, P2 table 1). Defined
/// for every F, inverted ones included.
template <class Real>
struct Corotated {
  Real mu, lambda;

  [[gnu::always_inline]] Response<Real> displacement_response(const Mat3<Real>& H) const {
    const FastResponse<Real> fast = fast_response(H);
    return fast.valid ? fast.response : principal_response(*this, Mat3<Real>::identity() + H);
  }
  [[gnu::always_inline]] constexpr FastResponse<Real> fast_response(const Mat3<Real>& H) const {
    const Sym3<Real> X = tanh_strain(green_strain(H));
    const RightStretch<Real> u = right_stretch(X);
    const Real elongation = trace(u.strain);
    // P = R (2 mu (U - I) + lambda tr(U - I) I) = F U^{-1} (...)
    const Sym3<Real> S = plus_identity((Real(2) * mu - lambda * elongation) * u.backward, lambda * elongation);
    return {{mu * squared_norm(u.strain) + Real(0.5) * lambda * square(elongation), S.full() + H * S},
            within_series(X) && volume_change(H).j > Real(-1)};
  }
  [[gnu::always_inline]] Response<Real> response(const Mat3<Real>& F) const {
    return displacement_response(displacement_gradient(F));
  }
  Real energy(const Mat3<Real>& F) const { return response(F).energy; }
  Mat3<Real> stress(const Mat3<Real>& F) const { return response(F).stress; }

  constexpr Real principal_energy(const Vec3<Real>& s) const {
    const Vec3<Real> e = elongations(s);
    return mu * squared_norm(e) + Real(0.5) * lambda * square(sum(e));
  }
  constexpr Vec3<Real> principal_gradient(const Vec3<Real>& s) const {
    const Vec3<Real> e = elongations(s);
    const Real pressure = lambda * sum(e);
    return (Real(2) * mu) * e + Vec3<Real>{pressure, pressure, pressure};
  }
  constexpr Mat3<Real> principal_hessian(const Vec3<Real>&) const {
    const Vec3<Real> ones = {Real(1), Real(1), Real(1)};
    return Mat3<Real>::diagonal((Real(2) * mu) * ones) + outer(ones, ones) * lambda;
  }

 private:
  static constexpr Vec3<Real> elongations(const Vec3<Real>& s) { return {s.x - Real(1), s.y - Real(1), s.z - Real(1)}; }
};

}  // namespace ductile
