#pragma once

#include <cstdint>

#include "kernels/math/vec3.hpp"
#include "runtime/device_array.hpp"

namespace ductile {

/// Neighbours of particle i: index[start[i]] ... index[start[i + 1] - 1]. Symmetric, without i itself.
struct NeighborLists {
  DeviceArray<std::uint32_t> start, index;

  [[nodiscard]] double mean() const {
    return start.size() < 2 ? 0.0 : double(index.size()) / double(start.size() - 1);
  }
};

/// All pairs closer than `radius`, of the same group where groups are given (null: all). Cost per particle does not
/// depend on their number or extent. Throws SimulationError for positions that are not finite.
template <class Real>
[[nodiscard]] NeighborLists find_neighbors(Queue& queue, const DeviceArray<Vec4<Real>>& position, Real radius,
                                           const std::uint32_t* group = nullptr);

}  // namespace ductile
