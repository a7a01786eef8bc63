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

/// Particles that may be neighbours, copied from the rows of cells they lie in: a loop over all of them becomes vector
/// instructions, while one over a row is too short, and ends where no processor foresees it.
template <class Real, std::uint32_t Capacity>
struct Candidates {
  static constexpr std::uint32_t row = Capacity < 8 ? Capacity : 8;  // so many are copied at a time, wanted or not

  Real x[Capacity], y[Capacity], z[Capacity];
  std::uint32_t member[Capacity];
  std::uint32_t size = 0;

  /// Takes the first `count` of the row from a slot on.
  template <bool Members>
  void append(const SortedPositions<const Real>& position, const std::uint32_t* particle, std::size_t slot,
              std::uint32_t count) {
    const std::uint32_t at = Capacity > row ? size : 0;
    copy_row(&position.x(slot), x + at);
    copy_row(&position.y(slot), y + at);
    copy_row(&position.z(slot), z + at);
    if constexpr (Members) copy_row(particle + slot, member + at);
    size += count;
  }

 private:
  template <class T>
  static void copy_row(const T* from, T* to) {
    __builtin_memcpy(to, from, row * sizeof(T));  // of a loop GCC makes eight copies
  }
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
  SortedPositions<const Real> sorted;

  /// Explicit fused operations: the same bits in every kernel and for (i, j) as for (j, i), so lists are symmetric.
  static Real squared_distance(const Vec4<Real>& a, Real bx, Real by, Real bz) {
    const Real x = a[0] - bx, y = a[1] - by, z = a[2] - bz;
    return sycl::fma(x, x, sycl::fma(y, y, z * z));
  }

  template <class Visit>
  void for_each(std::size_t i, const Visit& visit) const {
    const Vec4<Real> center = position[i];
    const auto scan = [&](std::uint32_t first, std::uint32_t last, const auto& in_cell) {
      for (std::uint32_t slot = first; slot < last; ++slot) {
        if (!(squared_distance(center, sorted.x(slot), sorted.y(slot), sorted.z(slot)) < squared_radius)) continue;
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
          scan(start[b], start[b + 1], [&](std::uint32_t slot) { return grid.cell(sorted.at(slot)) == wanted; });
        }
  }

  /// How many for_each() visits. Looks at up to `Batch` candidates at a time.
  template <std::uint32_t Batch>
  std::uint32_t count(std::size_t i) const {
    std::uint32_t found = 0;
    if constexpr (std::is_same_v<Accept, AnyPair>) {
      if (!grid.hashed) {
        const Vec4<Real> center = position[i];
        for_each_batch<Batch, false>(center, [&](const Candidates<Real, Batch>& batch) {
          for (std::uint32_t k = 0; k < batch.size; ++k) found += is_near(center, batch, k);
        });
        return found - 1;  // the particle itself
      }
    }
    for_each(i, [&](std::uint32_t) { ++found; });
    return found;
  }

  /// Writes what for_each() visits, `count` neighbours. Without a branch per candidate, of which half are neighbours:
  /// the next one overwrites a stranger.
  template <std::uint32_t Batch>
  void list(std::size_t i, std::uint32_t count, std::uint32_t* neighbor) const {
    std::uint32_t found = 0;
    if constexpr (std::is_same_v<Accept, AnyPair>) {
      if (!grid.hashed) {
        const Vec4<Real> center = position[i];
        const auto self = static_cast<std::uint32_t>(i);
        for_each_batch<Batch, true>(center, [&](const Candidates<Real, Batch>& batch) {
          std::uint32_t wanted[Batch];
          for (std::uint32_t k = 0; k < batch.size; ++k)
            wanted[k] = is_near(center, batch, k) & (batch.member[k] != self ? 1u : 0u);
          for (std::uint32_t k = 0; k < batch.size && found < count; ++k) {
            neighbor[found] = batch.member[k];
            found += wanted[k];
          }
        });
        return;
      }
    }
    for_each(i, [&](std::uint32_t j) { neighbor[found++] = j; });
  }

  /// count() and list() in one go: reserve(count) says where the neighbours go, null: nowhere. What fits into one batch
  /// is looked at once.
  template <std::uint32_t Batch, class Reserve>
  void gather(std::size_t i, const Reserve& reserve) const {
    std::uint32_t kept[Batch];
    std::uint32_t found = 0, batches = 0;
    if (std::is_same_v<Accept, AnyPair> && !grid.hashed) {
      const Vec4<Real> center = position[i];
      const auto self = static_cast<std::uint32_t>(i);
      for_each_batch<Batch, true>(center, [&](const Candidates<Real, Batch>& batch) {
        if (++batches > 1) return;
        std::uint32_t wanted[Batch];
        for (std::uint32_t k = 0; k < batch.size; ++k)
          wanted[k] = is_near(center, batch, k) & (batch.member[k] != self ? 1u : 0u);
        for (std::uint32_t k = 0; k < batch.size; ++k) {
          kept[found] = batch.member[k];
          found += wanted[k];
        }
      });
    }
    const bool whole = batches == 1;
    if (!whole) found = count<Batch>(i);
    std::uint32_t* const neighbor = reserve(found);
    if (neighbor == nullptr) return;
    if (!whole) return list<Batch>(i, found, neighbor);
    for (std::uint32_t k = 0; k < found; ++k) neighbor[k] = kept[k];
  }

 private:
  /// 1 or 0
  std::uint32_t is_near(const Vec4<Real>& center, const auto& batch, std::uint32_t k) const {
    return squared_distance(center, batch.x[k], batch.y[k], batch.z[k]) < squared_radius ? 1u : 0u;
  }

  /// Calls visit() with all particles in the rows of cells around a place, some at a time.
  template <std::uint32_t Batch, bool Members, class Visit>
  void for_each_batch(const Vec4<Real>& center, const Visit& visit) const {
    Candidates<Real, Batch> batch;
    constexpr std::uint32_t row = batch.row;
    for_each_row(center, [&](std::uint32_t first, std::uint32_t last) {
      for (std::size_t slot = first; slot < last; slot += row) {
        if (batch.size + row > Batch) {
          visit(batch);
          batch.size = 0;
        }
        batch.template append<Members>(sorted, member, slot, sycl::min(row, std::uint32_t(last - slot)));
      }
    });
    visit(batch);
  }

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

template <class Real, class Accept, int Batch>
struct CountNeighbors {
  NeighborSearch<Real, Accept> search;
  std::uint32_t* number;

  static constexpr bool inline_all = true;

  void operator()(std::size_t i) const { number[i] = search.template count<Batch>(i); }
};

template <class Real, class Accept, int Batch>
struct FillNeighbors {
  NeighborSearch<Real, Accept> search;
  const std::uint32_t* first;
  std::uint32_t* neighbor;

  static constexpr bool inline_all = true;

  void operator()(std::size_t i) const { search.template list<Batch>(i, first[i + 1] - first[i], neighbor + first[i]); }
};

/// The neighbours of every particle in one pass, one list behind the other as they come, as far as there is room.
template <class Real, class Accept, int Batch>
struct GatherNeighbors {
  NeighborSearch<Real, Accept> search;
  std::uint32_t room;
  std::uint32_t* taken;  // starts at zero
  std::uint32_t* number;
  std::uint32_t* place;  // of each list in `neighbor`
  std::uint32_t* neighbor;

  static constexpr bool inline_all = true;

  void operator()(std::size_t i) const {
    search.template gather<Batch>(i, [&](std::uint32_t count) {
      const std::uint32_t at = sycl::atomic_ref<std::uint32_t, sycl::memory_order::relaxed, sycl::memory_scope::device,
                                                sycl::access::address_space::global_space>(*taken)
                                   .fetch_add(count);
      number[i] = count;
      place[i] = at;
      return std::uint64_t(at) + count <= room ? neighbor + at : nullptr;
    });
  }
};

/// Brings gathered lists into the order of the particles.
struct OrderNeighbors {
  const std::uint32_t* place;
  const std::uint32_t* gathered;
  const std::uint32_t* first;
  std::uint32_t* neighbor;

  void operator()(std::size_t i) const {
    const std::uint32_t* const from = gathered + place[i];
    for (std::uint32_t s = first[i]; s < first[i + 1]; ++s) neighbor[s] = from[s - first[i]];
  }
};

/// Neighbours of every `stride`-th particle.
template <class Real, class Accept, int Batch>
struct SampleNeighbors {
  NeighborSearch<Real, Accept> search;
  std::size_t stride;
  std::uint32_t* number;

  void operator()(std::size_t sample) const { number[sample] = search.template count<Batch>(sample * stride); }
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
