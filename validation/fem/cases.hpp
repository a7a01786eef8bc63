#pragma once

#include "validation/fem/solid.hpp"

namespace ductile::fem {

/// A beam along x, held at x = 0, with its y = 0 plane as a plane of symmetry when only half of it is meshed.
struct Beam {
  Vector3d size{1, 0.2, 0.2};             ///< m
  std::array<int, 3> elements{20, 4, 4};  ///< of the whole beam; the second is even with `half`
  bool half = true;
  double grading = 1;  ///< elements shrink towards the clamp: x = length (i/count)^grading
  LawParameters law;
  double density = 100;           ///< kg/m^3
  Vector3d gravity{0, 0, -9.81};  ///< m/s^2; no y component with `half`
};

/// Its body, clamped and loaded.
[[nodiscard]] Solid make_beam(const Beam& beam);

/// Largest deviation of the inner nodes of a distorted 2 x 2 x 2 mesh from a large affine deformation that the outer
/// nodes are given: rounding only, whatever the law.
[[nodiscard]] double patch_error(const LawParameters& law);

/// Root-mean-square error of a smooth displacement of a linear unit cube, reached by its body force, on count^3
/// elements. Quadratic elements: third order.
[[nodiscard]] double smooth_error(int count);

}  // namespace ductile::fem
