#pragma once

#include <sycl/sycl.hpp>

#include <cstddef>

namespace ductile {

/// Elements that one work-item of a reduction combines; fixed, so that the rounding never depends on the device's
/// width.
inline constexpr std::size_t reduce_chunk = 256;

/// partial[c] = combination of map(i) over chunk c. `Value` has a static identity() and combine(Value).
template <class Value, class Map>
struct ReduceChunks {
  Map map;
  std::size_t size;
  Value* partial;

  void operator()(std::size_t chunk) const {
    const std::size_t begin = chunk * reduce_chunk;
    const std::size_t end = begin + reduce_chunk < size ? begin + reduce_chunk : size;
    Value value = Value::identity();
    for (std::size_t i = begin; i < end; ++i) value.combine(map(i));
    partial[chunk] = value;
  }
};

}  // namespace ductile
