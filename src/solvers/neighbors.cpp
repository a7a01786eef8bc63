#include "solvers/neighbors.hpp"

#include <fmt/format.h>

#include <limits>

#include "runtime/algorithms.hpp"
#include "solvers/cell_index.hpp"

namespace ductile {

template <class Real, class Accept>
NeighborLists find_neighbors(Queue& queue, const DeviceArray<Vec4<Real>>& position, Real radius, const Accept& accept) {
  const std::size_t n = position.size();
  NeighborLists lists;
  lists.start = DeviceArray<std::uint32_t>(queue, n + 1);
  if (n == 0) {
    lists.start.fill(0);
    return lists;
  }
  const CellIndex<Real> cells(queue, position, radius);
  const auto search = cells.within(radius, accept);
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
