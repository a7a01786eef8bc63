#pragma once

#include <sycl/sycl.hpp>

#include <cstddef>
#include <cstdint>

namespace ductile {

inline constexpr std::size_t radix_chunk = 2048;
inline constexpr int radix_bits = 8;
inline constexpr std::size_t radix_buckets = std::size_t(1) << radix_bits;

/// The bits of a key that one pass sorts by.
template <class Key>
struct RadixDigit {
  int shift;
  Key mask;

  std::size_t operator()(Key key) const { return static_cast<std::size_t>((key >> shift) & mask); }
};

/// counts[bucket * chunks + chunk] = keys of the chunk whose digit is `bucket`.
template <class Key>
struct RadixCount {
  static constexpr bool heavy = true;  // few, long work-items
  const Key* keys;
  std::size_t size, chunks;
  RadixDigit<Key> digit;
  std::uint32_t* counts;

  void operator()(std::size_t chunk) const {
    const std::size_t begin = chunk * radix_chunk;
    const std::size_t end = begin + radix_chunk < size ? begin + radix_chunk : size;
    for (std::size_t bucket = 0; bucket < radix_buckets; ++bucket) counts[bucket * chunks + chunk] = 0;
    for (std::size_t i = begin; i < end; ++i) ++counts[digit(keys[i]) * chunks + chunk];
  }
};

/// Moves every key and its value to its place; stable, because chunks and the keys inside them keep their order.
template <class Key>
struct RadixScatter {
  static constexpr bool heavy = true;  // few, long work-items
  const Key* keys;
  const std::uint32_t* values;
  std::size_t size, chunks;
  RadixDigit<Key> digit;
  std::uint32_t* offsets;  // scanned counts, used up
  Key* sorted_keys;
  std::uint32_t* sorted_values;

  void operator()(std::size_t chunk) const {
    const std::size_t begin = chunk * radix_chunk;
    const std::size_t end = begin + radix_chunk < size ? begin + radix_chunk : size;
    for (std::size_t i = begin; i < end; ++i) {
      const Key key = keys[i];
      const std::uint32_t target = offsets[digit(key) * chunks + chunk]++;
      sorted_keys[target] = key;
      sorted_values[target] = values[i];
    }
  }
};

}  // namespace ductile
