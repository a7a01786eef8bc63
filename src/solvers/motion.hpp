#pragma once

#include <Eigen/Geometry>

#include <optional>

#include "kernels/contact/colliders.hpp"
#include "scene/scene.hpp"

namespace ductile {

template <class Real>
[[nodiscard]] Vec3<Real> to_vec3(const Eigen::Vector3d& v) {
  return {Real(v.x()), Real(v.y()), Real(v.z())};
}
template <class Real>
[[nodiscard]] Mat3<Real> to_mat3(const Eigen::Matrix3d& a) {
  return Mat3<Real>::from_rows(to_vec3<Real>(a.row(0)), to_vec3<Real>(a.row(1)), to_vec3<Real>(a.row(2)));
}

/// Where a rigid motion has taken the world after `time`: x -> rotation (x - about) + about_now.
struct Pose {
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
  Eigen::Vector3d about = Eigen::Vector3d::Zero(), about_now = Eigen::Vector3d::Zero();
};
[[nodiscard]] Pose pose_at(const scene::Motion& motion, double time);
/// The motion that takes over at `time`, from where `before` has led to. Without `about` (world coordinates at that
/// time) it turns about the same point as before.
[[nodiscard]] scene::Motion changed(const scene::Motion& before, double time, const Eigen::Vector3d& velocity,
                                    const Eigen::Vector3d& angular_velocity,
                                    const std::optional<Eigen::Vector3d>& about);

/// The collider's place during the step from `begin` to `end` seconds. A mesh still needs its distance grid.
template <class Real>
[[nodiscard]] Collider<Real> place_collider(const scene::Collider& collider, double begin, double end);

}  // namespace ductile
