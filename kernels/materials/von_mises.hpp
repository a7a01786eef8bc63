#pragma once

#include "kernels/materials/plasticity.hpp"

namespace ductile {

/// |dev tau| <= yield_stress, Frobenius norm (P1 sec. 4; Li 2022): a uniaxial yield stress is sqrt(3/2) of it. Linear
/// isotropic hardening raises it by 2 mu `hardening` per plastic log strain.
template <class Real>
struct VonMisesRule {
  struct State {
    Real yield_stress;
  };

  Real mu, lambda;
  Real hardening;  ///< H, dimensionless

  constexpr Flow<Real, State> flow(Real trace, Real deviator_norm, const State& state, Real) const {
    const Real radius = yield_radius(trace, state);
    if (!(deviator_norm > radius)) return {Real(1), trace, state, Yield::none};
    const Real plastic = (deviator_norm - radius) / (Real(1) + hardening);
    const Real scale = (radius + hardening * plastic) / deviator_norm;
    return {scale, trace, {state.yield_stress + Real(2) * mu * hardening * plastic}, Yield::shear};
  }
  /// |dev eps| on the surface.
  constexpr Real yield_radius(Real, const State& state) const { return state.yield_stress / (Real(2) * mu); }
  // Nothing but F holds volume.
  constexpr Real stored_volume(const State&) const { return Real(0); }
  constexpr State without_volume(const State& state, Real) const { return state; }
};

template <class Real>
using VonMises = HenckyPlasticity<Real, VonMisesRule<Real>>;

}  // namespace ductile
