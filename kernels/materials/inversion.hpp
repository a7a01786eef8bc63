#pragma once

#include "kernels/materials/corotated.hpp"
#include "kernels/materials/principal.hpp"

namespace ductile {

/// What takes over from a law where a stretch falls below the critical one.
enum class Extension {
  continuous,  ///< the law at the limited stretches plus a corotated-linear increment: energy and stress are continuous
  hard_switch,  ///< the corotated law itself, as printed in P0 (sec. 4.3): energy and stress jump
};

/// An isotropic law that keeps resisting through flat and inverted states. With sh_i = max(s_i, s_c), d = s - sh, and
/// g = dPhi/ds, G = d2Phi/ds2 of the law at sh,
///   Psi = Phi(sh) + sum_i g_i d_i + (mu + l/2) |d|^2 + sum_{i<k} G_ik d_i d_k ,   l = lambda:
/// the corotated-linear law below the threshold. With one stretch below it this is the usual mu d^2 + lambda/2 d^2; the
/// coupling of two must be the law's own G_ik (for these laws a constant at s_c) or the stress would jump where the
/// second one crosses. s_c = 1/sqrt(3) is where St. Venant-Kirchhoff starts to lose its force (P0's "58 %"); 0 switches
/// it off.
/// g grows with the volume that the other stretches make, as lambda ln(J)/s_c for Neo-Hookean and Hencky: where lambda
/// is several mu the quadratic term would lose against it, and the energy of a body that is inside out and wide would
/// fall without end. l is then as large as the law's own G_12(s_c, s_c, s_c) = lambda/s_c^2, which makes a square of
/// the terms in lambda, less what the terms in mu hold: 3 mu, so that nothing changes at Poisson's ratio 0.3.
template <class Law>
struct InversionSafe {
  using Real = decltype(Law::mu);

  Law law;
  Real critical_stretch = Real(0.57735026918962576451L);
  Extension extension = Extension::continuous;

  [[gnu::always_inline]] Response<Real> displacement_response(const Mat3<Real>& H) const {
    return stretches_above_critical(H) ? law.displacement_response(H) : extended_response(H);
  }
  [[gnu::always_inline]] constexpr FastResponse<Real> fast_response(const Mat3<Real>& H) const {
    FastResponse<Real> fast = law.fast_response(H);
    fast.valid = fast.valid & stretches_above_critical(H);
    return fast;
  }
  [[gnu::always_inline]] Response<Real> response(const Mat3<Real>& F) const {
    return displacement_response(displacement_gradient(F));
  }
  Real energy(const Mat3<Real>& F) const { return response(F).energy; }
  Mat3<Real> stress(const Mat3<Real>& F) const { return response(F).stress; }

  /// det F > 0 and F^T F - s_c^2 I positive definite: decided without a decomposition.
  [[gnu::always_inline]] constexpr bool stretches_above_critical(const Mat3<Real>& H) const {
    const Real margin = Real(0.5) * (Real(1) - critical_stretch) * (Real(1) + critical_stretch);
    const bool off = !(critical_stretch > Real(0));
    return off | ((volume_change(H).j > Real(-1)) & positive_definite(plus_identity(green_strain(H), margin)));
  }

  /// The continuous extension on principal stretches; the law itself above the critical stretch.
  Real principal_energy(const Vec3<Real>& s) const {
    const Vec3<Real> limited = limit(s), d = s - limited;
    const Mat3<Real> G = law.principal_hessian(limited);
    return law.principal_energy(limited) + dot(law.principal_gradient(limited), d) +
           (law.mu + Real(0.5) * stiffness()) * squared_norm(d) + G.m[1] * d.x * d.y + G.m[2] * d.x * d.z +
           G.m[5] * d.y * d.z;
  }
  Vec3<Real> principal_gradient(const Vec3<Real>& s) const {
    const Vec3<Real> limited = limit(s), d = s - limited;
    const Mat3<Real> G = law.principal_hessian(limited);
    return law.principal_gradient(limited) + (Real(2) * law.mu + stiffness()) * d +
           Vec3<Real>{G.m[1] * d.y + G.m[2] * d.z, G.m[1] * d.x + G.m[5] * d.z, G.m[2] * d.x + G.m[5] * d.y};
  }

 private:
  /// l of the increment.
  Real stiffness() const {
    const Real coupling = law.principal_hessian({critical_stretch, critical_stretch, critical_stretch}).m[1];
    return sycl::fmax(law.lambda, coupling - Real(3) * law.mu);
  }
  Response<Real> extended_response(const Mat3<Real>& H) const {
    const Mat3<Real> F = Mat3<Real>::identity() + H;
    if (extension == Extension::hard_switch) return principal_response(Corotated<Real>{law.mu, law.lambda}, F);
    return principal_response(*this, F);
  }
  Vec3<Real> limit(const Vec3<Real>& s) const {
    return {sycl::fmax(s.x, critical_stretch), sycl::fmax(s.y, critical_stretch), sycl::fmax(s.z, critical_stretch)};
  }
};

}  // namespace ductile
