#pragma once

#include <Eigen/Core>

#include <array>
#include <vector>

namespace ductile::fem {

using Eigen::Vector3d;

/// 27-node hexahedra: triquadratic shape functions, which bend without locking. Node 9a + 3b + c of an element sits at
/// the local coordinates (a - 1, b - 1, c - 1).
struct HexMesh {
  std::vector<Vector3d> nodes;
  std::vector<std::array<int, 27>> elements;
  std::array<int, 3> counts{};  ///< elements per axis

  [[nodiscard]] int node(int i, int j, int k) const {  ///< of the lattice of 2 counts + 1 nodes per axis
    return (i * (2 * counts[1] + 1) + j) * (2 * counts[2] + 1) + k;
  }
};

/// A box cut into equal elements.
[[nodiscard]] HexMesh box_mesh(const Vector3d& corner, const Vector3d& size, const std::array<int, 3>& counts);

/// Shape functions and their local derivatives at one of the 27 points of the 3 x 3 x 3 Gauss rule.
struct ShapePoint {
  double weight;
  std::array<double, 27> value;
  std::array<Vector3d, 27> derivative;
};
[[nodiscard]] const std::array<ShapePoint, 27>& gauss_points();

/// The same at any local point, without a weight.
[[nodiscard]] ShapePoint shape_at(const Vector3d& local);

}  // namespace ductile::fem
