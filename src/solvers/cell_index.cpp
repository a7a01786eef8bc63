#include "solvers/cell_index.hpp"

#include <algorithm>
#include <bit>
#include <limits>

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

template <class Real>
CellIndex<Real>::CellIndex(Queue& queue, const DeviceArray<Vec4<Real>>& position, Real width)
    : width_(width), position_(position.data()) {
  const std::size_t n = position.size();
  const auto bounds = reduce<Bounds<Real>>(queue, "neighbors.bounds", n, PositionBounds<Real>{position.data()});
  if (!bounds.finite) throw SimulationError("A particle's position is not a number: the simulation diverged.");
  grid_ = make_grid(bounds, width, n);

  member_ = {queue, n};
  first_ = {queue, grid_.buckets + 1};
  sort_into_buckets(queue, "neighbors.cells", grid_, position.data(), {0, n}, first_, member_);
  sorted_ = {queue, n};
  launch(queue, "neighbors.cells", n, GatherPositions<Real>{member_.data(), position.data(), sorted_.data()});
  queue.wait();
}

template class CellIndex<float>;
template class CellIndex<double>;

}  // namespace ductile
