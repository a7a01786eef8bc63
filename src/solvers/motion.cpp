#include "solvers/motion.hpp"

namespace ductile {

namespace {

struct Frame {
  Eigen::Matrix3d rotation;
  Eigen::Vector3d center;
};

/// The local frame of a shape at rest; a plane's z axis is its normal.
Frame rest_frame(const geometry::Shape& shape) {
  if (const auto* plane = std::get_if<geometry::Plane>(&shape.kind)) {
    const Eigen::Matrix3d turn =
        Eigen::Quaterniond::FromTwoVectors(Eigen::Vector3d::UnitZ(), plane->normal).toRotationMatrix();
    return {shape.rotation * turn, shape.rotation * plane->point + shape.position};
  }
  return {shape.rotation, shape.position};
}

Frame moved(const Frame& frame, const scene::Motion& motion, double time) {
  const Pose pose = pose_at(motion, time);
  return {pose.rotation * frame.rotation, pose.rotation * (frame.center - pose.about) + pose.about_now};
}

template <class Real>
void set_shape(Collider<Real>& collider, const geometry::ShapeKind& kind) {
  const auto set = [&](ColliderShape shape, double x, double y, double z) {
    collider.shape = shape;
    collider.size = {Real(x), Real(y), Real(z)};
  };
  struct Visitor {
    decltype(set)& use;
    void operator()(const geometry::Box& b) const {
      use(ColliderShape::box, b.size.x() / 2, b.size.y() / 2, b.size.z() / 2);
    }
    void operator()(const geometry::Sphere& s) const { use(ColliderShape::sphere, s.radius, 0, 0); }
    void operator()(const geometry::Cylinder& c) const { use(ColliderShape::cylinder, c.radius, c.height / 2, 0); }
    void operator()(const geometry::Capsule& c) const { use(ColliderShape::capsule, c.radius, c.height / 2, 0); }
    void operator()(const geometry::Torus& t) const { use(ColliderShape::torus, t.radius, t.tube, 0); }
    void operator()(const geometry::Plane&) const { use(ColliderShape::plane, 0, 0, 0); }
    void operator()(const geometry::Mesh&) const { use(ColliderShape::grid, 0, 0, 0); }
  };
  std::visit(Visitor{set}, kind);
}

}  // namespace

Pose pose_at(const scene::Motion& motion, double time) {
  Pose pose;
  const double elapsed = time - motion.since;
  const double angle = motion.angular_velocity.norm() * elapsed;
  if (angle != 0) pose.rotation = Eigen::AngleAxisd(angle, motion.angular_velocity.normalized()).toRotationMatrix();
  pose.rotation *= motion.turned;
  pose.about = motion.from.value_or(motion.about);
  pose.about_now = motion.about + elapsed * motion.velocity;
  return pose;
}

scene::Motion changed(const scene::Motion& before, double time, const Eigen::Vector3d& velocity,
                      const Eigen::Vector3d& angular_velocity, const std::optional<Eigen::Vector3d>& about) {
  const Pose now = pose_at(before, time);
  scene::Motion motion;
  motion.velocity = velocity;
  motion.angular_velocity = angular_velocity;
  motion.about = about.value_or(now.about_now);
  motion.since = time;
  motion.turned = now.rotation;
  motion.from = now.about + now.rotation.transpose() * (motion.about - now.about_now);
  return motion;
}

template <class Real>
Collider<Real> place_collider(const scene::Collider& source, double begin, double end) {
  const Frame rest = rest_frame(source.shape);
  const Frame from = moved(rest, source.motion, begin), to = moved(rest, source.motion, end);
  Collider<Real> collider{};
  set_shape(collider, source.shape.kind);
  collider.inside = source.inside;
  collider.friction = Real(source.friction);
  collider.rotation = to_mat3<Real>(to.rotation);
  collider.center = to_vec3<Real>(to.center);
  const Eigen::Matrix3d back = from.rotation * to.rotation.transpose();
  collider.back = to_mat3<Real>(back);
  collider.start = to_vec3<Real>(from.center);
  collider.turn = to_mat3<Real>(Eigen::Matrix3d::Identity() - back);
  collider.move = to_vec3<Real>(to.center - from.center);
  return collider;
}

template Collider<float> place_collider<float>(const scene::Collider&, double, double);
template Collider<double> place_collider<double>(const scene::Collider&, double, double);

}  // namespace ductile
