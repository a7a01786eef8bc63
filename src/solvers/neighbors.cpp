#include "solvers/neighbors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/neighbors/neighbor_lists.hpp"
#include "runtime/algorithms.hpp"

namespace ductile {

namespace {

template <class Real>
CellGrid<Real> make_grid(const Bounds<Real>& bounds, Real radius, std::size_t particles) {
  const double extent =
      std::max({double(bounds.high.x) - double(bounds.low.x), double(bounds.high.y) - double(bounds.low.y),
                double(bounds.high.z) - double(bounds.low.z)});
  // A cell's number is rounded to about epsilon times the number of cells: widen the cells by more than that.
  const double rounding = 8 * double(std::numeric_limits<Real>::epsilon()) * extent / double(radius);
  const double width = double(radius) * (1.0001 + rounding);
  const auto cells = [&](Real low, Real high) { return std::int64_t((double(high) - double(low)) / width) + 2; };
  CellGrid<Real> grid{};
  grid.origin = bounds.low;
  grid.inverse_width = Real(1 / width);
  grid.cells_x = cells(bounds.low.x, bounds.high.x);
  grid.cells_y = cells(bounds.low.y, bounds.high.y);
  grid.cells_z = cells(bounds.low.z, bounds.high.z);
  const double dense = double(grid.cells_x) * double(grid.cells_y) * double(grid.cells_z);
  grid.hashed = dense > 4 * double(particles) + 4096;
  grid.buckets = grid.hashed ? std::bit_ceil(std::uint32_t(2 * particles + 1)) : std::uint32_t(dense);
  return grid;
}

}  // namespace

template <class Real, class Accept>
NeighborLists find_neighbors(Queue& queue, const DeviceArray<Vec4<Real>>& position, Real radius, const Accept& accept) {
  const std::size_t n = position.size();
  NeighborLists lists;
  lists.start = DeviceArray<std::uint32_t>(queue, n + 1);
  if (n == 0) {
    lists.start.fill(0);
    return lists;
  }
  const auto bounds = reduce<Bounds<Real>>(queue, "neighbors.bounds", n, PositionBounds<Real>{position.data()});
  if (!bounds.finite) throw SimulationError("A particle's position is not a number: the simulation diverged.");
  const auto grid = make_grid(bounds, radius, n);

  DeviceArray<std::uint32_t> bucket(queue, n), member(queue, n), first(queue, grid.buckets + 1);
  DeviceArray<std::uint32_t> cursor(queue, grid.buckets + 1);
  first.clear_bytes();
  launch(queue, "neighbors.cells", n, CountCells<Real>{grid, position.data(), bucket.data(), first.data()});
  exclusive_scan(queue, "neighbors.cells", first.data(), first.data(), grid.buckets);
  queue.native().memcpy(cursor.data(), first.data(), first.size() * sizeof(std::uint32_t));
  launch(queue, "neighbors.cells", n, FillCells{bucket.data(), cursor.data(), member.data()});
  launch(queue, "neighbors.cells", grid.buckets, SortCells{first.data(), member.data()});
  DeviceArray<Vec4<Real>> sorted(queue, n);
  launch(queue, "neighbors.cells", n, GatherPositions<Real>{member.data(), position.data(), sorted.data()});

  const NeighborSearch<Real, Accept> search{grid,         radius * radius, position.data(), accept,
                                            first.data(), member.data(),   sorted.data()};
  launch(queue, "neighbors.count", n, CountNeighbors<Real, Accept>{search, lists.start.data()});
  const auto total = reduce<PairTotal>(queue, "neighbors.scan", n, PairsOf{lists.start.data()}).pairs;
  if (total > std::numeric_limits<std::uint32_t>::max())
    throw SimulationError(
        fmt::format("{} particles have {} neighbour relations within {:g} m, more than a list can hold: "
                    "the support is too wide for the spacing, or particles have collapsed into a point.",
                    n, total, double(radius)));
  exclusive_scan(queue, "neighbors.scan", lists.start.data(), lists.start.data(), n);
  lists.index = DeviceArray<std::uint32_t>(queue, total);
  launch(queue, "neighbors.fill", n, FillNeighbors<Real, Accept>{search, lists.start.data(), lists.index.data()});
  queue.wait();
  return lists;
}

#define DUCTILE_INSTANTIATE(Real, Accept) \
  template NeighborLists find_neighbors<Real, Accept>(Queue&, const DeviceArray<Vec4<Real>>&, Real, const Accept&);
DUCTILE_INSTANTIATE(float, AnyPair)
DUCTILE_INSTANTIATE(float, SameGroup)
DUCTILE_INSTANTIATE(float, MayTouch<float>)
DUCTILE_INSTANTIATE(double, AnyPair)
DUCTILE_INSTANTIATE(double, SameGroup)
DUCTILE_INSTANTIATE(double, MayTouch<double>)
#undef DUCTILE_INSTANTIATE

}  // namespace ductile
