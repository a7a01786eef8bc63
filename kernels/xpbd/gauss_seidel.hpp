#pragma once

#include "kernels/xpbd/constraint.hpp"

namespace ductile {

/// One colour of a Gauss-Seidel sweep: a work-item solves the particles of one block of space in order and moves their
/// neighbours at once. Blocks of one colour are further apart than two supports, so no particle is moved by two of
/// them.
template <class Real, int Columns, class Material>
struct SolveBlocks {
  RestNeighbors<Real> pairs;
  MomentPlanes<const Real, Columns> moments;
  const Sym3<Real>* spread;
  const Sym3<Real>* missing;  // directions without neighbours; null: there are none
  const Vec4<Real>* position;
  const Mat3<Real>* displacement_gradient;  // F^n - I
  Material material;
  StepConstants<Real> step;
  const std::uint32_t* block_start;  // of this colour
  const std::uint32_t* member;
  Vec4<Real>* increment;
  Real* multiplier;
  Real* violation;
  Vec4<Real>* held;  // what the constraints did to particles of infinite mass, N s^2; null: not wanted

  static constexpr bool heavy = true;  // few, long work-items
  static constexpr bool inline_all = true;

  void operator()(std::size_t block) const {
    for (std::uint32_t slot = block_start[block]; slot < block_start[block + 1]; ++slot) solve(member[slot]);
  }

 private:
  template <bool Penalty>
  LocalMotion<Real> motion_of(std::size_t i, const RestMoments<Real, Columns>& m, const Mat3<Real>& F) const {
    const auto sums = sum_motions<Real, Columns, Penalty>(pairs, position, increment, F, i);
    return local_motion<Penalty>(sums, m, Columns == 4 && Penalty ? spread[i] : Sym3<Real>::zero());
  }

  void solve(std::size_t i) const {
    const Mat3<Real> H_start = displacement_gradient[i];
    const Mat3<Real> F_start = Mat3<Real>::identity() + H_start;
    const RestMoments<Real, Columns> m = moments.load(i);
    const auto motion = step.penalty > Real(0) ? motion_of<true>(i, m, F_start) : motion_of<false>(i, m, F_start);
    const Mat3<Real> moved = H_start + motion.change;
    const Mat3<Real> H = missing != nullptr ? completed(moved, missing[i]) : moved, F = Mat3<Real>::identity() + H;
    const Vec4<Real> X = pairs.rest[i], x = position[i], d = increment[i];
    const auto response = material.displacement_response(H, i);
    const auto stiffened = Penalty<Real>::of(step.penalty, motion.misfit);
    const Mat3<Real> P = response.stress - stiffened.stiffness * motion.moment;
    const Mat3<Real> PM = m.matrix.right_multiplied(P);
    Vec3<Real> own = PM * m.lever;
    if constexpr (Columns == 4) own += m.values * (P * m.matrix.constant);
    const auto solved = step.printed_constraint ? solve_constraint<true>(step, m, response.energy, P, own, stiffened,
                                                                         motion.misfit, X[3], x[3], multiplier[i])
                                                : solve_constraint<false>(step, m, response.energy, P, own, stiffened,
                                                                          motion.misfit, X[3], x[3], multiplier[i]);
    multiplier[i] = solved.multiplier;
    if (violation != nullptr) violation[i] = solved.violation;
    if (solved.scale == Real(0)) return;

    // Misfits are taken before anything moves, so the parts on i and its neighbours are opposite to the last bit.
    const Mat3<Real> k = solved.scale * PM;
    const Vec4<Real> k0 = padded(k.column(0)), k1 = padded(k.column(1)), k2 = padded(k.column(2));
    const Vec4<Real> f0 = padded(F.column(0)), f1 = padded(F.column(1)), f2 = padded(F.column(2));
    Vec4<Real> k3(Real(0), Real(0), Real(0), Real(0)), recoil = k3;
    if constexpr (Columns == 4) k3 = padded(solved.scale * (P * m.matrix.constant));
    const Real penalty = solved.scale * stiffened.stiffness;
    const std::uint32_t end = pairs.start[i + 1];
    for (std::uint32_t s = pairs.start[i]; s < end; ++s) {
      const std::uint32_t j = pairs.index[s];
      const Vec4<Real> p = pairs.rest[j] - X;
      const Real weight = pairs.weight[s];
      const Vec4<Real> wp = p * weight;
      const Vec4<Real> xj = position[j], dj = increment[j];
      Vec4<Real> push = k0 * wp[0] + k1 * wp[1] + k2 * wp[2];
      if constexpr (Columns == 4) push += k3 * pairs.value[s];
      push += ((xj - x) - f0 * p[0] - f1 * p[1] - f2 * p[2] + (dj - d)) * (penalty * weight);
      recoil -= push;
      increment[j] = dj + push * xj[3];
      if (held != nullptr && xj[3] == Real(0)) held[j] += push;
    }
    increment[i] = d + recoil * x[3];
    if (held != nullptr && x[3] == Real(0)) held[i] += recoil;
  }
};

}  // namespace ductile
