#pragma once

#include "kernels/neighbors/neighbor_lists.hpp"
#include "kernels/xpbi/sweep.hpp"

namespace ductile {

/// Lists of pair memory as they are.
template <class Real>
struct StoredPairs {
  const std::uint32_t* start;
  const std::uint32_t* index;
  const Vec4<Real>* pair;

  /// Slot of the pair (i, j), or the end of i's list.
  std::uint32_t find(std::size_t i, std::uint32_t j) const {
    std::uint32_t s = start[i];
    while (s < start[i + 1] && index[s] != j) ++s;
    return s;
  }
};

/// What a particle that chooses its neighbours anew sees: every particle at its unloaded distance F^-1 x_pb; pairs it
/// knows keep their memory as long as it is pulled.
template <class Real>
struct NewNeighbors {
  NeighborSearch<Real, AnyPair> search;
  StoredPairs<Real> stored;
  const Vec4<Real>* position;
  const Mat3<Real>* displacement_gradient;
  const std::uint32_t* loading;
  const std::uint32_t* may_join;  // 0 for particles that only their own body's lists hold; null: all may

  template <class Visit>
  void for_each(std::size_t i, Real reach, const Visit& visit) const {
    const Mat3<Real> back = inverse(Mat3<Real>::identity() + displacement_gradient[i]);
    const bool keep = (loading[i] & loading_tension) != 0;
    const Vec3<Real> x = xyz(position[i]);
    search.for_each(i, [&](std::uint32_t j) {
      if (may_join != nullptr && may_join[j] == 0) return;
      Vec3<Real> p = back * (xyz(position[j]) - x);
      if (keep) {
        const std::uint32_t s = stored.find(i, j);
        if (s < stored.start[i + 1]) p = xyz(stored.pair[s]);
      }
      // The rim has no weight; coincident particles no direction.
      const Real r = squared_norm(p) / square(reach);
      if (r < Real(0.999996) && r > Real(1e-12)) visit(j, p);
    });
  }
};

/// Marks particles that have to choose anew: they flowed, or a stranger came close.
template <class Real>
struct MarkStale {
  StoredPairs<Real> stored;
  NeighborSearch<Real, AnyPair> search;
  const Vec4<Real>* position;
  const Real* radius;
  const std::uint32_t* loading;
  const std::uint32_t* may_join;
  Real in_tension, in_compression;  // plastic strain
  Real near;                        // spacings; 0: strangers are not looked for
  const Real* flowed;
  std::size_t first;
  std::uint32_t* stale;

  void operator()(std::size_t item) const {
    const std::size_t i = first + item;
    const bool pulled = (loading[i] & loading_tension) != 0;
    bool found = flowed[i] > (pulled ? in_tension : in_compression);
    if (!found && near > Real(0)) {
      const Vec3<Real> x = xyz(position[i]);
      search.for_each(i, [&](std::uint32_t j) {
        const Real limit = near * (radius[i] + radius[j]);
        if (!found && squared_norm(xyz(position[j]) - x) < square(limit) && (may_join == nullptr || may_join[j] != 0))
          found = stored.find(i, j) == stored.start[i + 1];
      });
    }
    stale[i] = found ? 1u : 0u;
  }
};

/// Support of a particle that chooses anew: in tension it grows until the neighbours span space.
template <class Real, class Smoothing>
struct ChooseReach {
  NewNeighbors<Real> neighbors;
  const std::uint32_t* stale;
  const Vec4<Real>* rest;
  Smoothing smoothing;  // of support 1
  Real base;            // support in radii
  const Real* radius;
  Real growth, most, enough;
  std::size_t first;
  Real* reach;

  void operator()(std::size_t item) const {
    const std::size_t i = first + item;
    if (stale[i] == 0) return;
    const Real least = base * radius[i];
    Real chosen = least;
    if ((neighbors.loading[i] & loading_tension) != 0)
      while (chosen < most * least && smallest_spread(i, chosen) < enough)
        chosen = sycl::fmin(chosen * growth, most * least * Real(1.0001));
    reach[i] = chosen;
  }

 private:
  Real smallest_spread(std::size_t i, Real support) const {
    const Real inverse = Real(1) / support, scale = -square(square(inverse)) * inverse;
    Sym3<Real> spread = Sym3<Real>::zero();
    neighbors.for_each(i, support, [&](std::uint32_t j, const Vec3<Real>& p) {
      spread.add_square(p, scale * rest[j][3] * smoothing.gradient_factor(norm(p) * inverse));
    });
    return symmetric_eigenvalues(spread.full()).z;
  }
};

template <class Real>
struct CountNewPairs {
  NewNeighbors<Real> neighbors;
  const std::uint32_t* stale;  // null: every particle is
  const Real* reach;
  std::uint32_t* count;

  void operator()(std::size_t i) const {
    std::uint32_t found = 0;
    if (stale[i] == 0)
      found = neighbors.stored.start[i + 1] - neighbors.stored.start[i];
    else
      neighbors.for_each(i, reach[i], [&](std::uint32_t, const Vec3<Real>&) { ++found; });
    count[i] = found;
  }
};

template <class Real, class Smoothing>
struct FillNewPairs {
  NewNeighbors<Real> neighbors;
  const std::uint32_t* stale;
  const Real* reach;
  const Vec4<Real>* rest;
  Smoothing smoothing;  // of support 1
  const std::uint32_t* start;
  std::uint32_t* index;
  Vec4<Real>* pair;
  Real* flowed;

  void operator()(std::size_t i) const {
    std::uint32_t slot = start[i];
    if (stale[i] == 0) {
      for (std::uint32_t s = neighbors.stored.start[i]; s < neighbors.stored.start[i + 1]; ++s, ++slot) {
        index[slot] = neighbors.stored.index[s];
        pair[slot] = neighbors.stored.pair[s];
      }
      return;
    }
    const Real inverse = Real(1) / reach[i], scale = -square(square(inverse)) * inverse;
    // Compilers may round p differently here and in CountNewPairs: a pair at the rim, which has no weight, may be left
    // out, or missing, and is then the particle itself.
    const std::uint32_t end = start[i + 1];
    neighbors.for_each(i, reach[i], [&](std::uint32_t j, const Vec3<Real>& p) {
      if (slot == end) return;
      index[slot] = j;
      pair[slot] = padded(p, scale * rest[j][3] * smoothing.gradient_factor(norm(p) * inverse));
      ++slot;
    });
    for (; slot < end; ++slot) {
      index[slot] = std::uint32_t(i);
      pair[slot] = padded(Vec3<Real>::zero());
    }
    flowed[i] = Real(0);
  }
};

/// Weights of what flows under pressure. Its pair vectors follow the places, p = F^-1 x_pb; with weights of earlier
/// vectors the gradient would not be that of a kernel, and disorder that no gradient sees would grow: confined dough
/// loses half of its pressure so.
template <class Real, class Smoothing>
struct WeighCrushedPairs {
  const std::uint32_t* start;
  const std::uint32_t* index;
  const std::uint32_t* loading;
  const Vec4<Real>* rest;
  const Real* reach;
  Smoothing smoothing;  // of support 1
  std::size_t first;
  Vec4<Real>* pair;

  void operator()(std::size_t item) const {
    const std::size_t i = first + item;
    if (loading[i] != loading_flows) return;
    const Real inverse = Real(1) / reach[i], scale = -square(square(inverse)) * inverse;
    for (std::uint32_t s = start[i]; s < start[i + 1]; ++s) {
      const Vec3<Real> p = xyz(pair[s]);
      const Real r = norm(p) * inverse;
      const bool inside = r < Real(1) && index[s] != i;
      pair[s] = padded(p, inside ? scale * rest[index[s]][3] * smoothing.gradient_factor(r) : Real(0));
    }
  }
};

/// p_pb and V_b (-W'(r)/r) of the rest lists.
template <class Real, class Smoothing>
struct WeighRestPairs {
  const std::uint32_t* start;
  const std::uint32_t* index;
  const Vec4<Real>* rest;
  const Real* reach;
  Smoothing smoothing;  // of support 1
  Vec4<Real>* pair;

  void operator()(std::size_t i) const {
    const Vec3<Real> center = xyz(rest[i]);
    const Real inverse = Real(1) / reach[i], scale = -square(square(inverse)) * inverse;
    for (std::uint32_t s = start[i]; s < start[i + 1]; ++s) {
      const Vec4<Real> other = rest[index[s]];
      const Vec3<Real> p = xyz(other) - center;
      pair[s] = padded(p, scale * other[3] * smoothing.gradient_factor(norm(p) * inverse));
    }
  }
};

}  // namespace ductile
