#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <vector>

#include "geometry/shape.hpp"

namespace ductile::geometry {

/// Voronoi cells of points inside a shape, cut off at its surface. They are a partition of the shape: it is divided
/// into cubes of a quarter of the spacing, each of which belongs to the nearest point.
class VoronoiCells {
 public:
  /// Local coordinates of the unplaced shape: its centre, or a mesh's own origin.
  VoronoiCells(const ShapeKind& kind, double spacing);

  /// Volumes of the points' cells, in all exactly that of the shape, and their centres of mass. The points are a
  /// spacing apart or so.
  struct Cells {
    std::vector<double> volumes;
    std::vector<Eigen::Vector3d> centres;
  };
  [[nodiscard]] Cells of(const std::vector<Eigen::Vector3d>& points) const;

 private:
  [[nodiscard]] Eigen::Vector3i block_of(const Eigen::Vector3d& point) const;
  [[nodiscard]] std::size_t index_of(const Eigen::Vector3i& block) const {
    return (std::size_t(block.z()) * std::size_t(count_.y()) + std::size_t(block.y())) * std::size_t(count_.x()) +
           std::size_t(block.x());
  }

  double spacing_, volume_;
  Eigen::Vector3d origin_;
  Eigen::Vector3i count_;              // blocks of 4 x 4 x 4 cubes
  std::vector<std::uint64_t> inside_;  // of each block, one bit per cube
};

}  // namespace ductile::geometry
