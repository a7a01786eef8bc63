#pragma once

#include "kernels/materials/strain.hpp"

namespace ductile {

/// St. Venant-Kirchhoff solid: Psi = mu |E|^2 + lambda/2 tr(E)^2 of the Green strain E = (F^T F - I)/2 (P0 eq. 13).
/// Its resistance to compression has a maximum at the stretch 1/sqrt(3): use it through InversionSafe.
template <class Real>
struct StVK {
  Real mu, lambda;

  /// Energy and stress of an elastic strain that may be less than the Green strain of F = I + H (P0 eq. 18).
  [[gnu::always_inline]] constexpr Response<Real> strain_response(const Mat3<Real>& H, const Sym3<Real>& e) const {
    const Real volume = trace(e);
    const Sym3<Real> S = plus_identity((Real(2) * mu) * e, lambda * volume);
    return {mu * squared_norm(e) + Real(0.5) * lambda * square(volume), S.full() + H * S};
  }
  [[gnu::always_inline]] constexpr Response<Real> displacement_response(const Mat3<Real>& H) const {
    return strain_response(H, green_strain(H));
  }
  [[gnu::always_inline]] constexpr FastResponse<Real> fast_response(const Mat3<Real>& H) const {
    return {displacement_response(H), true};
  }
  [[gnu::always_inline]] constexpr Response<Real> response(const Mat3<Real>& F) const {
    return displacement_response(displacement_gradient(F));
  }
  constexpr Real energy(const Mat3<Real>& F) const { return response(F).energy; }
  constexpr Mat3<Real> stress(const Mat3<Real>& F) const { return response(F).stress; }

  /// Green strains (s^2 - 1)/2, without loss near s = 1.
  static constexpr Vec3<Real> principal_strain(const Vec3<Real>& s) {
    const auto strain = [](Real x) { return Real(0.5) * (x - Real(1)) * (x + Real(1)); };
    return {strain(s.x), strain(s.y), strain(s.z)};
  }
  constexpr Real principal_energy(const Vec3<Real>& s) const {
    const Vec3<Real> e = principal_strain(s);
    return mu * squared_norm(e) + Real(0.5) * lambda * square(e.x + e.y + e.z);
  }
  constexpr Vec3<Real> principal_gradient(const Vec3<Real>& s) const {
    const Vec3<Real> S = material_stress(s);
    return {s.x * S.x, s.y * S.y, s.z * S.z};
  }
  constexpr Mat3<Real> principal_hessian(const Vec3<Real>& s) const {
    const Vec3<Real> S = material_stress(s);
    const auto diagonal = [this](Real stretch, Real stress_i) { return stress_i + Real(2) * mu * square(stretch); };
    return Mat3<Real>::diagonal({diagonal(s.x, S.x), diagonal(s.y, S.y), diagonal(s.z, S.z)}) + outer(s, s) * lambda;
  }

 private:
  /// 2 mu e_i + lambda tr(e)
  constexpr Vec3<Real> material_stress(const Vec3<Real>& s) const {
    const Vec3<Real> e = principal_strain(s);
    const Real pressure = lambda * (e.x + e.y + e.z);
    const Real two_mu = Real(2) * mu;
    return {two_mu * e.x + pressure, two_mu * e.y + pressure, two_mu * e.z + pressure};
  }
};

}  // namespace ductile
