#pragma once

#include <sycl/sycl.hpp>

#include <cstddef>
#include <cstdint>

#include "kernels/xpbd/rest_shape.hpp"

namespace ductile {

/// Constants of a time step for the particles of one material.
template <class Real>
struct StepConstants {
  Real inverse_squared_step;  // 1/dt^2
  Real penalty;               // zero-energy penalty, Pa
  Real tiny;                  // below this the constraint has no direction
  Real violation_scale;       // of the violation that is reported
  Real relaxation;            // Jacobi: part of the correction that is applied, and counted by the multiplier
  bool printed_constraint;    // C = Psi with unit compliance, as printed in P0, instead of C = sqrt(2 Psi), 1/V
};

/// Motion of a particle's neighbourhood during the step, relative to its deformation F^n at the start.
template <class Real>
struct LocalMotion {
  Mat3<Real> change;  // F - F^n
  Mat3<Real> moment;  // sum_j V_j phi_ij e_ij (x) p_ij: zero for least squares
  Real misfit;        // sum_j V_j phi_ij |e_ij|^2, e_ij = x_ij - F p_ij
};

/// One pass over the neighbours. Increments of the step are summed, not positions: single precision would lose them.
template <class Real, int Columns, bool Penalty>
inline LocalMotion<Real> local_motion(const RestNeighbors<Real>& pairs, const Vec4<Real>* position,
                                      const Vec4<Real>* increment, const Mat3<Real>& F,
                                      const RestMoments<Real, Columns>& moments, const Sym3<Real>* spread,
                                      std::size_t i) {
  const Vec4<Real> zero(Real(0), Real(0), Real(0), Real(0));
  const Vec4<Real> x = position[i], d = increment[i];
  const Vec4<Real> f0 = padded(F.column(0)), f1 = padded(F.column(1)), f2 = padded(F.column(2));
  Vec4<Real> c0 = zero, c1 = zero, c2 = zero, c3 = zero;  // increments (x) a_ij
  Vec4<Real> m0 = zero, m1 = zero, m2 = zero;             // misfits (x) V phi p
  Vec4<Real> squares = zero;
  const std::uint32_t end = pairs.start[i + 1];
  for (std::uint32_t s = pairs.start[i]; s < end; ++s) {
    const std::uint32_t j = pairs.index[s];
    const Vec4<Real> p = pairs.pair[s];
    const Real weight = p[3];
    const Vec4<Real> wp = p * weight;
    const Vec4<Real> moved = increment[j] - d;
    if constexpr (Penalty) {
      // Relative to F^n the misfit before and the motion of this step are both small: no cancellation.
      const Vec4<Real> y = (position[j] - x) - f0 * p[0] - f1 * p[1] - f2 * p[2] + moved;
      m0 += y * wp[0];
      m1 += y * wp[1];
      m2 += y * wp[2];
      squares += y * y * weight;
    }
    if constexpr (!Penalty || Columns == 4) {
      c0 += moved * wp[0];
      c1 += moved * wp[1];
      c2 += moved * wp[2];
      if constexpr (Columns == 4) c3 += moved * pairs.value[s];
    }
  }
  LocalMotion<Real> result;
  result.moment = Mat3<Real>::zero();
  result.misfit = Real(0);
  const auto columns = [](const Vec4<Real>& a, const Vec4<Real>& b, const Vec4<Real>& c) {
    return Mat3<Real>::from_columns(xyz(a), xyz(b), xyz(c));
  };
  if constexpr (Columns == 3 && Penalty) {
    // F is the best fit, so the misfits have no first moment.
    const Mat3<Real> sum = columns(m0, m1, m2);
    result.change = moments.matrix.right_multiplied(sum);
    result.misfit = sycl::fmax(squares[0] + squares[1] + squares[2] - contract(result.change, sum), Real(0));
  } else if constexpr (Columns == 3) {
    result.change = moments.matrix.right_multiplied(columns(c0, c1, c2));
  } else {
    result.change =
        times_transpose(columns(c0, c1, c2), moments.matrix.linear) + outer(xyz(c3), moments.matrix.constant);
    if constexpr (Penalty) {
      const Mat3<Real> sum = columns(m0, m1, m2);
      const Mat3<Real> fitted = result.change * spread[i].full();
      result.moment = sum - fitted;
      result.misfit = sycl::fmax(squares[0] + squares[1] + squares[2] - Real(2) * contract(result.change, sum) +
                                     contract(result.change, fitted),
                                 Real(0));
    }
  }
  return result;
}

/// What one solve of a particle's constraint applies to its neighbourhood:
///   x_j += w_j scale (P g_ij + penalty V_j phi_ij e_ij),  and the opposite sum to x_i.
template <class Real>
struct ConstraintStep {
  Mat3<Real> stress;  // P, less the penalty's part that acts through the gradient
  Real scale;         // dlambda / C
  Real multiplier;    // after the solve
  Real violation;     // C + alpha lambda / dt^2 before it, scaled
};

/// The XPBD update of one particle at F = I + H (P0 eqs. 9-10 with the consistent compliance 1/V).
template <class Real, int Columns, class Material>
inline ConstraintStep<Real> solve_constraint(const Material& material, const StepConstants<Real>& step,
                                             const RestMoments<Real, Columns>& moments, const LocalMotion<Real>& motion,
                                             const Mat3<Real>& H, Real volume, Real inverse_mass, Real multiplier,
                                             std::size_t i) {
  const auto response = material.displacement_response(H, i);
  const Real energy = sycl::fmax(response.energy + Real(0.5) * step.penalty * motion.misfit, Real(0));
  const Mat3<Real> stress = response.stress - step.penalty * motion.moment;
  const Real C = step.printed_constraint ? energy : sycl::sqrt(Real(2) * energy);
  const Real direction = step.printed_constraint ? Real(1) : Real(1) / sycl::fmax(C, step.tiny);
  const Real compliance = step.inverse_squared_step / (step.printed_constraint ? Real(1) : volume);
  const Real mobility = quadratic_form(stress, moments.mobility) + inverse_mass * squared_norm(stress * moments.sum) +
                        step.penalty * step.penalty * motion.misfit * moments.penalty_mobility;
  const Real violation = C + compliance * multiplier;
  Real change = -step.relaxation * violation / (direction * direction * mobility + compliance);
  if (C < step.tiny) change = Real(0);
  return {stress, change * direction, multiplier + change, step.violation_scale * violation};
}

}  // namespace ductile
