#include "solvers/cell_index.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

#include "runtime/algorithms.hpp"

namespace ductile {

namespace {

/// With the number of cells per radius, but for an allowance: the finest of these that has a place for each cell: half
/// the radius wide, so that few particles outside it are looked at; as wide as the radius; the same, hashed.
template <class Real>
std::pair<CellGrid<Real>, Real> make_grid(const Bounds<Real>& bounds, Real radius, std::size_t particles) {
  const std::array sizes = {double(bounds.high.x) - double(bounds.low.x), double(bounds.high.y) - double(bounds.low.y),
                            double(bounds.high.z) - double(bounds.low.z)};
  const double extent = *std::max_element(sizes.begin(), sizes.end());
  // A distance in cells is rounded to about epsilon times the number of cells: widen the cells by more than that.
  const double rounding = 8 * double(std::numeric_limits<Real>::epsilon()) * extent / double(radius);
  CellGrid<Real> grid{};
  grid.origin = bounds.low;
  // As particles are laid out: along the middle extent, in rows along the shortest and layers along the longest.
  std::array axes = {0, 1, 2};
  std::stable_sort(axes.begin(), axes.end(),
                   [&](int a, int b) { return sizes[std::size_t(a)] > sizes[std::size_t(b)]; });
  std::rotate_copy(axes.begin(), axes.begin() + 1, axes.end(), grid.axis);
  double parts = 2;
  for (;; parts = 1) {
    const double width = double(radius) / parts * (1.0001 + parts * rounding);
    const auto cells = [&](int axis) { return std::int64_t(std::min(sizes[std::size_t(axis)] / width, 1e15)) + 2; };
    grid.inverse_width = Real(1 / width);
    grid.cells_x = cells(grid.axis[0]);
    grid.cells_y = cells(grid.axis[1]);
    grid.cells_z = cells(grid.axis[2]);
    const double dense = double(grid.cells_x) * double(grid.cells_y) * double(grid.cells_z);
    grid.hashed = dense > (parts == 1 ? 32 : 8) * double(particles) + 4096;
    grid.buckets = grid.hashed ? std::bit_ceil(std::uint32_t(2 * particles + 1)) : std::uint32_t(dense);
    if (!grid.hashed || parts == 1) break;
  }
  return {grid, Real(parts)};
}

}  // namespace

template <class Real>
CellIndex<Real>::CellIndex(Queue& queue, const DeviceArray<Vec4<Real>>& position, Real radius)
    : radius_(radius), particles_(position.size()), position_(position.data()) {
  const std::size_t n = particles_, behind = SortedPositions<Real>::behind;
  const auto bounds = reduce<Bounds<Real>>(queue, "neighbors.bounds", n, PositionBounds<Real>{position.data()});
  if (!bounds.finite) throw SimulationError("A particle's position is not a number: the simulation diverged.");
  std::tie(grid_, parts_) = make_grid(bounds, radius, n);

  member_ = {queue, n + behind};
  first_ = {queue, grid_.buckets + 1};
  sort_into_buckets(queue, "neighbors.cells", grid_, position.data(), {0, n}, first_, member_);
  sorted_ = {queue, 3 * n + behind};
  launch(queue, "neighbors.cells", n, SortPositions<Real>{member_.data(), position.data(), {sorted_.data(), n}});
  queue.wait();
}

template class CellIndex<float>;
template class CellIndex<double>;

}  // namespace ductile
