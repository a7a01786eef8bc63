#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace ductile::geometry {

/// The number of type T whose bytes start at `offset`; the caller has checked that they exist.
template <class T>
[[nodiscard]] T stored_number(std::string_view bytes, std::size_t offset, std::endian order) {
  unsigned char raw[sizeof(T)];
  std::memcpy(raw, bytes.data() + offset, sizeof(T));
  if (order != std::endian::native) std::reverse(raw, raw + sizeof(T));
  T value;
  std::memcpy(&value, raw, sizeof(T));
  return value;
}

}  // namespace ductile::geometry
