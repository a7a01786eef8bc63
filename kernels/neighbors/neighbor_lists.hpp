#pragma once

#include <sycl/sycl.hpp>

#include <cstddef>
#include <cstdint>

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
  const Vec4<Real>* position;
  Accept accept;
  const std::uint32_t* start;
  const std::uint32_t* member;
  const Vec4<Real>* sorted;
  std::int64_t rings = 1;  // of cells around a particle's own; one is enough for a radius of a cell's width

  /// Explicit fused operations: the same bits in every kernel and for (i, j) as for (j, i), so lists are symmetric.
  static Real squared_distance(const Vec4<Real>& a, const Vec4<Real>& b) {
    const Real x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return sycl::fma(x, x, sycl::fma(y, y, z * z));
  }

  template <class Visit>
  void for_each(std::size_t i, const Visit& visit) const {
    const Vec4<Real> center = position[i];
    const auto cell = grid.cell(center);
    const auto scan = [&](std::uint32_t first, std::uint32_t last, const auto& in_cell) {
      for (std::uint32_t slot = first; slot < last; ++slot) {
        if (!(squared_distance(center, sorted[slot]) < squared_radius)) continue;
        const std::uint32_t j = member[slot];
        if (j != i && in_cell(slot) && accept(i, j)) visit(j);
      }
    };
    for (std::int64_t z = cell.z - rings; z <= cell.z + rings; ++z) {
      for (std::int64_t y = cell.y - rings; y <= cell.y + rings; ++y) {
        if (grid.hashed) {
          for (std::int64_t x = cell.x - rings; x <= cell.x + rings; ++x) {
            const typename CellGrid<Real>::Cell wanted{x, y, z};
            const std::uint32_t b = grid.bucket(wanted);
            // Other cells may share the bucket.
            scan(start[b], start[b + 1], [&](std::uint32_t slot) { return grid.cell(sorted[slot]) == wanted; });
          }
        } else if (z >= 0 && z < grid.cells_z && y >= 0 && y < grid.cells_y) {
          const std::int64_t left = cell.x > rings ? cell.x - rings : 0;
          const std::int64_t right = cell.x + rings < grid.cells_x ? cell.x + rings : grid.cells_x - 1;
          scan(start[grid.bucket({left, y, z})], start[grid.bucket({right, y, z}) + 1],
               [](std::uint32_t) { return true; });
        }
      }
    }
  }
};

template <class Real, class Accept>
struct CountNeighbors {
  NeighborSearch<Real, Accept> search;
  std::uint32_t* count;

  void operator()(std::size_t i) const {
    std::uint32_t found = 0;
    search.for_each(i, [&](std::uint32_t) { ++found; });
    count[i] = found;
  }
};

template <class Real, class Accept>
struct FillNeighbors {
  NeighborSearch<Real, Accept> search;
  const std::uint32_t* first;
  std::uint32_t* neighbor;

  void operator()(std::size_t i) const {
    std::uint32_t slot = first[i];
    search.for_each(i, [&](std::uint32_t j) { neighbor[slot++] = j; });
  }
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
