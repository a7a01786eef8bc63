#pragma once

#include "kernels/xpbd/constraint.hpp"

namespace ductile {

/// One colour of a Gauss-Seidel sweep: a work-item solves the particles of one block of space in order and moves their
/// neighbours at once. Blocks of one colour are further apart than two supports, so no particle is moved by two of
/// them.
template <class Real, int Columns, class Material>
struct SolveBlocks {
  RestNeighbors<Real> pairs;
  const RestMoments<Real, Columns>* moments;
  const Sym3<Real>* spread;
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
  void solve(std::size_t i) const {
    const Mat3<Real> H_start = displacement_gradient[i];
    const Mat3<Real> F_start = Mat3<Real>::identity() + H_start;
    const RestMoments<Real, Columns> m = moments[i];
    const Vec4<Real>* const moved = increment;
    const auto motion = step.penalty > Real(0)
                            ? local_motion<Real, Columns, true>(pairs, position, moved, F_start, m, spread, i)
                            : local_motion<Real, Columns, false>(pairs, position, moved, F_start, m, spread, i);
    const Mat3<Real> H = H_start + motion.change, F = Mat3<Real>::identity() + H;
    const Vec4<Real> x = position[i], d = increment[i];
    const auto solved = solve_constraint(material, step, m, motion, H, pairs.rest[i][3], x[3], multiplier[i], i);
    multiplier[i] = solved.multiplier;
    if (violation != nullptr) violation[i] = solved.violation;
    if (solved.scale == Real(0)) return;

    // Misfits are taken before anything moves, so the parts on i and its neighbours are opposite to the last bit.
    const Mat3<Real> k = solved.scale * m.matrix.right_multiplied(solved.stress);
    const Vec4<Real> k0 = padded(k.column(0)), k1 = padded(k.column(1)), k2 = padded(k.column(2));
    const Vec4<Real> f0 = padded(F.column(0)), f1 = padded(F.column(1)), f2 = padded(F.column(2));
    Vec4<Real> k3(Real(0), Real(0), Real(0), Real(0)), own = k3;
    if constexpr (Columns == 4) k3 = padded(solved.scale * (solved.stress * m.matrix.constant));
    const Real penalty = solved.scale * step.penalty;
    const std::uint32_t end = pairs.start[i + 1];
    for (std::uint32_t s = pairs.start[i]; s < end; ++s) {
      const std::uint32_t j = pairs.index[s];
      const Vec4<Real> p = pairs.pair[s];
      const Real weight = p[3];
      const Vec4<Real> wp = p * weight;
      const Vec4<Real> xj = position[j], dj = increment[j];
      Vec4<Real> push = k0 * wp[0] + k1 * wp[1] + k2 * wp[2];
      if constexpr (Columns == 4) push += k3 * pairs.value[s];
      push += ((xj - x) - f0 * p[0] - f1 * p[1] - f2 * p[2] + (dj - d)) * (penalty * weight);
      own -= push;
      increment[j] = dj + push * xj[3];
      if (held != nullptr && xj[3] == Real(0)) held[j] += push;
    }
    increment[i] = d + own * x[3];
    if (held != nullptr && x[3] == Real(0)) held[i] += own;
  }
};

}  // namespace ductile
