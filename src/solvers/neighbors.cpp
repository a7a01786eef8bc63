#include "solvers/neighbors.hpp"

#include <fmt/format.h>

#include <limits>
#include <type_traits>

#include "runtime/algorithms.hpp"
#include "solvers/cell_index.hpp"

namespace ductile {

namespace {

/// Candidates that a search looks at together: many where the compiler makes vector instructions of loops.
#if defined(DUCTILE_BACKEND_HOST)
constexpr int search_batch = 128;
#else
constexpr int search_batch = 1;
#endif
static_assert(Candidates<float, search_batch>::row <= SortedPositions<float>::behind);

/// Lists as GatherNeighbors leaves them, where one pass over the candidates can do it.
struct Gathered {
  DeviceArray<std::uint32_t> place, index;

  [[nodiscard]] bool holds(std::uint64_t pairs) const { return !place.empty() && pairs <= index.size(); }
};

/// Numbers of neighbours go to `number`. A sample says how much room they take, and an eighth more; if it was not
/// enough, the numbers are right all the same.
template <class Real, class Accept>
Gathered gather_neighbors(Queue& queue, const NeighborSearch<Real, Accept>& search, std::size_t n,
                          std::uint32_t* number) {
  constexpr std::size_t stride = 61;  // no multiple of a row or tile of particles
  const std::size_t samples = chunk_count(n, stride);
  launch(queue, "neighbors.count", samples, SampleNeighbors<Real, Accept, search_batch>{search, stride, number});
  const auto sampled = reduce<PairTotal>(queue, "neighbors.scan", samples, PairsOf{number}).pairs;
  const std::uint64_t expected = sampled * n / samples, room = expected + expected / 8 + n;
  Gathered gathered;
  gathered.place = DeviceArray<std::uint32_t>(queue, n);
  if (room <= std::numeric_limits<std::uint32_t>::max()) gathered.index = DeviceArray<std::uint32_t>(queue, room);
  DeviceArray<std::uint32_t> taken(queue, 1);
  taken.clear_bytes();
  launch(queue, "neighbors.gather", n,
         GatherNeighbors<Real, Accept, search_batch>{search, std::uint32_t(gathered.index.size()), taken.data(), number,
                                                     gathered.place.data(), gathered.index.data()});
  return gathered;
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
  const CellIndex<Real> cells(queue, position, radius);
  const auto search = cells.within(radius, accept);
  Gathered gathered;
  if constexpr (search_batch > 1 && std::is_same_v<Accept, AnyPair>)
    gathered = gather_neighbors(queue, search, n, lists.start.data());
  else
    launch(queue, "neighbors.count", n, CountNeighbors<Real, Accept, search_batch>{search, lists.start.data()});
  const auto total = reduce<PairTotal>(queue, "neighbors.scan", n, PairsOf{lists.start.data()}).pairs;
  if (total > std::numeric_limits<std::uint32_t>::max())
    throw SimulationError(
        fmt::format("{} particles have {} neighbour relations within {:g} m, more than a list can hold: "
                    "the support is too wide for the spacing, or particles have collapsed into a point.",
                    n, total, double(radius)));
  exclusive_scan(queue, "neighbors.scan", lists.start.data(), lists.start.data(), n);
  lists.index = DeviceArray<std::uint32_t>(queue, total);
  if (gathered.holds(total))
    launch(queue, "neighbors.fill", n,
           OrderNeighbors{gathered.place.data(), gathered.index.data(), lists.start.data(), lists.index.data()});
  else
    launch(queue, "neighbors.fill", n,
           FillNeighbors<Real, Accept, search_batch>{search, lists.start.data(), lists.index.data()});
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
