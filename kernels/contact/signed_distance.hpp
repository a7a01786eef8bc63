#pragma once

#include "kernels/math/scalar.hpp"
#include "kernels/math/vec3.hpp"

/// Signed distances of the analytic shapes (negative inside) and their unit gradients, which point outward. Shapes are
/// centred at the origin, their axis is z. Distances are exact everywhere. Where the nearest surface point is not
/// unique (centre, axis, medial planes) the normal is that of one of the nearest points, always the same one.
namespace ductile {

template <class Real>
struct DistanceNormal {
  Real distance;
  Vec3<Real> normal;
};

/// Length of `v` and its direction; `fallback` (a unit vector) is the direction of the zero vector. Scaling by the
/// largest component keeps the direction exact where squares would underflow.
template <class Real>
inline DistanceNormal<Real> length_direction(const Vec3<Real>& v, const Vec3<Real>& fallback) {
  const Real largest = sycl::fmax(sycl::fmax(sycl::fabs(v.x), sycl::fabs(v.y)), sycl::fabs(v.z));
  if (!(largest > Real(0))) return {Real(0), fallback};
  const Vec3<Real> scaled = v / largest;
  const Real length = norm(scaled);
  return {largest * length, scaled / length};
}

/// `half` holds half the edge lengths.
template <class Real>
inline DistanceNormal<Real> box_distance_normal(const Vec3<Real>& p, const Vec3<Real>& half) {
  const Vec3<Real> side{sign_or_one(p.x), sign_or_one(p.y), sign_or_one(p.z)};
  const Vec3<Real> q{sycl::fabs(p.x) - half.x, sycl::fabs(p.y) - half.y, sycl::fabs(p.z) - half.z};
  const Real nearest = sycl::fmax(sycl::fmax(q.x, q.y), q.z);
  if (nearest <= Real(0)) {
    if (q.x == nearest) return {nearest, {side.x, Real(0), Real(0)}};
    if (q.y == nearest) return {nearest, {Real(0), side.y, Real(0)}};
    return {nearest, {Real(0), Real(0), side.z}};
  }
  const Vec3<Real> outside{side.x * sycl::fmax(q.x, Real(0)), side.y * sycl::fmax(q.y, Real(0)),
                           side.z * sycl::fmax(q.z, Real(0))};
  return length_direction(outside, Vec3<Real>{Real(1), Real(0), Real(0)});
}

template <class Real>
inline DistanceNormal<Real> sphere_distance_normal(const Vec3<Real>& p, Real radius) {
  const auto centre = length_direction(p, Vec3<Real>{Real(1), Real(0), Real(0)});
  return {centre.distance - radius, centre.normal};
}

template <class Real>
inline DistanceNormal<Real> cylinder_distance_normal(const Vec3<Real>& p, Real radius, Real half_height) {
  const auto axis = length_direction(Vec3<Real>{p.x, p.y, Real(0)}, Vec3<Real>{Real(1), Real(0), Real(0)});
  const Vec3<Real> end{Real(0), Real(0), sign_or_one(p.z)};
  const Real beyond_wall = axis.distance - radius;
  const Real beyond_end = sycl::fabs(p.z) - half_height;
  if (beyond_wall > Real(0) && beyond_end > Real(0))
    return length_direction(beyond_wall * axis.normal + beyond_end * end, axis.normal);
  if (beyond_wall >= beyond_end) return {beyond_wall, axis.normal};
  return {beyond_end, end};
}

/// `half_height` is half the length of the straight part.
template <class Real>
inline DistanceNormal<Real> capsule_distance_normal(const Vec3<Real>& p, Real radius, Real half_height) {
  return sphere_distance_normal(Vec3<Real>{p.x, p.y, p.z - clamp(p.z, -half_height, half_height)}, radius);
}

/// `radius` from the axis to the middle of the tube, `tube` <= radius.
template <class Real>
inline DistanceNormal<Real> torus_distance_normal(const Vec3<Real>& p, Real radius, Real tube) {
  const auto axis = length_direction(Vec3<Real>{p.x, p.y, Real(0)}, Vec3<Real>{Real(1), Real(0), Real(0)});
  const Vec3<Real> from_middle = (axis.distance - radius) * axis.normal + Vec3<Real>{Real(0), Real(0), p.z};
  const auto middle = length_direction(from_middle, axis.normal);
  return {middle.distance - tube, middle.normal};
}

/// Half space below the plane through `point` with the unit `normal`.
template <class Real>
inline DistanceNormal<Real> plane_distance_normal(const Vec3<Real>& p, const Vec3<Real>& normal,
                                                  const Vec3<Real>& point) {
  return {dot(normal, p - point), normal};
}

template <class Real>
inline Real box_distance(const Vec3<Real>& p, const Vec3<Real>& half) {
  return box_distance_normal(p, half).distance;
}
template <class Real>
inline Real sphere_distance(const Vec3<Real>& p, Real radius) {
  return sphere_distance_normal(p, radius).distance;
}
template <class Real>
inline Real cylinder_distance(const Vec3<Real>& p, Real radius, Real half_height) {
  return cylinder_distance_normal(p, radius, half_height).distance;
}
template <class Real>
inline Real capsule_distance(const Vec3<Real>& p, Real radius, Real half_height) {
  return capsule_distance_normal(p, radius, half_height).distance;
}
template <class Real>
inline Real torus_distance(const Vec3<Real>& p, Real radius, Real tube) {
  return torus_distance_normal(p, radius, tube).distance;
}
template <class Real>
inline Real plane_distance(const Vec3<Real>& p, const Vec3<Real>& normal, const Vec3<Real>& point) {
  return plane_distance_normal(p, normal, point).distance;
}

}  // namespace ductile
