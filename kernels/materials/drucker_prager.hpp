#pragma once

#include "kernels/materials/plasticity.hpp"

namespace ductile {

/// Sand (Klar 2016; P1 sec. 4): 2 mu |dev eps_s| + alpha (3 lambda + 2 mu) tr(eps_s) <= 0 with the strain
/// eps_s = eps - c0 I + (v_c/3) I, shifted by the cohesion c0 and by the volume v_c that was gained in tension and has
/// to close before the sand carries load again (Tampubolon 2017). ln det F + v_c is conserved.
template <class Real>
struct DruckerPragerRule {
  struct State {
    Real volume_correction;  ///< v_c
  };

  Real mu, lambda;
  Real friction;  ///< alpha, see friction_from_angle
  Real cohesion;  ///< c0, log strain
  bool volume_correction;

  /// alpha = sqrt(2/3) 2 sin(phi)/(3 - sin(phi)), phi in radians.
  static Real friction_from_angle(Real angle) {
    const Real s = sycl::sin(angle);
    return Real(0.81649658092772603273L) * Real(2) * s / (Real(3) - s);
  }

  constexpr Flow<Real, State> flow(Real trace, Real deviator_norm, const State& state, Real) const {
    const Real stored = stored_volume(state);
    const Real shifted = shifted_trace(trace, state);
    const State closed = {volume_correction ? Real(0) : state.volume_correction};
    if (!(shifted < Real(0)))
      return {Real(0), Real(3) * cohesion, {volume_correction ? shifted : state.volume_correction}, Yield::tension};
    const Real radius = yield_radius(trace, state);
    if (deviator_norm > radius) return {radius / deviator_norm, trace + stored, closed, Yield::shear};
    return {Real(1), trace + stored, closed, stored != Real(0) ? Yield::volume : Yield::none};
  }
  /// |dev eps| on the surface.
  constexpr Real yield_radius(Real trace, const State& state) const {
    const Real shifted = shifted_trace(trace, state);
    return shifted < Real(0) ? -friction * (Real(3) * lambda + Real(2) * mu) / (Real(2) * mu) * shifted : Real(0);
  }
  /// Log volume that F lacks, and the state without a part of it.
  constexpr Real stored_volume(const State& state) const {
    return volume_correction ? state.volume_correction : Real(0);
  }
  constexpr State without_volume(const State& state, Real volume) const { return {state.volume_correction - volume}; }

 private:
  constexpr Real shifted_trace(Real trace, const State& state) const {
    return trace - Real(3) * cohesion + stored_volume(state);
  }
};

template <class Real>
using DruckerPrager = HenckyPlasticity<Real, DruckerPragerRule<Real>>;

}  // namespace ductile
