#pragma once

#include <cstdint>

#include "kernels/contact/pairs.hpp"
#include "kernels/neighbors/neighbor_lists.hpp"
#include "runtime/device_array.hpp"

namespace ductile {

/// Neighbours of particle i: index[start[i]] ... index[start[i + 1] - 1]. Symmetric, without i itself.
struct NeighborLists {
  DeviceArray<std::uint32_t> start, index;

  [[nodiscard]] double mean() const { return start.size() < 2 ? 0.0 : double(index.size()) / double(start.size() - 1); }
};

/// All pairs closer than `radius` that accept(i, j) lets through. Cost per particle does not depend on their number or
/// extent. Throws SimulationError for positions that are not finite. `Accept` is AnyPair, SameGroup or MayTouch.
template <class Real, class Accept = AnyPair>
[[nodiscard]] NeighborLists find_neighbors(Queue& queue, const DeviceArray<Vec4<Real>>& position, Real radius,
                                           const Accept& accept = {});

}  // namespace ductile
