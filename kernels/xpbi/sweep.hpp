#pragma once

#include "kernels/smoothing/kernels.hpp"
#include "kernels/xpbi/blocks.hpp"
#include "kernels/xpbi/constraint.hpp"

namespace ductile {

/// How a particle is loaded, as its last step left it.
enum Loading : std::uint32_t {
  loading_tension = 1,  ///< tr tau > 0
  loading_flows = 2,    ///< it yields
};

/// One colour of a sweep: a work-item solves the particles of one block of space in order. Blocks of one colour are so
/// far apart that no particle neighbours two of them. Gauss-Seidel moves the neighbours at once (`target` is
/// `increment`); Jacobi reads one array and adds to another.
template <class Real, bool Memory, class Material, class Multiplier>
struct SweepBlocks {
  PairList<Real, Memory> pairs;
  const Neighborhood<Real, Memory>* neighborhood;
  const Vec4<Real>* position;
  const Vec4<Real>* rest;                   // volume in the fourth place
  const Mat3<Real>* displacement_gradient;  // F^n - I
  const std::uint32_t* loading;
  Material material;
  StepConstantsXpbi<Real> step;
  ColourBlocks blocks;
  const Vec4<Real>* increment;
  Vec4<Real>* target;
  Multiplier multiplier;
  Real* violation;             // null: not wanted
  Vec4<Real>* held;            // what the constraints did to particles of infinite mass, N s^2; null: not wanted
  const std::uint32_t* close;  // neighbours that may come too close; null: no distance correction
  const Real* radius;
  Real least_distance;          // in radii
  Real support;                 // in radii, of the density
  const Real* allowed_density;  // of each particle: sum of V W; null: they keep a distance instead

  static constexpr bool heavy = true;  // few, long work-items
  static constexpr bool inline_all = true;

  void operator()(std::size_t block) const {
    for (std::uint32_t slot = blocks.begin(block); slot < blocks.end(block); ++slot) {
      keep_apart(blocks.member[slot]);
      solve(blocks.member[slot]);
    }
  }

  /// Position correction of a particle that has neighbours too near.
  void keep_apart(std::size_t i) const {
    if (close != nullptr && close[i] > 0) allowed_density != nullptr ? thin_out(i) : keep_distance(i);
  }

  /// Of the compliance.
  [[gnu::always_inline]] Real working_volume(std::size_t i) const {
    return position[i][3] == Real(0) ? step.held_part * rest[i][3] : rest[i][3];
  }

  void solve(std::size_t i) const {
    const Mat3<Real> H = displacement_gradient[i];
    const Neighborhood<Real, Memory> n = neighborhood[i];
    const auto local = local_step<Real, Memory>(pairs, position, increment, H, n, i);
    const bool crushed = Material::plastic && loading[i] == loading_flows;
    Kick<Real> kick = multiplier.solve(material, step, n, local, crushed, working_volume(i), position[i][3], i);
    if (violation != nullptr) violation[i] = kick.violation;
    if constexpr (Memory) {
      if (multiplier.misfit_impulses() != nullptr) {
        kick.stress -= on_span(n, push_misfits(i, n, kick.misfit, local.deformation));
        kick.misfit = Real(0);
      }
    }
    push_neighbors(i, times_transpose(kick.stress, n.inverse), kick.misfit, local.deformation.trial);
  }

  /// Brings the impulse of every pair nearer to `whole` w e. Returns what that takes away through g: the sum of the
  /// changes (x) F^n p.
  Mat3<Real> push_misfits(std::size_t i, const Neighborhood<Real, Memory>& n, Real whole,
                          const StepDeformation<Real>& deformation) const {
    Vec4<Real>* const impulse = multiplier.misfit_impulses();
    const Vec3<Real> x = xyz(position[i]), d = xyz(increment[i]);
    Real weights = Real(0);
    for (std::uint32_t s = pairs.start[i]; s < pairs.start[i + 1]; ++s) weights += pairs.pair[s][3];
    // An impulse on a pair changes its misfit by at most so much of it.
    const Real part = step.relaxation / (Real(1) + sycl::fabs(whole) * (n.pair_mobility + position[i][3] * weights));
    Mat3<Real> moment = Mat3<Real>::zero();
    Vec3<Real> own = Vec3<Real>::zero();
    for (std::uint32_t s = pairs.start[i]; s < pairs.start[i + 1]; ++s) {
      const std::uint32_t j = pairs.index[s];
      const Vec3<Real> p = xyz(pairs.pair[s]), apart = xyz(position[j]) - x;
      const Vec3<Real> e = (apart - p) - deformation.trial * p + (xyz(increment[j]) - d);
      const Vec3<Real> change = part * ((whole * pairs.pair[s][3]) * e - xyz(impulse[s]));
      impulse[s] += padded(change);
      moment += outer(change, p + deformation.start * p);
      own -= change;
      give(j, position[j][3], padded(change));
    }
    give(i, position[i][3], padded(own));
    return moment;
  }

  /// x_b += (k w p + misfit w e)/m_b and the opposite sum to x_i; F - I is that of the misfits e.
  [[gnu::always_inline]] void push_neighbors(std::size_t i, const Mat3<Real>& k, Real misfit,
                                             const Mat3<Real>& F) const {
    // Misfits are taken before anything moves, so the parts on i and its neighbours are opposite to the last bit.
    const Vec4<Real> x = position[i], d = increment[i];
    const Vec4<Real> k0 = padded(k.column(0)), k1 = padded(k.column(1)), k2 = padded(k.column(2));
    const Vec4<Real> f0 = padded(F.column(0)), f1 = padded(F.column(1)), f2 = padded(F.column(2));
    Vec4<Real> own(Real(0), Real(0), Real(0), Real(0));
    const std::uint32_t end = pairs.start[i + 1];
    for (std::uint32_t s = pairs.start[i]; s < end; ++s) {
      const std::uint32_t j = pairs.index[s];
      const Vec4<Real> xj = position[j];
      const Vec4<Real> apart = xj - x;
      const Vec4<Real> p = pairs.vector(s, apart);
      const Real weight = pairs.weight(p, s);
      const Vec4<Real> wp = p * weight;
      Vec4<Real> push = k0 * wp[0] + k1 * wp[1] + k2 * wp[2];
      if constexpr (Memory)
        push += ((apart - p) - f0 * p[0] - f1 * p[1] - f2 * p[2] + (increment[j] - d)) * (misfit * weight);
      own -= push;
      give(j, xj[3], push);
    }
    give(i, x[3], own);
  }

 private:
  [[gnu::always_inline]] void give(std::size_t i, Real inverse_mass, const Vec4<Real>& impulse) const {
    target[i] += impulse * inverse_mass;
    if (held != nullptr && inverse_mass == Real(0)) held[i] += impulse;
  }

  /// Density correction (Macklin and Mueller 2013, P1 sec. 5.1): the sum of V W does not rise above its limit.
  void thin_out(std::size_t i) const {
    const Vec4<Real> x = position[i], d = increment[i];
    const Wendland<Real, 3> smoothing(support * radius[i]);
    Real density = rest[i][3] * smoothing.value(Real(0)), mobility = Real(0);
    Vec3<Real> own = Vec3<Real>::zero();
    const auto gradient = [&](std::uint32_t j, Real& value) {
      const Vec3<Real> apart = xyz(position[j] - x) + xyz(increment[j] - d);
      const Real r = norm(apart), volume = rest[j][3];
      value = volume * smoothing.value(r);
      return apart * (volume * smoothing.gradient_factor(r));
    };
    for (std::uint32_t s = pairs.start[i]; s < pairs.start[i + 1]; ++s) {
      const std::uint32_t j = pairs.index[s];
      if (j == i) continue;
      Real value = Real(0);
      const Vec3<Real> g = gradient(j, value);
      density += value;
      own -= g;
      mobility += position[j][3] * squared_norm(g);
    }
    // A tenth of the lattice's mobility keeps the way short where all neighbours lie on the rim of the kernel.
    mobility += x[3] * (squared_norm(own) + Real(0.05f) / square(Real(2) * radius[i]));
    const Real excess = density - allowed_density[i];
    if (!(excess > Real(0)) || !(mobility > Real(0))) return;
    const Real scale = -step.relaxation * excess / mobility;
    for (std::uint32_t s = pairs.start[i]; s < pairs.start[i + 1]; ++s) {
      const std::uint32_t j = pairs.index[s];
      if (j == i) continue;
      Real value = Real(0);
      give(j, position[j][3], padded(gradient(j, value) * scale));
    }
    give(i, x[3], padded(own * scale));
  }

  /// P1 eq. 21: particles keep a least distance (at the end of the step), without compliance.
  void keep_distance(std::size_t i) const {
    const Vec4<Real> x = position[i];
    for (std::uint32_t s = pairs.start[i]; s < pairs.start[i + 1]; ++s) {
      const std::uint32_t j = pairs.index[s];
      if (j == i) continue;
      const Vec4<Real> xj = position[j];
      const Vec3<Real> apart = xyz(xj - x) + xyz(increment[j] - increment[i]);
      const Real least = least_distance * Real(0.5) * (radius[i] + radius[j]);
      const Real squared = squared_norm(apart), mobility = x[3] + xj[3];
      if (!(squared < square(least)) || mobility == Real(0)) continue;
      const Real distance = sycl::sqrt(squared);
      // Coincident centres have no direction: the higher index goes up.
      const Vec3<Real> normal =
          distance > Real(0) ? apart / distance : Vec3<Real>{Real(0), Real(0), Real(i < j ? 1 : -1)};
      const Vec4<Real> push = padded(normal * (step.relaxation * (least - distance) / mobility));
      give(j, xj[3], push);
      give(i, x[3], push * Real(-1));
    }
  }
};

}  // namespace ductile
