#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "scene/scene.hpp"
#include "solvers/particles.hpp"

namespace ductile {

/// Blocks of space for coloured Gauss-Seidel: the particles of one block are solved in order; blocks of one colour are
/// more than two supports apart, so that no particle neighbours two of them.
struct ColouredBlocks {
  std::vector<std::uint32_t> start;   ///< of each block in `member`, colour after colour; one more at the end
  std::vector<std::uint32_t> member;  ///< particles, solver order inside a block
  std::array<Range, 8> colour;        ///< blocks of each colour
};

/// How many times the least width of a block pays: a block reads all around it as well, so many particles get wider
/// ones, of which some 32 of a colour are left to share.
[[nodiscard]] double block_widening(std::size_t particles, double support);

/// Particles in a block of the least width, two supports; the support in spacings.
[[nodiscard]] double narrow_block(double support);

/// Blocks of the particles of one material, from their rest positions.
[[nodiscard]] ColouredBlocks colour_blocks(const scene::Scene& scene, const Particles& particles, Range range);

}  // namespace ductile
