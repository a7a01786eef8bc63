#pragma once

#include "kernels/contact/pairs.hpp"
#include "runtime/device_array.hpp"
#include "scene/scene.hpp"
#include "solvers/cuts.hpp"
#include "solvers/neighbors.hpp"
#include "solvers/particles.hpp"

namespace ductile {

/// Contact of bodies with each other and with themselves, between the particles of their two outermost layers; of a
/// body that flows (`flows` holds 1 for its particles) all take part, but not with others that flow. The outermost
/// layer of a body that does not flow meets others across its smooth faces.
template <class Real>
class BodyContact {
 public:
  BodyContact() = default;
  BodyContact(Queue& queue, const scene::Scene& scene, const Particles& particles, const Real* radius,
              const Vec4<Real>* rest, const std::vector<std::uint32_t>& flows = {});

  [[nodiscard]] bool active() const { return particle_.size() > 1; }
  /// From now on pieces touch like bodies, and the particles along the cuts belong to the surface.
  void cut(Queue& queue, const Pieces& pieces, const SeveredPairs& severed);
  /// The tests shoot bodies at each other up to moves of three spacings in a step.
  [[nodiscard]] double farthest_reach() const { return 3 * double(widest_); }
  /// Lists every pair that can touch during a step in which no particle moves further than `reach`. Faces follow the
  /// deformation F - I; null: there are none, for gradients that do not know rotations.
  void find_pairs(Queue& queue, const Vec4<Real>* position, const Mat3<Real>* displacement_gradient, double reach);
  /// Pushes overlapping pairs of the last find_pairs() apart, several times in a fast step. `held` sums what that does
  /// to particles of infinite mass, impulse times dt; null: not wanted.
  void resolve(Queue& queue, Vec4<Real>* increment, Vec4<Real>* held);

 private:
  void set_surface(Queue& queue);

  Real friction_ = 0, widest_ = 0;
  Real recovered_ = 0;  // of an overlap of faces in a step: not faster than waves of stress carry it away
  int iterations_ = 1, passes_ = 1;
  const Real* radius_ = nullptr;
  std::vector<char> on_surface_;
  DeviceArray<std::uint32_t> particle_, piece_, count_, touching_, flows_;
  DeviceArray<Real> support_, keep_;
  MayTouch<Real> may_touch_{};
  NeighborLists pairs_;
  DeviceArray<Vec4<Real>> history_, impulse_, surface_position_, moved_;
  DeviceArray<Vec4<Real>> rest_face_;  // of each particle: outward normal at rest, depth
  DeviceArray<Vec4<Real>> face_;       // of each surface slot in this step
  DeviceArray<Real> width_;
  DeviceArray<Vec4<Real>> surface_rest_;  // of each surface slot, after the first cut
};

}  // namespace ductile
