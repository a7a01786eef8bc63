#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/algorithms/radix_sort.hpp"
#include "kernels/algorithms/reduce.hpp"
#include "kernels/algorithms/scan.hpp"
#include "runtime/device_array.hpp"
#include "runtime/launch.hpp"

namespace ductile {

inline std::size_t chunk_count(std::size_t size, std::size_t chunk) { return (size + chunk - 1) / chunk; }

/// output[i] = sum of input[0..i), output[size] = total. Input and output may be the same array.
template <class T>
void exclusive_scan(Queue& queue, const char* name, const T* input, T* output, std::size_t size) {
  if (size == 0) {
    queue.native().memset(output, 0, sizeof(T));
    return;
  }
  const std::size_t chunks = chunk_count(size, scan_chunk);
  DeviceArray<T> sums;
  if (chunks > 1) {
    sums = DeviceArray<T>(queue, chunks + 1);
    launch(queue, name, chunks, ScanChunkSums<T>{input, size, sums.data()});
    exclusive_scan(queue, name, sums.data(), sums.data(), chunks);
  }
  launch(queue, name, chunks, ScanChunks<T>{input, sums.data(), size, output});
}

/// Combination of map(i) over [0, size), in a fixed shape: chunks on the device, then the chunks in order on the host.
template <class Value, class Map>
[[nodiscard]] Value reduce(Queue& queue, const char* name, std::size_t size, const Map& map) {
  const std::size_t chunks = chunk_count(size, reduce_chunk);
  DeviceArray<Value> partial(queue, chunks);
  launch(queue, name, chunks, ReduceChunks<Value, Map>{map, size, partial.data()});
  Value result = Value::identity();
  for (const Value& value : partial.download()) result.combine(value);
  return result;
}

/// Sorts keys, of which the lowest `key_bits` count, with their values; stable.
template <class Key>
void sort_by_key(Queue& queue, const char* name, DeviceArray<Key>& keys, DeviceArray<std::uint32_t>& values,
                 int key_bits) {
  const std::size_t size = keys.size();
  const std::size_t chunks = chunk_count(size, radix_chunk);
  DeviceArray<Key> other_keys(queue, size);
  DeviceArray<std::uint32_t> other_values(queue, size);
  DeviceArray<std::uint32_t> counts(queue, radix_buckets * chunks + 1);
  for (int shift = 0; shift < key_bits; shift += radix_bits) {
    const int bits = std::min(radix_bits, key_bits - shift);
    const RadixDigit<Key> digit{shift, static_cast<Key>((1u << bits) - 1u)};
    launch(queue, name, chunks, RadixCount<Key>{keys.data(), size, chunks, digit, counts.data()});
    exclusive_scan(queue, name, counts.data(), counts.data(), radix_buckets * chunks);
    launch(queue, name, chunks,
           RadixScatter<Key>{keys.data(), values.data(), size, chunks, digit, counts.data(), other_keys.data(),
                             other_values.data()});
    keys.swap(other_keys);
    values.swap(other_values);
  }
}

}  // namespace ductile
