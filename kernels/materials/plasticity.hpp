#pragma once

#include "kernels/materials/hencky.hpp"

namespace ductile {

/// What a return mapping did.
enum class Yield : int {
  none = 0,         ///< F kept
  compression = 1,  ///< moved to the tip of the surface in compression
  tension = 2,      ///< moved to the tip in tension
  shear = 3,        ///< moved in the deviatoric plane
  volume = 4,       ///< inside the surface, but stored volume was given back
};

/// A trial state moved onto the yield surface. A pure function of the trial state and of the state at the start of the
/// step: a solver iterates with it and commits `state` once, at the end of the step (P1 sec. 3.1).
template <class Real, class State>
struct Projected {
  Mat3<Real> F;  ///< elastic deformation gradient
  State state;
  Yield yield;
};

/// The same with what the constraint needs of the mapped state.
template <class Real, class State>
struct Mapped {
  Mat3<Real> F;
  State state;
  Yield yield;
  Real energy;           ///< of the elastic state [Pa]
  Mat3<Real> kirchhoff;  ///< tau = P F^T [Pa]
};

/// The same on principal Hencky strains, for a solver that has the decomposition F = U exp(strain) V^T already.
template <class Real, class State>
struct ProjectedStrain {
  Vec3<Real> strain;
  State state;
  Yield yield;
};

/// Result of a flow rule on Hencky strains: eps' = deviator_scale dev(eps) + trace/3 I. Every model of P1 with Hencky
/// elasticity has this form, so that a flow rule is a function of two numbers, tr(eps) and |dev(eps)|.
template <class Real, class State>
struct Flow {
  Real deviator_scale;
  Real trace;
  State state;
  Yield yield;
};

/// exp(A) for a symmetric deviator A, |A| <= 0.56 (the range of the Hencky series): Taylor series by Cayley-Hamilton,
/// cut below rounding.
template <class Real>
constexpr Sym3<Real> exp_of_deviator(const Sym3<Real>& A) {
  const Real i2 = second_invariant(A), i3 = determinant(A);
  constexpr int degree = sizeof(Real) == sizeof(float) ? 8 : 15;
  Real a = Real(1), b = Real(0), c = Real(0);
  for (int k = degree; k >= 1; --k) {  // a I + b A + c A^2 -> I + A/k (a I + b A + c A^2), A^3 = det(A) I - i2 A
    const Real scale = Real(1) / static_cast<Real>(k);
    const Real top = c;
    c = b * scale;
    b = (a - top * i2) * scale;
    a = Real(1) + top * i3 * scale;
  }
  return plus_identity(b * A + c * squared(A), a);
}

/// Return mapping with Hencky elasticity for any flow rule. `Rule` has mu, lambda, a State, and
///   Flow<Real, State> flow(Real trace, Real deviator_norm, const State&, Real dt) const.
/// Strains within the series of stretch.hpp need no decomposition: F' = F exp(eps' - eps).
template <class Real, class Rule>
struct HenckyPlasticity {
  using State = typename Rule::State;

  Rule rule;

  constexpr Hencky<Real> elastic() const { return {rule.mu, rule.lambda}; }

  Mapped<Real, State> map(const Mat3<Real>& F_trial, const State& state, Real dt = Real(0)) const {
    const Mat3<Real> H = displacement_gradient(F_trial);
    const Sym3<Real> X = tanh_strain(green_strain(H));
    const VolumeChange<Real> v = volume_change(H);
    if (!(within_series(X) && v.j > Real(-1))) return map_by_stretches(F_trial, state, dt);

    const Sym3<Real> strain = hencky_strain(X);
    const Real volume = trace(strain);
    const Sym3<Real> shear = deviator(strain);
    const Flow<Real, State> flow = rule.flow(volume, sycl::sqrt(squared_norm(shear)), state, dt);
    const bool yields = flow.yield != Yield::none;
    const Sym3<Real> mapped =
        yields ? plus_identity(flow.deviator_scale * shear, flow.trace * (Real(1) / Real(3))) : strain;
    const Mat3<Real> rotated = elastic().rotated_stress(mapped).full();
    const Mat3<Real> inverse_transpose = v.cofactor() * (Real(1) / (Real(1) + v.j));
    return {yields ? moved(F_trial, shear, flow.deviator_scale - Real(1), flow.trace - volume) : F_trial, flow.state,
            flow.yield, elastic().strain_energy(mapped),
            // tau = R M R^T = F^{-T} M F^T: M commutes with F^T F, and the mapping keeps R.
            times_transpose(inverse_transpose * rotated, F_trial)};
  }

  Projected<Real, State> project(const Mat3<Real>& F_trial, const State& state, Real dt = Real(0)) const {
    const Mapped<Real, State> mapped = map(F_trial, state, dt);
    return {mapped.F, mapped.state, mapped.yield};
  }

  ProjectedStrain<Real, State> project_strain(const Vec3<Real>& strain, const State& state, Real dt = Real(0)) const {
    const Real volume = sum(strain), mean = volume * (Real(1) / Real(3));
    const Vec3<Real> shear = strain - Vec3<Real>{mean, mean, mean};
    const Flow<Real, State> flow = rule.flow(volume, norm(shear), state, dt);
    if (flow.yield == Yield::none) return {strain, flow.state, flow.yield};
    const Real new_mean = flow.trace * (Real(1) / Real(3));
    return {flow.deviator_scale * shear + Vec3<Real>{new_mean, new_mean, new_mean}, flow.state, flow.yield};
  }

  /// Of the elastic deformation gradient, whatever the state.
  Real energy(const Mat3<Real>& F, const State&) const { return elastic().energy(F); }
  /// Below the least stretch as at it: a mapping leaves flattened states there, up to rounding, and rounding must not
  /// decide whether they bear stress.
  Mat3<Real> kirchhoff(const Mat3<Real>& F, const State&) const {
    const FastResponse<Real> fast = elastic().fast_response(displacement_gradient(F));
    return times_transpose(fast.valid ? fast.response.stress : limited_stress(F), F);
  }

 private:
  [[gnu::noinline]] Mat3<Real> limited_stress(const Mat3<Real>& F) const {
    const Svd<Real> f = svd(F);
    return recompose(f, elastic().limited_gradient(f.s));
  }
  /// F exp(change_of_scale dev(eps) + change_of_trace/3 I)
  static Mat3<Real> moved(const Mat3<Real>& F, const Sym3<Real>& shear, Real change_of_scale, Real change_of_trace) {
    return (F * exp_of_deviator(change_of_scale * shear)) * sycl::exp(change_of_trace * (Real(1) / Real(3)));
  }

  /// Large, flat and inverted trial states; stretches are limited as in Hencky::least_stretch.
  [[gnu::noinline]] Mapped<Real, State> map_by_stretches(const Mat3<Real>& F_trial, const State& state, Real dt) const {
    const Svd<Real> f = svd(F_trial);
    const auto mapped = project_strain(Hencky<Real>::principal_strain(f.s), state, dt);
    const Vec3<Real> e = mapped.strain, tau = elastic().principal_kirchhoff(e);
    const Vec3<Real> stretches = {sycl::exp(e.x), sycl::exp(e.y), sycl::exp(e.z)};
    const bool kept = mapped.yield == Yield::none && f.s.z >= Hencky<Real>::least_stretch;
    return {kept ? F_trial : recompose(f, stretches), mapped.state, mapped.yield, elastic().principal_strain_energy(e),
            recompose({f.U, f.s, f.U}, tau)};
  }
};

}  // namespace ductile
