#pragma once

#include <sycl/sycl.hpp>

#include <cstddef>
#include <cstdint>

#include "kernels/materials/strain.hpp"
#include "kernels/xpbd/missing.hpp"

namespace ductile {

/// Constants of a time step for the particles of one material.
template <class Real>
struct StepConstants {
  Real inverse_squared_step;  // 1/dt^2
  Real penalty;               // zero-energy penalty, Pa
  Real tiny;                  // below this the constraint has no direction
  Real violation_scale;       // of the violation that is reported
  Real relaxation;            // part of the correction that is applied, and counted by the multiplier
  Real held_part;             // of the energy of particles that are held, see held_part()
  bool printed_constraint;    // C = Psi with unit compliance, as printed in P0, instead of C = sqrt(2 Psi), 1/V
};

/// What a particle sums over its neighbours, with the motions u_ij = dx_j - dx_i of this step and the misfits
/// y_ij = x_ij - F^n p_ij to its deformation F^n at the start of the step.
template <class Real>
struct MotionSums {
  Mat3<Real> motions;  // sum_j V_j phi_ij u_ij (x) p_ij; with a penalty and three columns that of the misfits
  Vec3<Real> values;   // sum_j V_j W_ij u_ij: four columns only
  Mat3<Real> misfits;  // sum_j V_j phi_ij y_ij (x) p_ij: four columns with a penalty only
  Real squares;        // sum_j V_j phi_ij |y_ij|^2: with a penalty only
};

/// One pass over the neighbours. Increments of the step are summed, not positions: single precision would lose them.
template <class Real, int Columns, bool Penalty>
[[gnu::always_inline]] inline MotionSums<Real> sum_motions(const RestNeighbors<Real>& pairs, const Vec4<Real>* position,
                                                           const Vec4<Real>* increment, const Mat3<Real>& F,
                                                           std::size_t i) {
  const Vec8<Real> zero(Real(0));
  const Vec8<Real> X = twice(pairs.rest[i]), d = twice(increment[i]), x = twice(position[i]);
  const Vec8<Real> f0 = twice(padded(F.column(0))), f1 = twice(padded(F.column(1))), f2 = twice(padded(F.column(2)));
  Vec8<Real> c0 = zero, c1 = zero, c2 = zero, c3 = zero;  // motions (x) V phi p, V W
  Vec8<Real> m0 = zero, m1 = zero, m2 = zero;             // misfits (x) V phi p
  Vec8<Real> squares = zero;
  pairs.for_each_two(i, [&](std::size_t s, std::size_t t, std::uint32_t j, std::uint32_t k, const Vec8<Real>& w) {
    const Vec8<Real> p = Vec8<Real>(pairs.rest[j], pairs.rest[k]) - X;
    const Vec8<Real> moved = Vec8<Real>(increment[j], increment[k]) - d;
    const Vec8<Real> p0 = component<0>(p), p1 = component<1>(p), p2 = component<2>(p);
    if constexpr (Penalty) {
      // Relative to F^n the misfit before and the motion of this step are both small: no cancellation.
      const Vec8<Real> y = (Vec8<Real>(position[j], position[k]) - x) - f0 * p0 - f1 * p1 - f2 * p2 + moved;
      const Vec8<Real> wy = y * w;
      m0 += wy * p0;
      m1 += wy * p1;
      m2 += wy * p2;
      squares += wy * y;
    }
    if constexpr (!Penalty || Columns == 4) {
      const Vec8<Real> wu = moved * w;
      c0 += wu * p0;
      c1 += wu * p1;
      c2 += wu * p2;
      if constexpr (Columns == 4) c3 += moved * halves(pairs.value[s], t == s ? Real(0) : pairs.value[t]);
    }
  });
  const auto columns = [](const Vec8<Real>& a, const Vec8<Real>& b, const Vec8<Real>& c) {
    return Mat3<Real>::from_columns(xyz(sum_of_halves(a)), xyz(sum_of_halves(b)), xyz(sum_of_halves(c)));
  };
  MotionSums<Real> result{};
  result.motions = Penalty && Columns == 3 ? columns(m0, m1, m2) : columns(c0, c1, c2);
  if constexpr (Columns == 4) result.values = xyz(sum_of_halves(c3));
  if constexpr (Columns == 4 && Penalty) result.misfits = columns(m0, m1, m2);
  if constexpr (Penalty) {
    const Vec4<Real> sum = sum_of_halves(squares);
    result.squares = sum[0] + sum[1] + sum[2];
  }
  return result;
}

/// Motion of a particle's neighbourhood during the step, relative to its deformation F^n at the start.
template <class Real>
struct LocalMotion {
  Mat3<Real> change;  // F - F^n
  Mat3<Real> moment;  // sum_j V_j phi_ij e_ij (x) p_ij: zero for least squares
  Real misfit;        // sum_j V_j phi_ij |e_ij|^2, e_ij = x_ij - F p_ij
};

/// `second` is sum_j V_j phi_ij p_ij (x) p_ij, needed by four columns with a penalty only.
template <bool Penalty, class Real, int Columns>
[[gnu::always_inline]] inline LocalMotion<Real> local_motion(const MotionSums<Real>& sums,
                                                             const RestMoments<Real, Columns>& moments,
                                                             const Sym3<Real>& second) {
  LocalMotion<Real> result{moments.matrix.right_multiplied_transpose(sums.motions), Mat3<Real>::zero(), Real(0)};
  if constexpr (Columns == 3 && Penalty) {
    // F is the best fit, so the misfits have no first moment.
    result.misfit = sycl::fmax(sums.squares - contract(result.change, sums.motions), Real(0));
  } else if constexpr (Columns == 4) {
    result.change += outer(sums.values, moments.matrix.constant);
    if constexpr (Penalty) {
      const Mat3<Real> fitted = result.change * second.full();
      result.moment = sums.misfits - fitted;
      result.misfit = sycl::fmax(
          sums.squares - Real(2) * contract(result.change, sums.misfits) + contract(result.change, fitted), Real(0));
    }
  }
  return result;
}

/// The zero-energy penalty of a misfit q = sum_j V_j phi_ij |e_ij|^2: energy density k (q + b q^2/2)/2. Where misfits
/// are as large as the neighbourhood (q about 1; in a bent body it is below 1e-2) the penalty is several times stiffer,
/// which frees particles that a crash or a tangled start has left on the wrong side of their neighbours.
template <class Real>
struct Penalty {
  Real energy;     // Pa
  Real stiffness;  // Pa, of the present misfit

  [[gnu::always_inline]] static Penalty of(Real stiffness, Real misfit, Real stiffening = usual_stiffening) {
    const Real excess = stiffening * misfit;
    return {Real(0.5) * stiffness * misfit * (Real(1) + Real(0.5) * excess), stiffness * (Real(1) + excess)};
  }

  static constexpr Real usual_stiffening = Real(4);  // b, where the weights have a moment of 1
};

/// What one solve of a particle's constraint applies to its neighbourhood:
///   x_j += w_j scale (P g_ij + penalty V_j phi_ij e_ij),  and the opposite sum to x_i,
/// with P the law's stress less penalty times the misfits' moment.
template <class Real>
struct ConstraintStep {
  Real scale;       // dlambda / C
  Real multiplier;  // after the solve
  Real violation;   // C + alpha lambda / dt^2 before it, scaled
};

/// The XPBD update of one particle: C = sqrt(2 Psi) with the compliance 1/V, or, `Printed`, C = Psi with the compliance
/// 1 (P0 eqs. 9-10). `own` is sum_j P g_ij.
template <bool Printed, class Real, int Columns>
[[gnu::always_inline]] inline ConstraintStep<Real> solve_constraint(const StepConstants<Real>& step,
                                                                    const RestMoments<Real, Columns>& moments,
                                                                    Real law_energy, const Mat3<Real>& stress,
                                                                    const Vec3<Real>& own, const Penalty<Real>& penalty,
                                                                    Real misfit, Real volume, Real inverse_mass,
                                                                    Real multiplier) {
  const Real energy = sycl::fmax(law_energy + penalty.energy, Real(0));
  const Real C = Printed ? energy : sycl::sqrt(Real(2) * energy);
  const bool flat = C < step.tiny;  // one comparison: of fmax and this together GCC makes no vectors with AVX-512
  const Real direction = Printed ? Real(1) : Real(1) / (flat ? step.tiny : C);
  const Real part = inverse_mass == Real(0) ? step.held_part : Real(1);
  const Real compliance = step.inverse_squared_step / (Printed ? Real(1) : part * volume);
  const Real mobility = quadratic_form(stress, moments.mobility) + inverse_mass * squared_norm(own) +
                        square(penalty.stiffness) * misfit * moments.penalty_mobility;
  const Real violation = C + compliance * multiplier;
  const Real full = -step.relaxation * violation / (direction * direction * mobility + compliance);
  const Real change = flat ? Real(0) : full;
  return {change * direction, multiplier + change, step.violation_scale * violation};
}

}  // namespace ductile
