#include "geometry/shape.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/contact/signed_distance.hpp"

namespace ductile::geometry {
namespace {

using Eigen::Vector3d;

Vec3<double> device(const Vector3d& v) { return {v.x(), v.y(), v.z()}; }

double local_distance(const Box& box, const Vector3d& p) { return box_distance(device(p), device(box.size / 2)); }
double local_distance(const Sphere& sphere, const Vector3d& p) { return sphere_distance(device(p), sphere.radius); }
double local_distance(const Cylinder& cylinder, const Vector3d& p) {
  return cylinder_distance(device(p), cylinder.radius, cylinder.height / 2);
}
double local_distance(const Capsule& capsule, const Vector3d& p) {
  return capsule_distance(device(p), capsule.radius, capsule.height / 2);
}
double local_distance(const Torus& torus, const Vector3d& p) {
  return torus_distance(device(p), torus.radius, torus.tube);
}
double local_distance(const Plane& plane, const Vector3d& p) {
  return plane_distance(device(p), device(plane.normal), device(plane.point));
}
double local_distance(const Mesh& mesh, const Vector3d& p) { return mesh.triangles->signed_distance(p); }

/// Half the extents along the world's axes of a disc with the given unit normal, per radius.
Vector3d disc_extent(const Vector3d& normal) { return (1.0 - normal.array().square()).max(0.0).sqrt(); }

Eigen::AlignedBox3d centred(const Vector3d& half) { return {-half, half}; }

// Bounds of the rotated shape about its position.
Eigen::AlignedBox3d rotated_bounds(const Box& box, const Eigen::Matrix3d& rotation) {
  return centred(rotation.cwiseAbs() * box.size / 2);
}
Eigen::AlignedBox3d rotated_bounds(const Sphere& sphere, const Eigen::Matrix3d&) {
  return centred(Vector3d::Constant(sphere.radius));
}
Eigen::AlignedBox3d rotated_bounds(const Cylinder& cylinder, const Eigen::Matrix3d& rotation) {
  const Vector3d axis = rotation.col(2);
  return centred(cylinder.radius * disc_extent(axis) + cylinder.height / 2 * axis.cwiseAbs());
}
Eigen::AlignedBox3d rotated_bounds(const Capsule& capsule, const Eigen::Matrix3d& rotation) {
  return centred(Vector3d::Constant(capsule.radius) + capsule.height / 2 * rotation.col(2).cwiseAbs());
}
Eigen::AlignedBox3d rotated_bounds(const Torus& torus, const Eigen::Matrix3d& rotation) {
  return centred(torus.radius * disc_extent(rotation.col(2)) + Vector3d::Constant(torus.tube));
}
Eigen::AlignedBox3d rotated_bounds(const Plane&, const Eigen::Matrix3d&) {
  return centred(Vector3d::Constant(std::numeric_limits<double>::infinity()));
}
Eigen::AlignedBox3d rotated_bounds(const Mesh& mesh, const Eigen::Matrix3d& rotation) {
  Eigen::AlignedBox3d box;
  for (const auto& vertex : mesh.triangles->vertices()) box.extend(rotation * vertex);
  return box;
}

double volume_of(const Box& box) { return box.size.prod(); }
double volume_of(const Sphere& sphere) { return 4.0 / 3.0 * std::numbers::pi * std::pow(sphere.radius, 3); }
double volume_of(const Cylinder& cylinder) {
  return std::numbers::pi * cylinder.radius * cylinder.radius * cylinder.height;
}
double volume_of(const Capsule& capsule) {
  return volume_of(Sphere{capsule.radius}) + volume_of(Cylinder{capsule.radius, capsule.height});
}
double volume_of(const Torus& torus) {
  return 2 * std::numbers::pi * std::numbers::pi * torus.radius * torus.tube * torus.tube;
}
double volume_of(const Plane&) { return std::numeric_limits<double>::infinity(); }
double volume_of(const Mesh& mesh) { return mesh.triangles->volume(); }

}  // namespace

double signed_distance(const Shape& shape, const Vector3d& point) {
  const Vector3d local = shape.rotation.transpose() * (point - shape.position);
  return std::visit([&](const auto& kind) { return local_distance(kind, local); }, shape.kind);
}

Face face_above(const Shape& shape, const Vector3d& point, double scale) {
  // The gradient of a distance has length 1; its differences over the scale are shorter where its direction changes.
  const double smooth = 0.9;
  Vector3d gradient;
  for (int axis = 0; axis < 3; ++axis) {
    const Vector3d half = 0.5 * scale * Vector3d::Unit(axis);
    gradient[axis] = (signed_distance(shape, point + half) - signed_distance(shape, point - half)) / scale;
  }
  const double length = gradient.norm();
  return {-signed_distance(shape, point), length > smooth ? Vector3d(gradient / length) : Vector3d(Vector3d::Zero())};
}

bool contains(const Shape& shape, const Vector3d& point) {
  // Rounding of the placement must not put a point of the surface outside.
  const double rounding = 1e-12 * (point.norm() + shape.position.norm());
  return signed_distance(shape, point) <= rounding;
}

Eigen::AlignedBox3d bounds(const Shape& shape) {
  auto box = std::visit([&](const auto& kind) { return rotated_bounds(kind, shape.rotation); }, shape.kind);
  box.min() += shape.position;
  box.max() += shape.position;
  return box;
}

double volume(const Shape& shape) {
  return std::visit([](const auto& kind) { return volume_of(kind); }, shape.kind);
}

}  // namespace ductile::geometry
