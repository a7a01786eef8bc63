#pragma once

#include <cstdint>

#include "kernels/neighbors/neighbor_lists.hpp"
#include "runtime/algorithms.hpp"
#include "runtime/device_array.hpp"
#include "runtime/launch.hpp"
#include "solvers/particles.hpp"

namespace ductile {

/// Counting sort of a range of particles into the buckets of a grid, each bucket in the order of the particles.
/// `start` has one place more than there are buckets.
template <class Real, class Grid>
void sort_into_buckets(Queue& queue, const char* name, const Grid& grid, const Vec4<Real>* position, Range range,
                       DeviceArray<std::uint32_t>& start, DeviceArray<std::uint32_t>& member) {
  const std::size_t buckets = start.size() - 1;
  const auto first = std::uint32_t(range.first);
  DeviceArray<std::uint32_t> bucket(queue, range.count), cursor(queue, start.size());
  start.clear_bytes();
  launch(queue, name, range.count, CountCells<Real, Grid>{grid, position, first, bucket.data(), start.data()});
  exclusive_scan(queue, name, start.data(), start.data(), buckets);
  queue.native().memcpy(cursor.data(), start.data(), start.size() * sizeof(std::uint32_t));
  launch(queue, name, range.count, FillCells{bucket.data(), cursor.data(), first, member.data()});
  launch(queue, name, buckets, SortCells{start.data(), member.data()});
  queue.wait();  // the arrays of this function end here
}

/// Particles sorted into cells, for searches around a particle.
template <class Real>
class CellIndex {
 public:
  /// `radius`: of the usual search; wider ones look at more cells. Throws SimulationError for positions that are not
  /// finite.
  CellIndex(Queue& queue, const DeviceArray<Vec4<Real>>& position, Real radius);

  /// All particles within `radius`.
  template <class Accept = AnyPair>
  [[nodiscard]] NeighborSearch<Real, Accept> within(Real radius, const Accept& accept = {}) const {
    return {grid_,         radius * radius, radius / radius_ * parts_,   position_, accept,
            first_.data(), member_.data(),  {sorted_.data(), particles_}};
  }

 private:
  Real radius_, parts_ = 1;  // cells per radius, without the allowance for rounding
  std::size_t particles_;
  const Vec4<Real>* position_;
  CellGrid<Real> grid_{};
  DeviceArray<std::uint32_t> first_, member_;
  DeviceArray<Real> sorted_;  // SortedPositions
};

}  // namespace ductile
