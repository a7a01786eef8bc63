#include "solvers/body_contact.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/neighbors/cell_grid.hpp"
#include "runtime/launch.hpp"
#include "solvers/motion.hpp"

namespace ductile {

namespace {

template <class Real>
Vec4<Real> face_of(const scene::Body& body, const Eigen::Vector3d& rest) {
  const auto face = geometry::face_above(body.shape, rest, 0.5 * body.spacing);
  // A particle right on the surface still has a face.
  const double depth = std::max(face.depth, 1e-3 * body.spacing);
  return face.normal.isZero() ? padded(Vec3<Real>::zero()) : padded(to_vec3<Real>(face.normal), Real(depth));
}

}  // namespace

template <class Real>
BodyContact<Real>::BodyContact(Queue& queue, const scene::Scene& scene, const Particles& particles, const Real* radius,
                               const Vec4<Real>* rest, const std::vector<std::uint32_t>& flows)
    : friction_(Real(scene.contact.friction)),
      iterations_(scene.solver.iterations),
      radius_(radius),
      on_surface_(particles.size()) {
  std::vector<Real> support(particles.size()), keep(particles.size());
  std::vector<Vec4<Real>> face(particles.size(), padded(Vec3<Real>::zero()));
  double widest = 0, slowest = 0;
  for (const auto& body : scene.bodies)
    slowest = std::max(slowest, body.spacing / wave_speed(scene.materials[body.material]));
  recovered_ = Real(std::min(0.1, scene.solver.time_step / (3 * slowest)));
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const auto& body = scene.bodies[particles.body[i]];
    support[i] = Real(scene.solver.smoothing.support * body.spacing);
    widest = std::max(widest, body.spacing);
    const bool flowing = !flows.empty() && flows[i] != 0;
    // Centres of the two outer layers lie half and one and a half spacings inside; jitter moves them a little.
    const double depth = -geometry::signed_distance(body.shape, particles.rest[i]);
    on_surface_[i] = depth < 2 * body.spacing || flowing ? 1 : 0;
    // What lies on the very surface is still met by others: edges have nothing else.
    keep[i] = Real(flowing ? body.spacing / 2 : std::max(contact_distance(body, depth, false), 0.1 * body.spacing));
    if (depth < body.spacing && !flowing) face[i] = face_of<Real>(body, particles.rest[i]);
  }
  widest_ = Real(widest);
  piece_ = {queue, particles.body};
  flows_ = {queue, flows};
  support_ = {queue, support};
  keep_ = {queue, keep};
  rest_face_ = {queue, face};
  may_touch_ = {nullptr, piece_.data(), rest, scene.contact.self ? support_.data() : nullptr, flows_.data(), {}};
  set_surface(queue);
}

template <class Real>
void BodyContact<Real>::set_surface(Queue& queue) {
  std::vector<std::uint32_t> surface;
  for (std::size_t i = 0; i < on_surface_.size(); ++i)
    if (on_surface_[i] != 0) surface.push_back(std::uint32_t(i));
  particle_ = DeviceArray<std::uint32_t>(queue, surface);
  count_ = DeviceArray<std::uint32_t>(queue, surface.size());
  impulse_ = DeviceArray<Vec4<Real>>(queue, surface.size());
  surface_position_ = DeviceArray<Vec4<Real>>(queue, surface.size());
  moved_ = DeviceArray<Vec4<Real>>(queue, surface.size());
  face_ = DeviceArray<Vec4<Real>>(queue, surface.size());
  face_.clear_bytes();
  width_ = DeviceArray<Real>(queue, surface.size());
  width_.clear_bytes();
  may_touch_.particle = particle_.data();
}

template <class Real>
void BodyContact<Real>::cut(Queue& queue, const Pieces& pieces, const SeveredPairs& severed) {
  piece_.upload(pieces.of_particle);
  may_touch_.severed = severed;
  for (const std::uint32_t i : pieces.cut_layer) on_surface_[i] = 1;
  set_surface(queue);
  surface_rest_ = DeviceArray<Vec4<Real>>(queue, particle_.size());
  launch(queue, "contact.search", particle_.size(),
         GatherPositions<Real>{particle_.data(), may_touch_.rest, surface_rest_.data()});
}

template <class Real>
void BodyContact<Real>::find_pairs(Queue& queue, const Vec4<Real>* position, const Mat3<Real>* displacement_gradient,
                                   double reach) {
  // Fast bodies meet many particles at once, which share the way of a pass: this many a step stop them all.
  constexpr int enough = 20;
  passes_ = reach > 0.4 * double(widest_) ? (enough + iterations_ - 1) / iterations_ : 1;
  launch(queue, "contact.search", particle_.size(),
         GatherPositions<Real>{particle_.data(), position, surface_position_.data()});
  if (displacement_gradient != nullptr)
    launch(queue, "contact.search", particle_.size(),
           PlaceFaces<Real>{particle_.data(), rest_face_.data(), displacement_gradient, radius_, face_.data(),
                            width_.data()});
  pairs_ = find_neighbors<Real>(queue, surface_position_, Real(1.4) * widest_ + Real(2 * reach), may_touch_);
  if (history_.size() < pairs_.index.size()) {
    history_ = DeviceArray<Vec4<Real>>(queue, pairs_.index.size() * 5 / 4);
    touching_ = DeviceArray<std::uint32_t>(queue, history_.size());
  }
  history_.clear_bytes();
}

template <class Real>
void BodyContact<Real>::resolve(Queue& queue, Vec4<Real>* increment, Vec4<Real>* held) {
  if (pairs_.index.empty()) return;
  const std::size_t n = particle_.size();
  const ContactPairs<Real> pairs{pairs_.start.data(), pairs_.index.data(), surface_position_.data(), moved_.data(),
                                 face_.data(),        width_.data(),       surface_rest_.data(),     recovered_};
  for (int pass = 0; pass < passes_; ++pass) {
    launch(queue, "contact.bodies", n, GatherMoves<Real>{particle_.data(), increment, keep_.data(), moved_.data()});
    launch(queue, "contact.bodies", n, FindContacts<Real>{pairs, count_.data(), touching_.data()});
    launch(queue, "contact.bodies", n,
           GatherContacts<Real>{pairs, count_.data(), touching_.data(), friction_, history_.data(), impulse_.data()});
    launch(queue, "contact.bodies", n,
           ApplyContacts<Real>{particle_.data(), surface_position_.data(), impulse_.data(), increment, held});
  }
}

template class BodyContact<float>;
template class BodyContact<double>;

}  // namespace ductile
