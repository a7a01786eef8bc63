#pragma once

#include "kernels/xpbd/constraint.hpp"
#include "kernels/xpbi/material.hpp"
#include "kernels/xpbi/neighborhood.hpp"

namespace ductile {

/// Constants of a time step for the particles of one material.
template <class Real>
struct StepConstantsXpbi {
  Real inverse_squared_step;  // 1/dt^2
  Real penalty;               // zero-energy penalty, Pa
  Real stiffening;            // of the penalty with the misfit
  Real tiny;                  // below this the constraint has no direction
  Real violation_scale;       // of the violation that is reported
  Real held_part;             // of the energy of particles that are held, see held_part()
  Real relaxation;            // part of the correction that is applied, and counted by the multiplier
};

/// What one pass over the neighbours gives: the motion of the neighbourhood and, with memory, its misfits
/// e_pb = x_pb - F_trial p_pb.
template <class Real>
struct LocalStep {
  StepDeformation<Real> deformation;
  Mat3<Real> misfit_moment;  // sum_b w e (x) p
  Vec3<Real> misfit_sum;     // sum_b w e
  Real misfit;               // sum_b w |e|^2
};

/// What one pass over the neighbours sums.
template <class Real>
struct NeighborSums {
  Mat3<Real> moment;  // sum_b w (y_b - y_p) (x) p
  Vec3<Real> sum;     // memory: sum_b w (y_b - y_p)
  Real squares;       // memory: sum_b w |e + (F_trial - F^n) p|^2, the misfits of F^n
};

/// Increments of the step are summed, not positions: single precision would lose them.
template <class Real, bool Memory>
[[gnu::always_inline]] inline NeighborSums<Real> sum_step(const PairList<Real, Memory>& pairs,
                                                          const Vec4<Real>* position, const Vec4<Real>* increment,
                                                          const Mat3<Real>& H, std::size_t i) {
  const Vec4<Real> zero(Real(0), Real(0), Real(0), Real(0));
  const Vec4<Real> x = position[i], d = increment[i];
  const Vec4<Real> h0 = padded(H.column(0)), h1 = padded(H.column(1)), h2 = padded(H.column(2));
  Vec4<Real> c0 = zero, c1 = zero, c2 = zero, sum = zero, squares = zero;
  const std::uint32_t end = pairs.start[i + 1];
  for (std::uint32_t s = pairs.start[i]; s < end; ++s) {
    const std::uint32_t j = pairs.index[s];
    const Vec4<Real> apart = position[j] - x;
    const Vec4<Real> p = pairs.vector(s, apart);
    const Real weight = pairs.weight(p, s);
    const Vec4<Real> wp = p * weight;
    const Vec4<Real> moved = increment[j] - d;
    c0 += moved * wp[0];
    c1 += moved * wp[1];
    c2 += moved * wp[2];
    if constexpr (Memory) {
      const Vec4<Real> e = (apart - p) - h0 * p[0] - h1 * p[1] - h2 * p[2] + moved;
      sum += moved * weight;
      squares += e * e * weight;
    }
  }
  return {Mat3<Real>::from_columns(xyz(c0), xyz(c1), xyz(c2)), xyz(sum), squares[0] + squares[1] + squares[2]};
}

/// `Whole`: the neighbours are known to span space.
template <bool Whole, class Real, bool Memory>
[[gnu::always_inline]] inline LocalStep<Real> finish_step(const NeighborSums<Real>& sums, const Mat3<Real>& H,
                                                          const Neighborhood<Real, Memory>& n) {
  LocalStep<Real> result{};
  Mat3<Real> moment = sums.moment;
  // In the unloaded shape F is always the best fit: what rounding has left is taken up.
  if constexpr (Memory) moment += (Real(1) - n.current) * n.misfit_moment;
  Mat3<Real> G = moment * n.inverse;
  if constexpr (!Whole) G = completed(n, G);
  const Mat3<Real> start = n.current * H, change = G + G * start;
  result.deformation = {G, start, H + change};
  if constexpr (Memory) {
    const Mat3<Real> fitted = change * n.spread.full();
    const Mat3<Real> before = n.misfit_moment + sums.moment;  // sum_b w (e + change p) (x) p
    result.misfit_moment = before - fitted;
    result.misfit_sum = n.misfit_sum + sums.sum - change * n.lever;
    result.misfit = sycl::fmax(sums.squares - Real(2) * contract(change, before) + contract(change, fitted), Real(0));
  }
  return result;
}

template <class Real, bool Memory>
inline LocalStep<Real> local_step(const PairList<Real, Memory>& pairs, const Vec4<Real>* position,
                                  const Vec4<Real>* increment, const Mat3<Real>& H, const Neighborhood<Real, Memory>& n,
                                  std::size_t i) {
  return finish_step<false>(sum_step(pairs, position, increment, H, i), H, n);
}

/// Part of the misfits that the material holds: like the stress, they flow where they exceed the yield strain (as one
/// strain over the whole neighbourhood, |e|^2 = sum w |e_pb|^2 against sum w |p_pb|^2).
template <class Real>
[[gnu::always_inline]] inline Real held_misfit(Real misfit, Real yield_strain, const Sym3<Real>& spread) {
  if (yield_strain < Real(0)) return Real(1);
  const Real most = square(yield_strain) * (spread.xx + spread.yy + spread.zz);
  return misfit > most ? sycl::sqrt(most / misfit) : Real(1);
}
/// The same for a neighbourhood; without memory there are no misfits.
template <class Real, bool Memory>
[[gnu::always_inline]] inline Real held_misfit(const Neighborhood<Real, Memory>& n, const LocalStep<Real>& local,
                                               bool crushed, Real yield_strain) {
  if constexpr (Memory) return held_misfit(local.misfit, crushed ? Real(0) : yield_strain, n.spread);
  return Real(1);
}

/// The misfits' part of a constraint.
template <class Real>
struct MisfitPart {
  Real penalty;       // Pa, for the part of the misfits that is held
  Real energy;        // Pa
  Mat3<Real> stress;  // what the penalty takes away through g

  /// Bound of their part of the denominator, without the particle's own.
  Real mobility(const Neighborhood<Real, true>& n, const LocalStep<Real>& local) const {
    return square(penalty) * local.misfit * n.pair_mobility;
  }
};

/// The penalty of the part of the misfits that is held; its stiffness acts on that part.
template <class Real>
[[gnu::always_inline]] inline Penalty<Real> misfit_penalty(const StepConstantsXpbi<Real>& step, Real misfit,
                                                           Real held) {
  return Penalty<Real>::of(step.penalty, held * held * misfit, step.stiffening);
}
template <class Real>
[[gnu::always_inline]] inline MisfitPart<Real> misfit_part(const StepConstantsXpbi<Real>& step,
                                                           const LocalStep<Real>& local, Real held) {
  const auto penalty = misfit_penalty(step, local.misfit, held);
  const Real part = held * penalty.stiffness;
  return {part, penalty.energy,
          part * (local.misfit_moment + times_transpose(local.misfit_moment, local.deformation.start))};
}

/// A constraint on the elastic energy and on the misfits under one multiplier.
template <class Real>
struct JointConstraint {
  Mat3<Real> stress;  // acts through g
  Real penalty;       // Pa, acts on the misfits
  Vec3<Real> own;     // on the particle itself
  Real mobility;      // sum_b |dC^2/2 / dx_b|^2 / m_b
  Real C;
};

/// `Whole`: the neighbours are known to span space.
template <bool Whole = false, class Real, bool Memory>
[[gnu::always_inline]] inline JointConstraint<Real> joint_constraint(Real energy, const Mat3<Real>& elastic,
                                                                     Real held_misfit,
                                                                     const StepConstantsXpbi<Real>& step,
                                                                     const Neighborhood<Real, Memory>& n,
                                                                     const LocalStep<Real>& local, Real inverse_mass) {
  JointConstraint<Real> joint{elastic, Real(0), Vec3<Real>::zero(), Real(0), Real(0)};
  if constexpr (Memory) {
    const auto misfit = misfit_part(step, local, held_misfit);
    joint.penalty = misfit.penalty;
    energy += misfit.energy;
    joint.stress -= misfit.stress;
    joint.own = misfit.penalty * local.misfit_sum;
    joint.mobility = misfit.mobility(n, local);
  }
  if constexpr (!Whole) joint.stress = on_span(n, joint.stress);
  joint.own += joint.stress * n.sum;
  joint.mobility += quadratic_form(joint.stress, n.mobility) + inverse_mass * squared_norm(joint.own);
  // Rounding may leave an energy just below zero; a maximum here keeps GCC from vectorising a loop over particles.
  joint.C = sycl::sqrt(sycl::fabs(Real(2) * energy));
  return joint;
}

/// What one solve of a particle's constraint applies to its neighbourhood:
///   x_b += (stress g_pb + misfit w_pb e_pb)/m_b,  and the opposite sum to x_p.
/// Where misfits have multipliers of their own, `misfit` w_pb e_pb is the whole impulse that the pair should have.
template <class Real>
struct Kick {
  Mat3<Real> stress;
  Real misfit;
  Real violation;  // before it, scaled
};

/// The XPBD update with one multiplier (P1 eqs. 16-18), C = sqrt(2 Psi + 2 Psi_misfit), compliance 1/V.
template <class Real>
struct ScalarUpdate {
  Real change;     // of the multiplier
  Real scale;      // of the joint constraint's stress and penalty
  Real violation;  // before it, scaled
};

template <class Real>
[[gnu::always_inline]] inline ScalarUpdate<Real> scalar_update(const StepConstantsXpbi<Real>& step,
                                                               const JointConstraint<Real>& joint, Real multiplier,
                                                               Real rest_volume) {
  const Real C = joint.C, direction = Real(1) / sycl::fmax(C, step.tiny);
  const Real compliance = step.inverse_squared_step / rest_volume;
  const Real violation = C + compliance * multiplier;
  const Real full = -step.relaxation * violation / (direction * direction * joint.mobility + compliance);
  const Real change = C < step.tiny ? Real(0) : full;
  return {change, change * direction, step.violation_scale * violation};
}

template <class Real>
struct ScalarMultiplier {
  Real* multiplier;

  static constexpr Vec4<Real>* misfit_impulses() { return nullptr; }

  template <bool Memory, class Material>
  Kick<Real> solve(const Material& material, const StepConstantsXpbi<Real>& step, const Neighborhood<Real, Memory>& n,
                   const LocalStep<Real>& local, bool crushed, Real rest_volume, Real inverse_mass,
                   std::size_t i) const {
    const auto joint = constraint(material, step, n, local, crushed, inverse_mass, i);
    const auto update = scalar_update(step, joint, multiplier[i], rest_volume);
    multiplier[i] += update.change;
    return {update.scale * joint.stress, update.scale * joint.penalty, update.violation};
  }

  template <bool Memory, class Material>
  static JointConstraint<Real> constraint(const Material& material, const StepConstantsXpbi<Real>& step,
                                          const Neighborhood<Real, Memory>& n, const LocalStep<Real>& local,
                                          bool crushed, Real inverse_mass, std::size_t i) {
    const auto response = material.respond(local.deformation, i);
    return joint_constraint(response.energy, response.stress, held_misfit(n, local, crushed, response.yield_strain),
                            step, n, local, inverse_mass);
  }
};

}  // namespace ductile
