#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/smoothing/kernels.hpp"
#include "scene/scene.hpp"

namespace ductile {

/// Calls use(kernel) with the smoothing kernel of the given support radius.
template <class Real, class Use>
void with_smoothing(scene::SmoothingKernel kernel, Real support, const Use& use) {
  switch (kernel) {
    case scene::SmoothingKernel::wendland:
      return use(Wendland<Real, 3>(support));
    case scene::SmoothingKernel::poly6:
      return use(Poly6<Real, 3>(support));
    case scene::SmoothingKernel::spiky:
      return use(Spiky<Real, 3>(support));
    case scene::SmoothingKernel::cubic:
      return use(CubicSpline<Real, 3>(support));
    case scene::SmoothingKernel::cosine:
      return use(Cosine<Real, 3>(support));
  }
}

/// Sums over a lattice, for a kernel whose support is given in spacings.
struct LatticeSums {
  double density = 0;  // of V W
  double moment = 0;   // of w p p^T: this times the identity, about 1 for wide supports
};

template <class Smoothing>
LatticeSums lattice_sums(const Smoothing& smoothing, double support) {
  const int most = int(support);
  LatticeSums sums;
  for (int x = -most; x <= most; ++x)
    for (int y = -most; y <= most; ++y)
      for (int z = -most; z <= most; ++z) {
        const double r = std::sqrt(double(x * x + y * y + z * z));
        sums.density += smoothing.value(r);
        if (r > 0 && r < support) sums.moment -= smoothing.gradient_factor(r) * double(x * x);
      }
  return sums;
}

[[nodiscard]] inline LatticeSums lattice_sums(const scene::Smoothing& smoothing) {
  LatticeSums sums;
  with_smoothing<double>(smoothing.kernel, smoothing.support,
                         [&](auto kernel) { sums = lattice_sums(kernel, smoothing.support); });
  return sums;
}

/// Part of its energy that a held particle counts, so that a lattice is clamped half a spacing behind the outermost
/// layer that is held; the penalty would hold it in front of that (docs/total_lagrangian.md, walls). With wide supports
/// free faces are softer by more than that, and all energy counts.
[[nodiscard]] inline double held_part(const scene::Solver& solver) {
  constexpr double compact = 1.75;  // spacings: nearest and diagonal neighbours
  if (solver.smoothing.support > compact) return 1;
  const double z = std::min(solver.hourglass * lattice_sums(solver.smoothing).moment, 1.0), q = std::sqrt(z);
  return 1 - q * (1 + q) * (1 + q) / ((2 + q) * (1 + z));
}

}  // namespace ductile
