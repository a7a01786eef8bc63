#pragma once

#include <vector>

#include "kernels/contact/colliders.hpp"
#include "runtime/device_array.hpp"
#include "scene/scene.hpp"
#include "solvers/particles.hpp"

namespace ductile {

/// The scene's rigid obstacles on the device.
template <class Real>
class Colliders {
 public:
  Colliders() = default;
  /// Samples the distances of meshes; throws InputError for one that is too large for the scene's particles.
  Colliders(Queue& queue, const scene::Scene& scene, const Particles& particles);

  [[nodiscard]] bool empty() const { return placed_.empty(); }
  /// Puts all of them where they are during the step from `begin` to `end` seconds and forgets the contacts before.
  void begin_step(const scene::Scene& scene, double begin, double end);
  /// Pushes particles out of them once.
  void resolve(Queue& queue, const Vec4<Real>* position, const Real* radius, Vec4<Real>* increment);
  /// What they did to the particles in this step.
  [[nodiscard]] ColliderContacts<Real> contacts();

 private:
  std::vector<Collider<Real>> placed_;
  std::vector<DeviceArray<Real>> distances_;  // of meshes
  std::vector<DistanceGrid<Real>> grids_;     // of every collider; empty for other shapes
  DeviceArray<Collider<Real>> collider_;
  std::size_t particles_ = 0;
  DeviceArray<Vec4<Real>> contact_;  // slots, as in ColliderContacts
  DeviceArray<std::uint32_t> owner_;
  DeviceArray<Real> keep_;  // distance of each particle's centre
};

}  // namespace ductile
