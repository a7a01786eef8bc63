#include "common/checksum.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace ductile {
namespace {

static_assert(std::endian::native == std::endian::little, "the tables below are for little-endian words");

using Table = std::array<std::uint64_t, 256>;

/// tables[k][b]: remainder of byte b followed by k zero bytes, so that eight bytes are taken per step.
constexpr std::array<Table, 8> make_tables() {
  constexpr std::uint64_t polynomial = 0xC96C5795D7870F42;
  std::array<Table, 8> tables{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    std::uint64_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = (remainder >> 1) ^ (remainder & 1 ? polynomial : 0);
    tables[0][byte] = remainder;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint64_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 255];
    }
  return tables;
}

constexpr auto tables = make_tables();

}  // namespace

void Crc64::update(std::span<const std::byte> bytes) {
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + i, 8);
    word ^= state_;
    state_ = 0;
    for (std::size_t k = 0; k < 8; ++k) state_ ^= tables[7 - k][(word >> (8 * k)) & 255];
  }
  for (; i < bytes.size(); ++i) {
    const auto index = (state_ ^ std::to_integer<std::uint64_t>(bytes[i])) & 255;
    state_ = (state_ >> 8) ^ tables[0][index];
  }
}

}  // namespace ductile
