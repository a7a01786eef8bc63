#pragma once

#include "kernels/contact/pairs.hpp"
#include "runtime/device_array.hpp"
#include "scene/scene.hpp"
#include "solvers/neighbors.hpp"
#include "solvers/particles.hpp"

namespace ductile {

/// Contact of bodies with each other and with themselves, between the particles of their two outermost layers; of a
/// body that flows (`flows` holds 1 for its particles) all take part, but not with others that flow.
template <class Real>
class BodyContact {
 public:
  BodyContact() = default;
  BodyContact(Queue& queue, const scene::Scene& scene, const Particles& particles, const Real* radius,
              const Vec4<Real>* rest, const std::vector<std::uint32_t>& flows = {});

  [[nodiscard]] bool active() const { return particle_.size() > 1; }
  /// Lists every pair that can touch during a step in which no particle moves further than `reach`.
  void find_pairs(Queue& queue, const Vec4<Real>* position, double reach);
  /// Pushes overlapping pairs apart once.
  void resolve(Queue& queue, const Vec4<Real>* position, Vec4<Real>* increment);

 private:
  Real friction_ = 0, widest_ = 0;
  const Real* radius_ = nullptr;
  DeviceArray<std::uint32_t> particle_, body_, count_, flows_;
  DeviceArray<Real> support_;
  MayTouch<Real> may_touch_{};
  NeighborLists pairs_;
  DeviceArray<Vec4<Real>> history_, correction_, surface_position_;
};

}  // namespace ductile
