#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ductile {

/// CRC-64/XZ (ECMA-182, reflected), taken piece by piece. Finds every change confined to 64 neighbouring bits and all
/// but one in 2^64 of the others.
class Crc64 {
 public:
  void update(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t value() const { return ~state_; }

 private:
  std::uint64_t state_ = ~std::uint64_t{0};
};

}  // namespace ductile
