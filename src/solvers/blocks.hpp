#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/neighbors/neighbor_lists.hpp"
#include "kernels/xpbi/blocks.hpp"
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

/// Blocks of the particles of one material, from their rest positions.
[[nodiscard]] ColouredBlocks colour_blocks(const scene::Scene& scene, const Particles& particles, Range range);

/// Blocks of space within the bounds, of parts at least `width` wide; a place for so many particles.
template <class Real>
[[nodiscard]] BlockGrid<Real> make_block_grid(const Bounds<Real>& bounds, double width, bool nested,
                                              std::size_t particles);

/// From so many particles on, of this support in spacings, each colour has a few nested blocks to share.
[[nodiscard]] std::size_t fewest_for_nested_blocks(double support);

}  // namespace ductile
