#pragma once

#include <Eigen/Core>

#include <array>
#include <cstddef>
#include <vector>

#include "geometry/triangle_mesh.hpp"

namespace ductile::geometry {

/// Signed distances to a closed mesh on the points of a cubic grid, x fastest.
struct DistanceSamples {
  Eigen::Vector3d origin = Eigen::Vector3d::Zero();
  double width = 0;
  std::array<std::size_t, 3> points{};
  std::vector<double> values;
};

/// Number of points that sample_distance would use.
[[nodiscard]] double distance_grid_points(const TriangleMesh& mesh, double width, double margin);
/// A grid that reaches `margin` beyond the mesh. Values are exact near the surface; far from it they are interpolated
/// from every eighth point, with the right sign and a good direction.
[[nodiscard]] DistanceSamples sample_distance(const TriangleMesh& mesh, double width, double margin);

}  // namespace ductile::geometry
