#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <vector>

#include "scene/scene.hpp"

namespace ductile {

struct DeviceDescription;

/// A run of particles in solver order.
struct Range {
  std::size_t first = 0, count = 0;
};

/// The particles of a scene at rest, in solver order: by material, then body, then along a space-filling curve. The id
/// of a particle counts the samples body by body; outputs are in id order.
struct Particles {
  std::vector<Eigen::Vector3d> rest;
  std::vector<double> volume;
  std::vector<std::uint32_t> body, id;
  std::vector<Range> of_material;  ///< index as in Scene::materials

  [[nodiscard]] std::size_t size() const { return rest.size(); }
};

/// Samples every body. Throws InputError for a body without particles or a scene that does not fit into memory, that of
/// the machine or, where it is given, of a device that has its own.
[[nodiscard]] Particles sample(const scene::Scene& scene, const DeviceDescription* device = nullptr);

/// Speed of pressure waves, m/s.
[[nodiscard]] double wave_speed(const scene::Material& material);

/// The smallest spacing of all bodies, m.
[[nodiscard]] double finest_spacing(const scene::Scene& scene);

/// Where a particle of the body starts.
[[nodiscard]] Eigen::Vector3d initial_position(const scene::Body& body, const Eigen::Vector3d& rest, std::uint32_t id);

/// Solver-order indices of the particles of a body whose rest position lies in the region (null: all), ascending.
[[nodiscard]] std::vector<std::uint32_t> select(const Particles& particles, std::size_t body,
                                                const geometry::Shape* region);

/// How far the centre of a particle at this depth below its body's surface stays from what the body touches: in the
/// outermost layer its own distance from the body's surface, so that the surface touches; deeper half a spacing. Of
/// matter that `flows`, where any particle may come to the surface, neither more than that nor less than half of it.
[[nodiscard]] double contact_distance(const scene::Body& body, double depth, bool flows);
/// Throws one InputError that names every fixture and probe whose region holds no particle.
void refuse_empty_regions(const scene::Scene& scene, const Particles& particles);

/// Unit rest direction of a fibre family at a point of a body with this shape.
[[nodiscard]] Eigen::Vector3d fiber_direction(const scene::Fiber& fiber, const geometry::Shape& shape,
                                              const Eigen::Vector3d& point);

/// Memory that a run will need, in bytes, from the number of particles alone.
[[nodiscard]] double estimate_memory(const scene::Scene& scene, double particles);
/// Memory that this machine can still give, in bytes.
[[nodiscard]] double available_memory();
/// The same for a run on a device: what is on it passes through the machine, so both must have room.
[[nodiscard]] double available_memory(const DeviceDescription& device);

}  // namespace ductile
