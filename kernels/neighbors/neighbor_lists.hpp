#pragma once

#include <sycl/sycl.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/math/scalar.hpp"
#include "kernels/neighbors/cell_grid.hpp"

namespace ductile {

/// Every pair counts.
struct AnyPair {
  bool operator()(std::size_t, std::uint32_t) const { return true; }
};

/// Only pairs of one group.
struct SameGroup {
  const std::uint32_t* group;

  bool operator()(std::size_t i, std::uint32_t j) const { return group[i] == group[j]; }
};

/// Calls visit(j) for every j != i within the radius of particle i that is accepted; accept(i, j) = accept(j, i).
template <class Real, class Accept>
struct NeighborSearch {
  CellGrid<Real> grid;
  Real squared_radius;
  Real reach;  // the radius in cells, or a little more
  const Vec4<Real>* position;
  Accept accept;
  const std::uint32_t* start;
  const std::uint32_t* member;
  const Vec4<Real>* sorted;

  /// Explicit fused operations: the same bits in every kernel and for (i, j) as for (j, i), so lists are symmetric.
  static Real squared_distance(const Vec4<Real>& a, const Vec4<Real>& b) {
    const Real x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return sycl::fma(x, x, sycl::fma(y, y, z * z));
  }

  template <class Visit>
  void for_each(std::size_t i, const Visit& visit) const {
    const Vec4<Real> center = position[i];
    const auto scan = [&](std::uint32_t first, std::uint32_t last, const auto& in_cell) {
      for (std::uint32_t slot = first; slot < last; ++slot) {
        if (!(squared_distance(center, sorted[slot]) < squared_radius)) continue;
        const std::uint32_t j = member[slot];
        if (j != i && in_cell(slot) && accept(i, j)) visit(j);
      }
    };
    if (!grid.hashed) {
      for_each_row(center, [&](std::uint32_t first, std::uint32_t last) {
        scan(first, last, [](std::uint32_t) { return true; });
      });
      return;
    }
    const auto cell = grid.cell(center);
    const auto rings = std::int64_t(sycl::ceil(reach));
    for (std::int64_t z = cell.z - rings; z <= cell.z + rings; ++z)
      for (std::int64_t y = cell.y - rings; y <= cell.y + rings; ++y)
        for (std::int64_t x = cell.x - rings; x <= cell.x + rings; ++x) {
          const typename CellGrid<Real>::Cell wanted{x, y, z};
          const std::uint32_t b = grid.bucket(wanted);
          // Other cells may share the bucket.
          scan(start[b], start[b + 1], [&](std::uint32_t slot) { return grid.cell(sorted[slot]) == wanted; });
        }
  }

  /// How many for_each() visits.
  std::uint32_t count(std::size_t i) const {
    std::uint32_t found = 0;
    if constexpr (std::is_same_v<Accept, AnyPair>) {
      if (!grid.hashed) {
        const Vec4<Real> center = position[i];
        for_each_row(center, [&](std::uint32_t first, std::uint32_t last) {
          for (std::uint32_t slot = first; slot < last; ++slot)
            found += squared_distance(center, sorted[slot]) < squared_radius ? 1u : 0u;
        });
        return found - 1;  // the particle itself
      }
    }
    for_each(i, [&](std::uint32_t) { ++found; });
    return found;
  }

  /// Writes what for_each() visits, `count` neighbours. Without a branch per candidate, of which half are neighbours:
  /// the next one overwrites a stranger.
  void list(std::size_t i, std::uint32_t count, std::uint32_t* neighbor) const {
    std::uint32_t found = 0;
    if constexpr (std::is_same_v<Accept, AnyPair>) {
      if (!grid.hashed) {
        const Vec4<Real> center = position[i];
        for_each_row(center, [&](std::uint32_t first, std::uint32_t last) {
          for (std::uint32_t slot = first; slot < last && found < count; ++slot) {
            const std::uint32_t j = member[slot];
            neighbor[found] = j;
            found += static_cast<std::uint32_t>((squared_distance(center, sorted[slot]) < squared_radius) & (j != i));
          }
        });
        return;
      }
    }
    for_each(i, [&](std::uint32_t j) { neighbor[found++] = j; });
  }

 private:
  /// Calls visit(first, last) with the slots of every row of cells in x that the ball of the radius can touch.
  template <class Visit>
  void for_each_row(const Vec4<Real>& center, const Visit& visit) const {
    const Vec3<Real> at = grid.in_cells(center);
    const auto from = [](Real x) { return x > Real(0) ? std::int64_t(x) : 0; };
    const auto to = [](Real x, std::int64_t cells) { return sycl::min(std::int64_t(x), cells - 1); };
    // Distance of a coordinate from the cell with this number.
    const auto gap = [](Real x, std::int64_t cell) {
      return sycl::fmax(sycl::fmax(Real(cell) - x, x - Real(cell + 1)), Real(0));
    };
    const std::int64_t last_z = to(at.z + reach, grid.cells_z), last_y = to(at.y + reach, grid.cells_y);
    for (std::int64_t z = from(at.z - reach); z <= last_z; ++z) {
      const Real left = square(reach) - square(gap(at.z, z));
      for (std::int64_t y = from(at.y - reach); y <= last_y; ++y) {
        const Real squared = left - square(gap(at.y, y));
        if (!(squared >= Real(0))) continue;
        const Real half = sycl::sqrt(squared);
        const std::int64_t row = (z * grid.cells_y + y) * grid.cells_x;
        visit(start[row + from(at.x - half)], start[row + to(at.x + half, grid.cells_x) + 1]);
      }
    }
  }
};

template <class Real, class Accept>
struct CountNeighbors {
  NeighborSearch<Real, Accept> search;
  std::uint32_t* number;

  void operator()(std::size_t i) const { number[i] = search.count(i); }
};

template <class Real, class Accept>
struct FillNeighbors {
  NeighborSearch<Real, Accept> search;
  const std::uint32_t* first;
  std::uint32_t* neighbor;

  void operator()(std::size_t i) const { search.list(i, first[i + 1] - first[i], neighbor + first[i]); }
};

/// Number of all pairs, which may be more than a list can hold.
struct PairTotal {
  std::uint64_t pairs;

  static PairTotal identity() { return {0}; }
  void combine(const PairTotal& other) { pairs += other.pairs; }
};

struct PairsOf {
  const std::uint32_t* count;

  PairTotal operator()(std::size_t i) const { return {count[i]}; }
};

/// Smallest and largest coordinates; also the test whether all are numbers.
template <class Real>
struct Bounds {
  Vec3<Real> low, high;
  bool finite;

  static Bounds identity() {
    constexpr Real largest = sizeof(Real) == 4 ? Real(3.4e38f) : Real(1.7e308);
    return {{largest, largest, largest}, {-largest, -largest, -largest}, true};
  }
  void combine(const Bounds& other) {
    low = {sycl::fmin(low.x, other.low.x), sycl::fmin(low.y, other.low.y), sycl::fmin(low.z, other.low.z)};
    high = {sycl::fmax(high.x, other.high.x), sycl::fmax(high.y, other.high.y), sycl::fmax(high.z, other.high.z)};
    finite = finite && other.finite;
  }
};

template <class Real>
struct PositionBounds {
  const Vec4<Real>* position;

  Bounds<Real> operator()(std::size_t i) const {
    const Vec3<Real> x = xyz(position[i]);
    return {x, x, sycl::isfinite(x.x) && sycl::isfinite(x.y) && sycl::isfinite(x.z)};
  }
};

}  // namespace ductile
