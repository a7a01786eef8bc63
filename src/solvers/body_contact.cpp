#include "solvers/body_contact.hpp"

#include <algorithm>

#include "kernels/neighbors/cell_grid.hpp"
#include "runtime/launch.hpp"

namespace ductile {

template <class Real>
BodyContact<Real>::BodyContact(Queue& queue, const scene::Scene& scene, const Particles& particles, const Real* radius,
                               const Vec4<Real>* rest, const std::vector<std::uint32_t>& flows)
    : friction_(Real(scene.contact.friction)), radius_(radius) {
  std::vector<std::uint32_t> surface;
  std::vector<Real> support(particles.size());
  double widest = 0;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const auto& body = scene.bodies[particles.body[i]];
    support[i] = Real(scene.solver.smoothing.support * body.spacing);
    widest = std::max(widest, body.spacing);
    // Centres of the two outer layers lie half and one and a half spacings inside; jitter moves them a little.
    if ((!flows.empty() && flows[i] != 0) ||
        geometry::signed_distance(body.shape, particles.rest[i]) > -2 * body.spacing)
      surface.push_back(std::uint32_t(i));
  }
  widest_ = Real(widest);
  particle_ = {queue, surface};
  body_ = {queue, particles.body};
  flows_ = {queue, flows};
  support_ = {queue, support};
  count_ = {queue, surface.size()};
  correction_ = {queue, surface.size()};
  surface_position_ = {queue, surface.size()};
  may_touch_ = {particle_.data(), body_.data(), rest, scene.contact.self ? support_.data() : nullptr, flows_.data()};
}

template <class Real>
void BodyContact<Real>::find_pairs(Queue& queue, const Vec4<Real>* position, double reach) {
  launch(queue, "contact.search", particle_.size(),
         GatherPositions<Real>{particle_.data(), position, surface_position_.data()});
  pairs_ = find_neighbors<Real>(queue, surface_position_, widest_ + Real(2 * reach), may_touch_);
  if (history_.size() < pairs_.index.size()) history_ = DeviceArray<Vec4<Real>>(queue, pairs_.index.size() * 5 / 4);
  history_.clear_bytes();
}

template <class Real>
void BodyContact<Real>::resolve(Queue& queue, const Vec4<Real>* position, Vec4<Real>* increment) {
  if (pairs_.index.empty()) return;
  const ContactPairs<Real> pairs{
      pairs_.start.data(), pairs_.index.data(), particle_.data(), position, increment, radius_};
  launch(queue, "contact.bodies", particle_.size(), CountContacts<Real>{pairs, count_.data()});
  launch(queue, "contact.bodies", particle_.size(),
         GatherContacts<Real>{pairs, count_.data(), friction_, history_.data(), correction_.data()});
  launch(queue, "contact.bodies", particle_.size(),
         ApplyContacts<Real>{particle_.data(), correction_.data(), increment});
}

template class BodyContact<float>;
template class BodyContact<double>;

}  // namespace ductile
