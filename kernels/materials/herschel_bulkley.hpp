#pragma once

#include "kernels/materials/plasticity.hpp"

namespace ductile {

/// x of x + k (x/eta)^(1/h) = excess, the implicit step of the rate law; k = 2 mu dt.
/// With x = excess e^w it reads e^w + e^(a + w/h) = 1, a = ln(k/excess) + ln(excess/eta)/h: convex and increasing in w,
/// so Newton's method falls monotonically onto w from the right, for any exponent and without overflow.
template <class Real>
inline Real herschel_bulkley_overstress(Real excess, Real k, Real eta, Real h) {
  if (!(k > Real(0))) return excess;
  if (!(eta > Real(0))) return Real(0);
  if (h == Real(1)) return excess * (eta / (eta + k));
  const Real power = Real(1) / h;
  const Real a = sycl::log(k / excess) + power * sycl::log(excess / eta);
  Real w = sycl::fmin(Real(0), -a * h);
  for (int iteration = 0; iteration < 20; ++iteration) {
    const Real elastic = sycl::exp(w), viscous = sycl::exp(a + power * w);
    const Real step = (elastic + viscous - Real(1)) / (elastic + power * viscous);
    if (!(step > rounding_unit<Real> * Real(0.5))) break;
    w -= step;
  }
  return excess * sycl::exp(w);
}

/// Viscoplastic fluid (Yue 2015; P1 sec. 4): above |dev tau| = sqrt(2/3) yield_stress the plastic log strain grows at
/// the rate ((|dev tau| - sqrt(2/3) yield_stress)/viscosity)^(1/power); power < 1 thins under shear, > 1 thickens.
template <class Real>
struct HerschelBulkleyRule {
  struct State {};

  Real mu, lambda;
  Real yield_stress;  ///< uniaxial [Pa]
  Real viscosity;     ///< eta [Pa s^power]
  Real power;         ///< h

  Flow<Real, State> flow(Real trace, Real deviator_norm, const State& state, Real dt) const {
    const Real trial = Real(2) * mu * deviator_norm;
    const Real yield = Real(0.81649658092772603273L) * yield_stress;
    if (!(trial > yield && dt > Real(0))) return {Real(1), trace, state, Yield::none};
    const Real over = herschel_bulkley_overstress(trial - yield, Real(2) * mu * dt, viscosity, power);
    return {(yield + over) / trial, trace, state, Yield::shear};
  }
  /// |dev eps| on the surface at rest.
  constexpr Real yield_radius(Real, const State&) const {
    return Real(0.81649658092772603273L) * yield_stress / (Real(2) * mu);
  }
  // Nothing but F holds volume.
  constexpr Real stored_volume(const State&) const { return Real(0); }
  constexpr State without_volume(const State& state, Real) const { return state; }
};

template <class Real>
using HerschelBulkley = HenckyPlasticity<Real, HerschelBulkleyRule<Real>>;

}  // namespace ductile
