#pragma once

#include "kernels/materials/principal.hpp"
#include "kernels/materials/stretch.hpp"

namespace ductile {

/// Fixed corotated solid: Psi = mu |F - R|^2 + lambda/2 (J - 1)^2 (Stomakhin 2012; the law of the snow model, P1).
/// Defined for every F, inverted ones included.
template <class Real>
struct FixedCorotated {
  Real mu, lambda;

  [[gnu::always_inline]] Response<Real> displacement_response(const Mat3<Real>& H) const {
    const FastResponse<Real> fast = fast_response(H);
    return fast.valid ? fast.response : principal_response(*this, Mat3<Real>::identity() + H);
  }
  [[gnu::always_inline]] constexpr FastResponse<Real> fast_response(const Mat3<Real>& H) const {
    const Sym3<Real> X = tanh_strain(green_strain(H));
    const VolumeChange<Real> v = volume_change(H);
    const RightStretch<Real> u = right_stretch(X);
    const Sym3<Real> S = (Real(2) * mu) * u.backward;  // F S = 2 mu (F - R)
    return {{mu * squared_norm(u.strain) + Real(0.5) * lambda * square(v.j),
             S.full() + H * S + v.cofactor() * (lambda * v.j)},
            within_series(X) && v.j > Real(-1)};
  }
  [[gnu::always_inline]] Response<Real> response(const Mat3<Real>& F) const {
    return displacement_response(displacement_gradient(F));
  }
  Real energy(const Mat3<Real>& F) const { return response(F).energy; }
  Mat3<Real> stress(const Mat3<Real>& F) const { return response(F).stress; }

  constexpr Real principal_energy(const Vec3<Real>& s) const {
    return mu * (square(s.x - Real(1)) + square(s.y - Real(1)) + square(s.z - Real(1))) +
           Real(0.5) * lambda * square(s.x * s.y * s.z - Real(1));
  }
  constexpr Vec3<Real> principal_gradient(const Vec3<Real>& s) const {
    const Real pressure = lambda * (s.x * s.y * s.z - Real(1));
    const Real two_mu = Real(2) * mu;
    return {two_mu * (s.x - Real(1)) + pressure * s.y * s.z, two_mu * (s.y - Real(1)) + pressure * s.x * s.z,
            two_mu * (s.z - Real(1)) + pressure * s.x * s.y};
  }
  constexpr Mat3<Real> principal_hessian(const Vec3<Real>& s) const {
    const Real pressure = lambda * (s.x * s.y * s.z - Real(1));
    const Vec3<Real> area = {s.y * s.z, s.x * s.z, s.x * s.y};
    const Real two_mu = Real(2) * mu;
    return Mat3<Real>{{two_mu, pressure * s.z, pressure * s.y,  //
                       pressure * s.z, two_mu, pressure * s.x,  //
                       pressure * s.y, pressure * s.x, two_mu}} +
           outer(area, area) * lambda;
  }
};

}  // namespace ductile
