#pragma once

#include <type_traits>

#include "kernels/neighbors/cell_grid.hpp"
#include "kernels/xpbi/sweep.hpp"

namespace ductile {

/// V^n = V det F of every particle, with the elastic F as printed in P1.
template <class Real>
struct PresentVolume {
  const Vec4<Real>* rest;
  const Mat3<Real>* displacement_gradient;
  Real* volume;

  void operator()(std::size_t i) const {
    volume[i] = rest[i][3] * (Real(1) + volume_change(displacement_gradient[i]).j);
  }
};

/// Sum of V W over the neighbours of a particle and itself: their density, as a part of that at rest. Volumes at rest
/// stand for masses, so that bodies of different densities do not smear each other's.
template <class Real, class Smoothing>
struct SumVolumes {
  const std::uint32_t* start;
  const std::uint32_t* index;
  const Vec4<Real>* position;
  const Vec4<Real>* rest;
  const Real* reach;
  Smoothing smoothing;  // of support 1
  const Real* divisor;  // of each volume; null: 1
  Real* sum;

  void operator()(std::size_t i) const {
    const Vec3<Real> center = xyz(position[i]);
    const Real inverse = Real(1) / reach[i];
    Real total = part(i, Real(0));
    for (std::uint32_t s = start[i]; s < start[i + 1]; ++s) {
      const std::uint32_t j = index[s];
      const Real r = norm(xyz(position[j]) - center) * inverse;
      if (r < Real(1)) total += part(j, r);
    }
    sum[i] = total * square(inverse) * inverse;
  }

 private:
  Real part(std::size_t j, Real r) const {
    return (divisor == nullptr ? rest[j][3] : rest[j][3] / divisor[j]) * smoothing.value(r);
  }
};

/// V^n = m/rho with Shepard's correction, rho = sum m W / sum (m/rho) W, which near a surface makes up for the side
/// without neighbours.
template <class Real>
struct VolumeOfDensity {
  const Vec4<Real>* rest;
  const Real* density;     // sum of V W
  const Real* completion;  // sum of (V/density) W
  Real lattice;            // density of the lattice, which is not quite 1
  Real* volume;

  void operator()(std::size_t i) const { volume[i] = rest[i][3] * lattice * completion[i] / density[i]; }
};

/// Density above which particles are thinned out: that of the lattice or their own at rest, times a factor.
template <class Real>
struct LimitDensity {
  const std::uint32_t* start;
  const std::uint32_t* index;
  const Vec4<Real>* rest;
  const Real* radius;
  Real support;  // in radii
  Real lattice, factor;
  Real* most;

  void operator()(std::size_t i) const {
    const Wendland<Real, 3> smoothing(support * radius[i]);
    Real density = rest[i][3] * smoothing.value(Real(0));
    for (std::uint32_t s = start[i]; s < start[i + 1]; ++s)
      density += rest[index[s]][3] * smoothing.value(norm(xyz(rest[index[s]] - rest[i])));
    most[i] = factor * sycl::fmax(density, lattice);
  }
};

/// The density that a particle may have at the end of the step: what it has beyond its limit, as when it chooses its
/// neighbours anew, goes in the time of a few waves; all at once it would be thrown out.
template <class Real>
struct AllowDensity {
  const std::uint32_t* start;
  const std::uint32_t* index;
  const Vec4<Real>* position;
  const Vec4<Real>* rest;
  const Real* radius;
  Real support;   // in radii
  Real wave_way;  // of a pressure wave in a step
  const Real* most;
  std::size_t first;
  Real* allowed;

  void operator()(std::size_t item) const {
    const std::size_t i = first + item;
    const Wendland<Real, 3> smoothing(support * radius[i]);
    Real density = rest[i][3] * smoothing.value(Real(0));
    for (std::uint32_t s = start[i]; s < start[i + 1]; ++s)
      if (index[s] != i) density += rest[index[s]][3] * smoothing.value(norm(xyz(position[index[s]] - position[i])));
    const Real kept = sycl::fmax(Real(1) - wave_way / (Real(6) * radius[i]), Real(0));
    allowed[i] = most[i] + kept * sycl::fmax(density - most[i], Real(0));
  }
};

/// Weights V_b^n (-W'(r)/r) of pairs in the current positions. `Smoothing` has the support 1.
template <class Real, class Smoothing>
struct WeighCurrentPairs {
  const std::uint32_t* start;
  const std::uint32_t* index;
  const Vec4<Real>* position;
  const Real* volume;
  const Real* reach;  // support of each particle
  Smoothing smoothing;
  Real* weight;

  void operator()(std::size_t i) const {
    const Vec3<Real> center = xyz(position[i]);
    const Real inverse = Real(1) / reach[i];
    const Real scale = -square(square(inverse)) * inverse;
    for (std::uint32_t s = start[i]; s < start[i + 1]; ++s) {
      const std::uint32_t j = index[s];
      const Real r = norm(xyz(position[j]) - center) * inverse;
      weight[s] = r < Real(1) ? scale * volume[j] * smoothing.gradient_factor(r) : Real(0);
    }
  }
};

/// End of a step: the trial state is mapped once more and stored; with memory, the unloaded pair vectors of a particle
/// that flows follow its plastic deformation.
template <class Real, bool Memory, class Material>
struct CommitStep {
  PairList<Real, Memory> pairs;
  const Neighborhood<Real, Memory>* neighborhood;
  const Vec4<Real>* position;
  const Vec4<Real>* increment;
  Material material;
  StepConstantsXpbi<Real> step;
  std::size_t first;
  Mat3<Real>* displacement_gradient;
  Real* energy;            // J/m^3
  std::uint32_t* loading;  // plastic materials only
  Real* flowed;            // plastic log strain since the neighbours were chosen
  Vec4<Real>* pair;        // the same as pairs.pair
  Real* volume;            // that is followed through the steps, flow included; null: none is

  static constexpr bool inline_all = true;

  void operator()(std::size_t item) const {
    const std::size_t i = first + item;
    const auto n = neighborhood[i];
    const auto local = local_step<Real, Memory>(pairs, position, increment, displacement_gradient[i], n, i);
    const Mat3<Real>& trial = local.deformation.trial;
    // No step turns a volume inside out.
    if (volume != nullptr) volume[i] *= sycl::fmax(Real(1) + volume_change(local.deformation.G).j, Real(0.1));
    if constexpr (!Material::plastic) {
      displacement_gradient[i] = trial;
      energy[i] = material.energy(trial, i);
      if constexpr (Memory) energy[i] += misfit_penalty(step, local.misfit, Real(1)).energy;
    } else {
      flow(i, n, local, trial);
    }
  }

 private:
  void flow(std::size_t i, const Neighborhood<Real, Memory>& n, const LocalStep<Real>& local,
            const Mat3<Real>& trial) const {
    const auto response = material.committing().respond(local.deformation, i);
    const auto mapped = material.map(trial, i);
    const bool yields = mapped.yield != Yield::none, tension = trace(mapped.kirchhoff) > Real(0);
    if constexpr (!std::is_empty_v<typename Material::State>) material.state[i] = mapped.state;
    // A particle that has lost all its neighbours keeps no stress.
    const bool alone = pairs.start[i] == pairs.start[i + 1];
    const Mat3<Real> H = alone ? Mat3<Real>::zero() : (yields ? displacement_gradient_of(mapped.F) : trial);
    displacement_gradient[i] = H;
    energy[i] = alone ? Real(0) : mapped.energy;
    const std::uint32_t load = (tension ? loading_tension : 0u) | (yields ? loading_flows : 0u);
    loading[i] = load;
    if constexpr (Memory) {
      const Real held = held_misfit(local.misfit, load == loading_flows ? Real(0) : response.yield_strain, n.spread);
      energy[i] += misfit_penalty(step, local.misfit, held).energy;
      if (!yields && held == Real(1)) return;
      const Mat3<Real> back = inverse(Mat3<Real>::identity() + H);
      const Mat3<Real> plastic = back * (trial - H);  // F^-1 F_trial - I
      flowed[i] += norm(plastic);
      const Vec3<Real> x = xyz(position[i]) + xyz(increment[i]);
      for (std::uint32_t s = pairs.start[i]; s < pairs.start[i + 1]; ++s) {
        const std::uint32_t j = pairs.index[s];
        const Vec3<Real> old = xyz(pair[s]);
        const Vec3<Real> p = old + plastic * old;
        const Vec3<Real> e = (xyz(position[j]) + xyz(increment[j]) - x) - old - trial * old;
        pair[s] = padded(p + back * ((Real(1) - held) * e), pair[s][3]);
      }
    }
  }
  static Mat3<Real> displacement_gradient_of(const Mat3<Real>& F) { return F - Mat3<Real>::identity(); }
};

/// Energy density of the present state, without the zero-energy part.
template <class Real, class Material>
struct EvaluateEnergy {
  const Mat3<Real>* displacement_gradient;
  Material material;
  std::size_t first;
  Real* energy;

  void operator()(std::size_t item) const {
    energy[first + item] = material.energy(displacement_gradient[first + item], first + item);
  }
};

template <class Real, class Material>
struct PresentStress {
  const Mat3<Real>* displacement_gradient;
  Material material;
  std::size_t first;
  Mat3<Real>* stress;  // Cauchy

  void operator()(std::size_t item) const {
    const std::size_t i = first + item;
    const Mat3<Real> H = displacement_gradient[i];
    stress[i] = cauchy_stress(material.kirchhoff(H, i), Real(1) + volume_change(H).j);
  }
};

/// Smoothing of the velocities by what pairs exchange. One colour of blocks; adds to `target`. Pairs says of each
/// particle what it takes from which neighbour, who gives it, so that the sum is kept whatever the lists.
template <class Real, class Pairs>
struct SmoothVelocities {
  Pairs pairs;
  const Vec4<Real>* position;
  ColourBlocks blocks;
  Vec4<Real>* target;
  Vec4<Real>* held;  // what it did to particles of infinite mass; null: not wanted

  static constexpr bool heavy = true;

  void operator()(std::size_t block) const {
    for (std::uint32_t slot = blocks.begin(block); slot < blocks.end(block); ++slot) {
      const std::size_t i = blocks.member[slot];
      Vec4<Real> own(Real(0), Real(0), Real(0), Real(0));
      pairs.for_each(i, [&](std::size_t j, const Vec4<Real>& push) {
        own += push;
        move(j, push * Real(-1));
      });
      move(i, own);
    }
  }

 private:
  void move(std::size_t i, const Vec4<Real>& push) const {
    const Real inverse_mass = position[i][3];
    target[i] += push * inverse_mass;
    if (held != nullptr && inverse_mass == Real(0)) held[i] += push;
  }
};

/// XSPH of P1 (eq. 20): every ordered pair exchanges half of its momentum. Printed is the present volume V_b^n of the
/// neighbour; the mean of the two volumes at rest stands here, so that what one particle of a pair gains the other one
/// loses (momentum is kept between particles of different size, or of different compression), and so that the strength
/// of the smoothing does not follow the elastic volume. For equal particles near their rest volume it is the same.
template <class Real, class Smoothing>
struct WholeVelocities {
  const std::uint32_t* start;
  const std::uint32_t* index;
  const Vec4<Real>* position;
  const Vec4<Real>* rest;
  const Real* reach;
  Smoothing smoothing;  // of support 1
  Real strength;
  const Vec4<Real>* increment;

  template <class Visit>
  void for_each(std::size_t i, const Visit& visit) const {
    const Vec4<Real> x = position[i], d = increment[i];
    const Real inverse = Real(1) / reach[i], scale = strength * square(inverse) * inverse;
    for (std::uint32_t s = start[i]; s < start[i + 1]; ++s) {
      const std::uint32_t j = index[s];
      const Vec4<Real> xj = position[j];
      const Real mobility = x[3] + xj[3];
      const Real r = norm(xyz(xj - x)) * inverse;
      if (!(r < Real(1)) || mobility == Real(0)) continue;
      const Real part = Real(0.5) * scale * (rest[i][3] + rest[j][3]) * smoothing.value(r) / mobility;
      visit(j, (increment[j] - d) * part);
    }
  }
};

/// What the neighbours of a particle do beside their common motion, e = y_b - y_p - G x_pb. As G is the best fit,
/// sum_b w e (x) p = 0, pairs exchange no angular momentum but for their misfits, and an affine motion, a spin above
/// all, is left as it is.
template <class Real>
struct VelocityDeviations {
  PairList<Real, true> pairs;
  const Neighborhood<Real, true>* neighborhood;
  const Vec4<Real>* position;
  const Mat3<Real>* displacement_gradient;  // F^n - I
  const Real* radius;                       // half a spacing
  Real strength;                            // that goes in the time of a wave through one spacing
  Real way;                                 // of a wave in a step
  const Vec4<Real>* increment;

  template <class Visit>
  void for_each(std::size_t i, const Visit& visit) const {
    const Vec4<Real> x = position[i], d = increment[i];
    const Mat3<Real> H = displacement_gradient[i];
    const Neighborhood<Real, true> n = neighborhood[i];
    Mat3<Real> G = local_step<Real, true>(pairs, position, increment, H, n, i).deformation.G;
    // Of the unloaded shape it acts on unloaded pairs; where the body is not crushed, it can act on present ones.
    const bool present = n.current == Real(1) || volume_change(H).j > Real(-0.9);
    if (present && n.current == Real(0)) G = G * inverse(Mat3<Real>::identity() + H);
    Real weights = Real(0), lightest = x[3];
    for (std::uint32_t s = pairs.start[i]; s < pairs.start[i + 1]; ++s) {
      weights += pairs.pair[s][3];
      lightest = sycl::fmax(lightest, position[pairs.index[s]][3]);
    }
    if (!(weights * lightest > Real(0))) return;
    // Both directions of a pair exchange half of it, each half of that by moving either end.
    const Real in_step = sycl::fmin(strength * way / (Real(2) * radius[i]), Real(1));
    const Real part = Real(0.25) * in_step / (weights * lightest);
    for (std::uint32_t s = pairs.start[i]; s < pairs.start[i + 1]; ++s) {
      const std::uint32_t j = pairs.index[s];
      const Vec4<Real> pair = pairs.pair[s];
      const Vec3<Real> common = G * xyz(present ? position[j] - x : pair);
      visit(j, (increment[j] - d - padded(common)) * (part * pair[3]));
    }
  }
};

/// target += source
template <class Real>
struct AddVectors {
  const Vec4<Real>* source;
  Vec4<Real>* target;

  void operator()(std::size_t i) const { target[i] = padded(xyz(target[i]) + xyz(source[i])); }
};

/// Largest of a list of numbers that are not negative.
template <class Real>
struct Largest {
  Real value;

  static Largest identity() { return {Real(0)}; }
  void combine(const Largest& other) { value = sycl::fmax(value, other.value); }
};

template <class Real>
struct LargestOf {
  const Real* values;

  Largest<Real> operator()(std::size_t i) const { return {values[i]}; }
};

}  // namespace ductile
