#pragma once

#include <Eigen/Geometry>

#include <memory>
#include <variant>

#include "geometry/triangle_mesh.hpp"

namespace ductile::geometry {

// Every shape is centred at the origin with its axis along z before its placement; lengths in metres.
struct Box {
  Eigen::Vector3d size{1, 1, 1};
};
struct Sphere {
  double radius = 1;
};
struct Cylinder {
  double radius = 1, height = 1;
};
/// `height` is that of the straight part.
struct Capsule {
  double radius = 1, height = 1;
};
/// `radius` from the axis to the middle of the tube, `tube` <= `radius` is the radius of the tube.
struct Torus {
  double radius = 1, tube = 0.25;
};
/// Half space: the solid lies on the side that the unit normal points away from. For colliders and regions.
struct Plane {
  Eigen::Vector3d normal{0, 0, 1}, point{0, 0, 0};
};
/// A closed triangle mesh, already scaled.
struct Mesh {
  std::shared_ptr<const TriangleMesh> triangles;
};

using ShapeKind = std::variant<Box, Sphere, Cylinder, Capsule, Torus, Plane, Mesh>;

struct Shape {
  ShapeKind kind;
  Eigen::Vector3d position = Eigen::Vector3d::Zero();
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();  ///< local to world
};

/// Exact distance to the surface, negative inside. `point` in world coordinates.
[[nodiscard]] double signed_distance(const Shape& shape, const Eigen::Vector3d& point);
/// The surface as a point a little below it sees it.
struct Face {
  double depth = 0;                                  ///< distance to the surface, m
  Eigen::Vector3d normal = Eigen::Vector3d::Zero();  ///< outward; zero near an edge, or where two sides are as near
};
/// `scale` is the extent over which the surface has to be smooth.
[[nodiscard]] Face face_above(const Shape& shape, const Eigen::Vector3d& point, double scale);
/// True for points inside or on the surface.
[[nodiscard]] bool contains(const Shape& shape, const Eigen::Vector3d& point);
/// World-aligned bounds; a plane's are infinite.
[[nodiscard]] Eigen::AlignedBox3d bounds(const Shape& shape);
[[nodiscard]] double volume(const Shape& shape);

}  // namespace ductile::geometry
