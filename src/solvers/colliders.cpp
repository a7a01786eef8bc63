#include "solvers/colliders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/error.hpp"
#include "geometry/distance_grid.hpp"
#include "runtime/launch.hpp"
#include "solvers/motion.hpp"

namespace ductile {

namespace {

constexpr double most_points = 8e6;  // of a mesh's distance grid: 32 MB in single precision

/// Distances of a mesh, fine enough for the smallest particles and wide enough for the largest ones.
geometry::DistanceSamples sample_mesh(const scene::Scene& scene, const scene::Collider& collider,
                                      const geometry::TriangleMesh& mesh) {
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;
  for (const auto& body : scene.bodies) {
    smallest = std::min(smallest, body.spacing);
    largest = std::max(largest, body.spacing);
  }
  double width = smallest / 2;
  while (geometry::distance_grid_points(mesh, width, largest) > most_points) width *= 1.1;
  if (width > 2 * smallest) {
    const Eigen::Vector3d size = mesh.bounds().sizes();
    throw InputError(
        fmt::format("{}: collider \"{}\": its mesh of {:.3g} x {:.3g} x {:.3g} m is too large for particles {:.3g} m "
                    "apart. Split it into parts, use the analytic shapes for its large faces, or enlarge the spacing "
                    "to {:.2g} m.",
                    scene.file.string(), collider.name, size.x(), size.y(), size.z(), smallest, width / 2));
  }
  return geometry::sample_distance(mesh, width, largest);
}

}  // namespace

template <class Real>
Colliders<Real>::Colliders(Queue& queue, const scene::Scene& scene, const Particles& particles)
    : placed_(scene.colliders.size()), grids_(scene.colliders.size()) {
  if (placed_.empty()) return;
  for (std::size_t c = 0; c < placed_.size(); ++c) {
    const auto* mesh = std::get_if<geometry::Mesh>(&scene.colliders[c].shape.kind);
    if (mesh == nullptr) continue;
    const auto samples = sample_mesh(scene, scene.colliders[c], *mesh->triangles);
    const std::vector<Real> values(samples.values.begin(), samples.values.end());
    distances_.emplace_back(queue, values);
    grids_[c] = {distances_.back().data(),        to_vec3<Real>(samples.origin),    Real(samples.width),
                 Real(1 / samples.width),         std::uint32_t(samples.points[0]), std::uint32_t(samples.points[1]),
                 std::uint32_t(samples.points[2])};
  }
  collider_ = {queue, placed_.size()};
  particles_ = particles.size();
  std::vector<Real> keep(particles_);
  for (std::size_t i = 0; i < particles_; ++i) {
    const auto& body = scene.bodies[particles.body[i]];
    const bool flows = scene.solver.method == scene::Method::xpbi &&
                       !std::holds_alternative<std::monostate>(scene.materials[body.material].plastic);
    keep[i] = Real(contact_distance(body, -geometry::signed_distance(body.shape, particles.rest[i]), flows));
  }
  keep_ = {queue, keep};
  const std::size_t slots = std::min(placed_.size(), std::size_t(ColliderContacts<Real>::most));
  contact_ = {queue, slots * particles_};
  if (slots < placed_.size()) owner_ = {queue, slots * particles_};
}

template <class Real>
void Colliders<Real>::begin_step(const scene::Scene& scene, double begin, double end) {
  if (empty()) return;
  for (std::size_t c = 0; c < placed_.size(); ++c) {
    placed_[c] = place_collider<Real>(scene.colliders[c], begin, end);
    placed_[c].grid = grids_[c];
  }
  collider_.upload(placed_);
  contact_.clear_bytes();
  owner_.clear_bytes();
}

template <class Real>
void Colliders<Real>::resolve(Queue& queue, const Vec4<Real>* position, const Real* radius, Vec4<Real>* increment) {
  if (empty()) return;
  launch(queue, "contact.colliders", particles_,
         ResolveColliders<Real>{collider_.data(), std::uint32_t(collider_.size()), position, keep_.data(), radius,
                                contacts(), increment});
}

template <class Real>
ColliderContacts<Real> Colliders<Real>::contacts() {
  if (empty()) return {};
  return {contact_.data(), owner_.data(), std::uint32_t(contact_.size() / particles_), particles_};
}

template class Colliders<float>;
template class Colliders<double>;

}  // namespace ductile
