#pragma once

#include "kernels/materials/inversion.hpp"
#include "kernels/materials/stvk.hpp"

namespace ductile {

/// Additive plasticity (P0 sec. 4.4, rule of Bender 2014): a St. Venant-Kirchhoff solid of the elastic strain E - e_p,
/// whose plastic strain e_p creeps while the elastic one is above the yield strain.
template <class Real>
struct Creep {
  struct State {
    Sym3<Real> plastic_strain;
  };

  InversionSafe<StVK<Real>> elastic;
  Real yield_strain;  ///< Frobenius norm of the elastic strain above which it creeps
  Real rate;          ///< part of the elastic strain that turns plastic per second [1/s]
  Real max_strain;    ///< bound on the norm of the plastic strain
  bool deviatoric;    ///< only the deviator yields and creeps

  [[gnu::always_inline]] Response<Real> displacement_response(const Mat3<Real>& H, const State& state) const {
    const Sym3<Real> E = green_strain(H);
    if (elastic.stretches_above_critical(H)) return elastic.law.strain_response(H, E - state.plastic_strain);
    return extended_response(H, E, state.plastic_strain);
  }
  [[gnu::always_inline]] FastResponse<Real> fast_response(const Mat3<Real>& H, const State& state) const {
    return {elastic.law.strain_response(H, green_strain(H) - state.plastic_strain),
            elastic.stretches_above_critical(H)};
  }
  [[gnu::always_inline]] Response<Real> response(const Mat3<Real>& F, const State& state) const {
    return displacement_response(displacement_gradient(F), state);
  }
  Real energy(const Mat3<Real>& F, const State& state) const { return response(F, state).energy; }
  Mat3<Real> stress(const Mat3<Real>& F, const State& state) const { return response(F, state).stress; }

  /// The plastic strain after a time dt at F = I + H; once per step, after the solve.
  State displacement_update(const Mat3<Real>& H, const State& state, Real dt) const {
    const Sym3<Real> strain = green_strain(H) - state.plastic_strain;
    const Sym3<Real> measure = deviatoric ? deviator(strain) : strain;
    Sym3<Real> plastic = state.plastic_strain;
    if (squared_norm(measure) > square(yield_strain)) plastic = plastic + sycl::fmin(dt * rate, Real(1)) * measure;
    const Real size = sycl::sqrt(squared_norm(plastic));
    return {size > max_strain ? (max_strain / size) * plastic : plastic};
  }
  State update(const Mat3<Real>& F, const State& state, Real dt) const {
    return displacement_update(displacement_gradient(F), state, dt);
  }

 private:
  /// Psi(E - e_p) = Psi(E) - S_p : E + Psi(e_p), S_p = 2 mu e_p + lambda tr(e_p) I: only the first term, which knows
  /// stretches, is extended. The three cancel near E = e_p, hence not the form for ordinary states.
  Response<Real> extended_response(const Mat3<Real>& H, const Sym3<Real>& E, const Sym3<Real>& plastic) const {
    const Response<Real> stored = elastic.law.strain_response(H, plastic);  // Psi(e_p) and F S_p
    const Response<Real> extended = elastic.displacement_response(H);
    const Real cross =
        Real(2) * elastic.law.mu * contract(E.full(), plastic.full()) + elastic.law.lambda * trace(E) * trace(plastic);
    return {extended.energy - cross + stored.energy, extended.stress - stored.stress};
  }
};

}  // namespace ductile
