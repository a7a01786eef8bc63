#pragma once

#include "kernels/xpbd/constraint.hpp"

namespace ductile {

/// What a particle's constraint hands to its neighbours, gathered whole by them.
template <class Real, int Columns>
struct CorrectionLine;

template <class Real>
struct alignas(64) CorrectionLine<Real, 3> {
  Vec4<Real> c0, c1, c2;  // columns of (scale/V)(P M - penalty F); fourth place of c0: scale penalty/V
  Vec4<Real> position;    // x^n + dx
};

template <class Real>
struct CorrectionLine<Real, 4> {
  Vec4<Real> c0, c1, c2, position;
  Vec4<Real> c3;  // (scale/V) P M's fourth column
};

/// First pass of a Jacobi iteration: deformation gradient, multiplier and stress of every particle.
template <class Real, int Columns, bool Penalty, class Material>
struct UpdateMultipliers {
  RestNeighbors<Real> pairs;
  const RestMoments<Real, Columns>* moments;
  const Sym3<Real>* spread;
  const Vec4<Real>* position;               // x^n, inverse mass
  const Vec4<Real>* increment;              // x - x^n
  const Mat3<Real>* displacement_gradient;  // F^n - I
  Material material;
  StepConstants<Real> step;
  std::size_t first;
  Real* multiplier;
  Real* violation;  // null: not wanted
  CorrectionLine<Real, Columns>* line;

  static constexpr bool inline_all = true;

  void operator()(std::size_t item) const {
    const std::size_t i = first + item;
    const Mat3<Real> H_start = displacement_gradient[i];
    const RestMoments<Real, Columns> m = moments[i];
    const auto motion = local_motion<Real, Columns, Penalty>(pairs, position, increment,
                                                             Mat3<Real>::identity() + H_start, m, spread, i);
    const Mat3<Real> H = H_start + motion.change;
    const Real volume = pairs.rest[i][3];
    const Vec4<Real> x = position[i];
    const auto solved = solve_constraint(material, step, m, motion, H, volume, x[3], multiplier[i], i);
    multiplier[i] = solved.multiplier;
    if (violation != nullptr) violation[i] = solved.violation;

    const Real scale = solved.scale / volume;
    Mat3<Real> k = scale * m.matrix.right_multiplied(solved.stress);
    if constexpr (Penalty) k -= (scale * step.penalty) * (Mat3<Real>::identity() + H);
    CorrectionLine<Real, Columns> out;
    out.c0 = padded(k.column(0), scale * step.penalty);
    out.c1 = padded(k.column(1));
    out.c2 = padded(k.column(2));
    out.position = x + increment[i];
    if constexpr (Columns == 4) out.c3 = padded(scale * (solved.stress * m.matrix.constant));
    line[i] = out;
  }
};

/// Second pass: every particle gathers the corrections of the constraints it takes part in.
template <class Real, int Columns, bool Penalty>
struct ApplyCorrections {
  RestNeighbors<Real> pairs;
  const CorrectionLine<Real, Columns>* line;
  const Vec4<Real>* position;
  const Vec4<Real>* increment;
  Vec4<Real>* corrected;
  Vec4<Real>* held;  // what the constraints did to particles of infinite mass, N s^2; null: not wanted

  void operator()(std::size_t i) const {
    const Vec4<Real> zero(Real(0), Real(0), Real(0), Real(0));
    const CorrectionLine<Real, Columns> own = line[i];
    const Real volume = pairs.rest[i][3];
    Vec4<Real> sum = zero, lever = zero;
    const std::uint32_t end = pairs.start[i + 1];
    for (std::uint32_t s = pairs.start[i]; s < end; ++s) {
      const std::uint32_t j = pairs.index[s];
      const CorrectionLine<Real, Columns>& other = line[j];
      const Vec4<Real> p = pairs.pair[s];
      const Real weight = p[3];
      const Vec4<Real> wp = p * weight;
      lever += wp;
      sum += other.c0 * wp[0] + other.c1 * wp[1] + other.c2 * wp[2];
      if constexpr (Penalty) sum += (other.position - own.position) * (weight * (own.c0[3] + other.c0[3]));
      if constexpr (Columns == 4) sum += (own.c3 - other.c3) * pairs.value[s];
    }
    sum += own.c0 * lever[0] + own.c1 * lever[1] + own.c2 * lever[2];
    // Every pair term carries V_i V_j; V_j is in the weight.
    const Vec4<Real> old = increment[i];
    if (held != nullptr && position[i][3] == Real(0)) held[i] -= sum * volume;
    const Real mobility = position[i][3] * volume;
    corrected[i] =
        Vec4<Real>(old[0] - mobility * sum[0], old[1] - mobility * sum[1], old[2] - mobility * sum[2], old[3]);
  }
};

}  // namespace ductile
