#pragma once

#include "kernels/materials/principal.hpp"
#include "kernels/materials/stretch.hpp"

namespace ductile {

/// St. Venant-Kirchhoff solid with Hencky strain: eps = ln U, Psi = mu |eps|^2 + lambda/2 tr(eps)^2 (P1 sec. 3.1).
template <class Real>
struct Hencky {
  Real mu, lambda;

  /// Stretches are limited to this from below before the logarithm (methods of P1's plastic models do the same): the
  /// law stays finite for flat and inverted F, though it no longer resists them: below the limit the energy is constant
  /// along a stretch, and the stress, its derivative, zero. InversionSafe makes it resist.
  static constexpr Real least_stretch = Real(1e-4);

  [[gnu::always_inline]] Response<Real> displacement_response(const Mat3<Real>& H) const {
    const FastResponse<Real> fast = fast_response(H);
    return fast.valid ? fast.response : principal_response(*this, Mat3<Real>::identity() + H);
  }
  [[gnu::always_inline]] constexpr FastResponse<Real> fast_response(const Mat3<Real>& H) const {
    const Sym3<Real> X = tanh_strain(green_strain(H));
    const VolumeChange<Real> v = volume_change(H);
    const Sym3<Real> strain = hencky_strain(X);
    // P = F C^{-1} M = F^{-T} M: M, the rotated Kirchhoff stress, commutes with C.
    return {{strain_energy(strain), (v.cofactor() * rotated_stress(strain)) * (Real(1) / (Real(1) + v.j))},
            within_series(X) && v.j > Real(-1)};
  }
  [[gnu::always_inline]] Response<Real> response(const Mat3<Real>& F) const {
    return displacement_response(displacement_gradient(F));
  }
  Real energy(const Mat3<Real>& F) const { return response(F).energy; }
  Mat3<Real> stress(const Mat3<Real>& F) const { return response(F).stress; }

  constexpr Real strain_energy(const Sym3<Real>& strain) const {
    return mu * squared_norm(strain) + Real(0.5) * lambda * square(trace(strain));
  }
  /// R^T tau R = 2 mu eps + lambda tr(eps) I
  constexpr Sym3<Real> rotated_stress(const Sym3<Real>& strain) const {
    return plus_identity((Real(2) * mu) * strain, lambda * trace(strain));
  }

  /// Principal Hencky strains ln(s), s limited to `least_stretch`.
  static Vec3<Real> principal_strain(const Vec3<Real>& s) {
    return {sycl::log(limited(s.x)), sycl::log(limited(s.y)), sycl::log(limited(s.z))};
  }
  Real principal_strain_energy(const Vec3<Real>& strain) const {
    return mu * squared_norm(strain) + Real(0.5) * lambda * square(sum(strain));
  }
  /// Principal Kirchhoff stresses 2 mu eps_i + lambda tr(eps).
  Vec3<Real> principal_kirchhoff(const Vec3<Real>& strain) const {
    const Real pressure = lambda * sum(strain);
    return (Real(2) * mu) * strain + Vec3<Real>{pressure, pressure, pressure};
  }
  Real principal_energy(const Vec3<Real>& s) const { return principal_strain_energy(principal_strain(s)); }
  /// dPsi/ds_i = tau_i/s_i
  Vec3<Real> principal_gradient(const Vec3<Real>& s) const {
    const Vec3<Real> tau = principal_kirchhoff(principal_strain(s));
    return {per_stretch(tau.x, s.x), per_stretch(tau.y, s.y), per_stretch(tau.z, s.z)};
  }
  /// The same with the limited stretches in the place of the stretches: the stress of the limit goes on below it.
  Vec3<Real> limited_gradient(const Vec3<Real>& s) const {
    const Vec3<Real> tau = principal_kirchhoff(principal_strain(s));
    return {tau.x / limited(s.x), tau.y / limited(s.y), tau.z / limited(s.z)};
  }
  /// d2Psi/ds_i ds_k = (delta_ik (2 mu - tau_i) + lambda)/(s_i s_k)
  Mat3<Real> principal_hessian(const Vec3<Real>& s) const {
    const Vec3<Real> tau = principal_kirchhoff(principal_strain(s));
    const Vec3<Real> inverse = {per_stretch(Real(1), s.x), per_stretch(Real(1), s.y), per_stretch(Real(1), s.z)};
    const auto diagonal = [this](Real t, Real r) { return (Real(2) * mu - t) * r * r; };
    return Mat3<Real>::diagonal({diagonal(tau.x, inverse.x), diagonal(tau.y, inverse.y), diagonal(tau.z, inverse.z)}) +
           outer(inverse, inverse) * lambda;
  }

 private:
  static Real limited(Real stretch) { return sycl::fmax(stretch, least_stretch); }
  /// value d(ln limited(s))/ds
  static Real per_stretch(Real value, Real stretch) { return stretch < least_stretch ? Real(0) : value / stretch; }
};

}  // namespace ductile
