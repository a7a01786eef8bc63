#pragma once

#include "kernels/materials/strain.hpp"

namespace ductile {

/// One family of fibres along the unit rest direction b, added to an isotropic law: with the fibre stretch xi = |F b|,
///   w(xi) = beta ((xi^2 - 1)/2 - ln xi),  P = w'(xi)/xi (F b) (x) b          (P0 eq. 16, read with xi as the stretch).
/// Below `critical_stretch` w continues as a parabola with w''(1) = 2 beta, so that energy and stress stay bounded down
/// to xi = 0, where the direction of the stress is undefined and it is taken as zero.
template <class Real>
struct FiberFamily {
  Vec3<Real> direction;
  Real stiffness;  ///< beta [Pa]

  static constexpr Real critical_stretch = Real(0.1);

  [[gnu::always_inline]] Response<Real> displacement_response(const Mat3<Real>& H) const {
    const FastResponse<Real> fast = fast_response(H);
    return fast.valid ? fast.response : compressed(direction + H * direction);
  }
  [[gnu::always_inline]] FastResponse<Real> fast_response(const Mat3<Real>& H) const {
    const Vec3<Real> Hb = H * direction;
    const Real a = Real(2) * dot(direction, Hb) + dot(Hb, Hb);  // xi^2 - 1
    return {along(direction + Hb, Real(-0.5) * stiffness * log1p_parts(a).excess, stiffness * a / (Real(1) + a)),
            a > square(critical_stretch) - Real(1)};
  }
  [[gnu::always_inline]] Response<Real> response(const Mat3<Real>& F) const {
    return displacement_response(displacement_gradient(F));
  }
  Real energy(const Mat3<Real>& F) const { return response(F).energy; }
  Mat3<Real> stress(const Mat3<Real>& F) const { return response(F).stress; }

 private:
  /// `slope` is w'(xi)/xi.
  [[gnu::always_inline]] constexpr Response<Real> along(const Vec3<Real>& Fb, Real energy_density, Real slope) const {
    return {energy_density, outer(Fb * slope, direction)};
  }
  Response<Real> compressed(const Vec3<Real>& Fb) const {
    const Real xi = norm(Fb);
    constexpr Real c = critical_stretch;
    const Real first = stiffness * (c - Real(1) / c);
    const Real depth = xi - c;
    const Real limit = Real(0.5) * stiffness * (square(c) - Real(1)) - stiffness * sycl::log(c);
    const Real slope = first + Real(2) * stiffness * depth;
    return along(Fb, limit + depth * (first + stiffness * depth), xi > Real(1e-20) ? slope / xi : Real(0));
  }
};

}  // namespace ductile
