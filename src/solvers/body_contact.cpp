#include "solvers/body_contact.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.hpp"
#include "kernels/neighbors/cell_grid.hpp"
#include "runtime/launch.hpp"

namespace ductile {

template <class Real>
BodyContact<Real>::BodyContact(Queue& queue, const scene::Scene& scene, const Particles& particles, const Real* radius,
                               const Vec4<Real>* rest, const std::vector<std::uint32_t>& flows)
    : friction_(Real(scene.contact.friction)),
      iterations_(scene.solver.iterations),
      radius_(radius),
      on_surface_(particles.size()) {
  std::vector<Real> support(particles.size());
  double widest = 0;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const auto& body = scene.bodies[particles.body[i]];
    support[i] = Real(scene.solver.smoothing.support * body.spacing);
    widest = std::max(widest, body.spacing);
    // Centres of the two outer layers lie half and one and a half spacings inside; jitter moves them a little.
    const bool outer = geometry::signed_distance(body.shape, particles.rest[i]) > -2 * body.spacing;
    on_surface_[i] = outer || (!flows.empty() && flows[i] != 0) ? 1 : 0;
  }
  widest_ = Real(widest);
  piece_ = {queue, particles.body};
  flows_ = {queue, flows};
  support_ = {queue, support};
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
  correction_ = DeviceArray<Vec4<Real>>(queue, surface.size());
  surface_position_ = DeviceArray<Vec4<Real>>(queue, surface.size());
  moved_ = DeviceArray<Vec4<Real>>(queue, surface.size());
  may_touch_.particle = particle_.data();
}

template <class Real>
void BodyContact<Real>::cut(Queue& queue, const Pieces& pieces, const SeveredPairs& severed) {
  piece_.upload(pieces.of_particle);
  may_touch_.severed = severed;
  for (const std::uint32_t i : pieces.cut_layer) on_surface_[i] = 1;
  set_surface(queue);
}

template <class Real>
void BodyContact<Real>::find_pairs(Queue& queue, const Vec4<Real>* position, double reach) {
  // The tests shoot bodies at each other up to here.
  constexpr double farthest = 3;  // spacings
  if (reach > farthest * double(widest_))
    throw SimulationError(
        fmt::format("Particles may move {:.0f} spacings in one step, too far to find what they touch on the way. Make "
                    "the time step {:.1g} times as long.",
                    reach / double(widest_), 0.5 * farthest * double(widest_) / reach));
  // Fast bodies meet many particles at once, which share the way of a pass: this many a step stop them all.
  constexpr int enough = 20;
  passes_ = reach > 0.4 * double(widest_) ? (enough + iterations_ - 1) / iterations_ : 1;
  launch(queue, "contact.search", particle_.size(),
         GatherPositions<Real>{particle_.data(), position, surface_position_.data()});
  pairs_ = find_neighbors<Real>(queue, surface_position_, widest_ + Real(2 * reach), may_touch_);
  if (history_.size() < pairs_.index.size()) {
    history_ = DeviceArray<Vec4<Real>>(queue, pairs_.index.size() * 5 / 4);
    touching_ = DeviceArray<std::uint32_t>(queue, history_.size());
  }
  history_.clear_bytes();
}

template <class Real>
void BodyContact<Real>::resolve(Queue& queue, Vec4<Real>* increment) {
  if (pairs_.index.empty()) return;
  const std::size_t n = particle_.size();
  const ContactPairs<Real> pairs{pairs_.start.data(), pairs_.index.data(), surface_position_.data(), moved_.data()};
  for (int pass = 0; pass < passes_; ++pass) {
    launch(queue, "contact.bodies", n, GatherMoves<Real>{particle_.data(), increment, radius_, moved_.data()});
    launch(queue, "contact.bodies", n, FindContacts<Real>{pairs, count_.data(), touching_.data()});
    launch(
        queue, "contact.bodies", n,
        GatherContacts<Real>{pairs, count_.data(), touching_.data(), friction_, history_.data(), correction_.data()});
    launch(queue, "contact.bodies", n, ApplyContacts<Real>{particle_.data(), correction_.data(), increment});
  }
}

template class BodyContact<float>;
template class BodyContact<double>;

}  // namespace ductile
