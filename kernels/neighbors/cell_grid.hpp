#pragma once

#include <sycl/sycl.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/math/vec3.hpp"

namespace ductile {

/// Spreads three whole numbers over 32 bits.
inline std::uint32_t hash_of(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  std::uint64_t mixed = x * 0x9E3779B97F4A7C15u ^ y * 0xC2B2AE3D27D4EB4Fu ^ z * 0x165667B19E3779F9u;
  mixed ^= mixed >> 32;
  mixed *= 0xD6E8FEB86659FD93u;
  mixed ^= mixed >> 32;
  return std::uint32_t(mixed);
}

/// Cubic cells, numbered along the three axes in a chosen order. Compact inputs get one bucket per cell, the first axis
/// fastest; scattered ones hash their cells into a fixed number of buckets.
template <class Real>
struct CellGrid {
  int axis[3];  // coordinate along which x, y and z of a cell count
  Vec3<Real> origin;
  Real inverse_width;
  std::int64_t cells_x, cells_y, cells_z;
  std::uint32_t buckets;
  bool hashed;  // then `buckets` is a power of two

  struct Cell {
    std::int64_t x, y, z;
    friend bool operator==(const Cell&, const Cell&) = default;
  };

  /// Distance from the origin in cells, along the chosen axes.
  Vec3<Real> in_cells(const Vec4<Real>& position) const {
    const Vec3<Real> at = (xyz(position) - origin) * inverse_width;
    return {along(at, axis[0]), along(at, axis[1]), along(at, axis[2])};
  }
  Cell cell(const Vec4<Real>& position) const {
    const Vec3<Real> at = in_cells(position);
    return {std::int64_t(at.x), std::int64_t(at.y), std::int64_t(at.z)};
  }
  std::uint32_t bucket(const Cell& c) const {
    if (!hashed) return std::uint32_t((c.z * cells_y + c.y) * cells_x + c.x);
    return hash_of(std::uint64_t(c.x), std::uint64_t(c.y), std::uint64_t(c.z)) & (buckets - 1);
  }
  std::uint32_t bucket_at(const Vec4<Real>& position) const { return bucket(cell(position)); }

 private:
  static Real along(const Vec3<Real>& at, int axis) { return axis == 0 ? at.x : axis == 1 ? at.y : at.z; }
};

/// How many of the particles from `first` on each bucket holds.
template <class Real, class Grid = CellGrid<Real>>
struct CountCells {
  Grid grid;
  const Vec4<Real>* position;
  std::uint32_t first;
  std::uint32_t* bucket;  // of each of these particles
  std::uint32_t* count;   // of each bucket, starts at zero

  void operator()(std::size_t item) const {
    const std::uint32_t b = grid.bucket_at(position[first + item]);
    bucket[item] = b;
    sycl::atomic_ref<std::uint32_t, sycl::memory_order::relaxed, sycl::memory_scope::device,
                     sycl::access::address_space::global_space>(count[b])
        .fetch_add(1u);
  }
};

/// Puts every one of these particles into its bucket, in any order.
struct FillCells {
  const std::uint32_t* bucket;
  std::uint32_t* cursor;  // starts as the buckets' first slots
  std::uint32_t first;
  std::uint32_t* member;

  void operator()(std::size_t item) const {
    const std::uint32_t slot = sycl::atomic_ref<std::uint32_t, sycl::memory_order::relaxed, sycl::memory_scope::device,
                                                sycl::access::address_space::global_space>(cursor[bucket[item]])
                                   .fetch_add(1u);
    member[slot] = first + std::uint32_t(item);
  }
};

/// Sorts the members of each bucket by index, which undoes the arbitrary order of FillCells (heap sort: no worst case).
struct SortCells {
  const std::uint32_t* start;
  std::uint32_t* member;

  void operator()(std::size_t b) const {
    std::uint32_t* const m = member + start[b];
    const std::uint32_t size = start[b + 1] - start[b];
    // Threads that fill one range of particles after another leave most buckets in order.
    std::uint32_t ordered = 1;
    while (ordered < size && m[ordered - 1] < m[ordered]) ++ordered;
    if (ordered >= size) return;
    if (size <= 32) {
      for (std::uint32_t i = ordered; i < size; ++i) {
        const std::uint32_t value = m[i];
        std::uint32_t hole = i;
        for (; hole > 0 && m[hole - 1] > value; --hole) m[hole] = m[hole - 1];
        m[hole] = value;
      }
      return;
    }
    for (std::uint32_t root = size / 2; root-- > 0;) sift_down(m, root, size);
    for (std::uint32_t end = size; end-- > 1;) {
      const std::uint32_t largest = m[0];
      m[0] = m[end];
      m[end] = largest;
      sift_down(m, 0, end);
    }
  }

 private:
  static void sift_down(std::uint32_t* m, std::uint32_t root, std::uint32_t size) {
    const std::uint32_t value = m[root];
    for (std::uint32_t child = 2 * root + 1; child < size; child = 2 * root + 1) {
      if (child + 1 < size && m[child + 1] > m[child]) ++child;
      if (m[child] <= value) break;
      m[root] = m[child];
      root = child;
    }
    m[root] = value;
  }
};

/// Positions in the order of the buckets, so that a search reads them in a row: all x, all y, all z. Reading behind the
/// last one finds numbers of no meaning, as far as `behind`.
template <class Entry>
struct SortedPositions {
  using Real = std::remove_const_t<Entry>;
  static constexpr std::size_t behind = 8;

  Entry* data;
  std::size_t size;

  Entry& x(std::size_t slot) const { return data[slot]; }
  Entry& y(std::size_t slot) const { return data[size + slot]; }
  Entry& z(std::size_t slot) const { return data[2 * size + slot]; }
  Vec4<Real> at(std::size_t slot) const { return {x(slot), y(slot), z(slot), Real(0)}; }
};

template <class Real>
struct SortPositions {
  const std::uint32_t* member;
  const Vec4<Real>* position;
  SortedPositions<Real> sorted;

  void operator()(std::size_t slot) const {
    const Vec4<Real> at = position[member[slot]];
    sorted.x(slot) = at[0];
    sorted.y(slot) = at[1];
    sorted.z(slot) = at[2];
  }
};

/// The positions of the listed particles.
template <class Real>
struct GatherPositions {
  const std::uint32_t* member;
  const Vec4<Real>* position;
  Vec4<Real>* sorted;

  void operator()(std::size_t slot) const { sorted[slot] = position[member[slot]]; }
};

}  // namespace ductile
