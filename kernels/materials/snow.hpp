#pragma once

#include "kernels/materials/fixed_corotated.hpp"
#include "kernels/materials/plasticity.hpp"

namespace ductile {

/// Snow (Stomakhin 2013; P1 sec. 5): stretches are held in [1 - critical_compression, 1 + critical_stretch], and the
/// fixed corotated solid hardens by exp(hardening (1 - J_P)) with the plastic volume ratio J_P. J_P det F is conserved.
template <class Real>
struct Snow {
  struct State {
    Real plastic_volume_ratio;  ///< J_P
  };

  Real mu, lambda;  ///< at J_P = 1
  Real critical_compression, critical_stretch, hardening;

  /// Bounds that keep a particle in range of the arithmetic, far from ordinary snow.
  static constexpr Real least_ratio = Real(0.6L), largest_ratio = Real(20), largest_exponent = Real(20);

  Projected<Real, State> project(const Mat3<Real>& F_trial, const State& state, Real = Real(0)) const {
    if (within_limits(displacement_gradient(F_trial))) return {F_trial, state, Yield::none};
    return project_by_stretches(svd(F_trial), state);
  }
  /// The law hardens by the state given, the one at the start of the step, as P1's iterations do.
  Mapped<Real, State> map(const Mat3<Real>& F_trial, const State& state, Real dt = Real(0)) const {
    const Projected<Real, State> p = project(F_trial, state, dt);
    const Response<Real> r = elastic(state).response(p.F);
    return {p.F, p.state, p.yield, r.energy, times_transpose(r.stress, p.F)};
  }
  /// The mapping with the decomposition of the trial state at hand.
  [[gnu::noinline]] Projected<Real, State> project_by_stretches(const Svd<Real>& f, const State& state) const {
    const Vec3<Real> s = {limited(f.s.x), limited(f.s.y), limited(f.s.z)};
    const Real ratio = (f.s.x / s.x) * (f.s.y / s.y) * (f.s.z / s.z);
    const Yield yield = ratio < Real(1) ? Yield::compression : Yield::tension;
    return {recompose(f, s), {clamp(state.plastic_volume_ratio * ratio, least_ratio, largest_ratio)}, yield};
  }
  /// Factor of the elastic moduli.
  Real stiffening(const State& state) const {
    return sycl::exp(sycl::fmin(hardening * (Real(1) - state.plastic_volume_ratio), largest_exponent));
  }
  [[gnu::always_inline]] constexpr FixedCorotated<Real> stiffened(Real stiffening) const {
    return {mu * stiffening, lambda * stiffening};
  }
  FixedCorotated<Real> elastic(const State& state) const { return stiffened(stiffening(state)); }
  /// All stretches inside, decided without a decomposition: E - (a^2 - 1)/2 I and (b^2 - 1)/2 I - E positive definite.
  [[gnu::always_inline]] constexpr bool within_limits(const Mat3<Real>& H) const {
    const Sym3<Real> E = green_strain(H);
    const Real low = critical_compression * (Real(1) - Real(0.5) * critical_compression);
    const Real high = critical_stretch * (Real(1) + Real(0.5) * critical_stretch);
    return (volume_change(H).j > Real(-1)) & positive_definite(plus_identity(E, low)) &
           positive_definite(plus_identity(Real(-1) * E, high));
  }
  Real energy(const Mat3<Real>& F, const State& state) const { return elastic(state).energy(F); }
  Mat3<Real> kirchhoff(const Mat3<Real>& F, const State& state) const {
    return times_transpose(elastic(state).stress(F), F);
  }

 private:
  Real limited(Real stretch) const {
    return clamp(stretch, Real(1) - critical_compression, Real(1) + critical_stretch);
  }
};

}  // namespace ductile
