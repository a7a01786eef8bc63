#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <vector>

#include "geometry/shape.hpp"

namespace ductile::geometry {

struct Samples {
  std::vector<Eigen::Vector3d> positions;  ///< world coordinates
  std::vector<double> volumes;             ///< m^3, one per particle
};

/// Particles of a shape on a lattice aligned with the shape's own axes, symmetric about its centre (for a mesh: about
/// the centre of its bounding box). Order: z varies fastest, then y, then x, all ascending in the shape's axes.
///
/// A box is filled with cells of exactly its size: round(size/spacing) per axis, at least one, so that cells of a box
/// that is no multiple of the spacing are slightly stretched. Particles sit in the middle of the cells and share its
/// volume exactly. Other shapes take round(extent/spacing) cubic layers per axis and keep the particles inside or on
/// the surface (to 1e-9 spacings, so that rounding does not break the symmetry).
///
/// `jitter` displaces each particle by a uniform random vector of at most jitter*spacing along each of the shape's
/// axes, seeded, the same on every machine. Then `relax` times every particle moves to the centre of mass of its
/// Voronoi cell (Lloyd's algorithm): the sample stays irregular but loses what makes gradients of it inaccurate.
///
/// Volumes are those of the Voronoi cells inside the shape, so that together they are the shape's.
///
/// Throws InputError if the spacing gives no particle or more than 2^32, and for a plane, which has no volume.
[[nodiscard]] Samples sample_lattice(const Shape& shape, double spacing, double jitter, int relax, std::uint64_t seed);
/// Uniform in [-1, 1), a function of its arguments alone: the same on every machine.
[[nodiscard]] double random_number(std::uint64_t seed, std::uint64_t particle, std::uint64_t axis);
/// Number of particles that sample_lattice would return at most; cheap (bounding box for general shapes).
[[nodiscard]] double estimate_count(const Shape& shape, double spacing);

}  // namespace ductile::geometry
