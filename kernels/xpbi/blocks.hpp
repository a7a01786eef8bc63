#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/neighbors/cell_grid.hpp"

namespace ductile {

/// Blocks of one colour as the kernels read them: no particle neighbours two of them. A block has one or more parts.
struct ColourBlocks {
  const std::uint32_t* start;   // of each part in `member`, block after block
  const std::uint32_t* member;  // particles
  std::uint32_t parts;          // of a block

  std::uint32_t begin(std::size_t block) const { return start[block * parts]; }
  std::uint32_t end(std::size_t block) const { return start[(block + 1) * parts]; }
};

/// Blocks of space, colour after colour. Plain, a block is as wide as neighbours of its particles lie apart. Nested, it
/// consists of 4^3 parts of that width, in eight rounds of eight that lie as far apart as blocks of a colour do: a
/// round runs side by side, and what one round has read is still near when the next one comes.
template <class Real>
struct BlockGrid {
  Vec3<Real> origin;
  Real inverse_width;  // of a part, or of a plain block
  bool nested;
  bool hashed;                       // blocks of one colour may share a number: they are then solved in turn
  std::uint32_t blocks_x, blocks_y;  // of a colour along the axes, unless hashed
  std::uint32_t blocks;              // of a colour; a power of two if hashed

  static constexpr std::uint32_t parts_of_nested = 64;

  std::uint32_t parts() const { return nested ? parts_of_nested : 1; }

  std::uint32_t bucket_at(const Vec4<Real>& position) const {
    const auto x = std::uint64_t((position[0] - origin.x) * inverse_width),
               y = std::uint64_t((position[1] - origin.y) * inverse_width),
               z = std::uint64_t((position[2] - origin.z) * inverse_width);
    if (!nested) return block_at(x, y, z);
    return (block_at(x >> 2, y >> 2, z >> 2) * 8 + odd(x, y, z)) * 8 + odd(x >> 1, y >> 1, z >> 1);
  }

 private:
  static std::uint32_t odd(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    return std::uint32_t((x & 1) | (y & 1) << 1 | (z & 1) << 2);
  }
  std::uint32_t block_at(std::uint64_t x, std::uint64_t y, std::uint64_t z) const {
    const std::uint64_t in_colour = hashed ? hash_of(x >> 1, y >> 1, z >> 1) & (blocks - 1)
                                           : ((z >> 1) * blocks_y + (y >> 1)) * blocks_x + (x >> 1);
    return odd(x, y, z) * blocks + std::uint32_t(in_colour);
  }
};

}  // namespace ductile
