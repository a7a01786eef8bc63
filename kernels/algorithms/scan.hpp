#pragma once

#include <sycl/sycl.hpp>

#include <cstddef>

namespace ductile {

/// Elements that one work-item of a scan walks through.
inline constexpr std::size_t scan_chunk = 512;

/// Sum of each chunk.
template <class T>
struct ScanChunkSums {
  const T* input;
  std::size_t size;
  T* sums;

  void operator()(std::size_t chunk) const {
    const std::size_t begin = chunk * scan_chunk;
    const std::size_t end = begin + scan_chunk < size ? begin + scan_chunk : size;
    T sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += input[i];
    sums[chunk] = sum;
  }
};

/// Exclusive sums inside each chunk, started at the chunk's offset; output[size] gets the total.
template <class T>
struct ScanChunks {
  const T* input;
  const T* offsets;  // null: a single chunk
  std::size_t size;
  T* output;

  void operator()(std::size_t chunk) const {
    const std::size_t begin = chunk * scan_chunk;
    const std::size_t end = begin + scan_chunk < size ? begin + scan_chunk : size;
    T sum = offsets != nullptr ? offsets[chunk] : T(0);
    for (std::size_t i = begin; i < end; ++i) {
      const T value = input[i];  // input may be output
      output[i] = sum;
      sum += value;
    }
    if (end == size) output[size] = sum;
  }
};

}  // namespace ductile
