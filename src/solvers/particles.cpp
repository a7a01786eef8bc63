#include "solvers/particles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>
#include <numeric>
#include <string>

#include "common/error.hpp"
#include "geometry/sampling.hpp"

namespace ductile {

namespace {

/// Spreads the lowest 21 bits to every third place.
std::uint64_t spread_bits(std::uint64_t x) {
  x &= 0x1FFFFF;
  x = (x | x << 32) & 0x1F00000000FFFF;
  x = (x | x << 16) & 0x1F0000FF0000FF;
  x = (x | x << 8) & 0x100F00F00F00F00F;
  x = (x | x << 4) & 0x10C30C30C30C30C3;
  return (x | x << 2) & 0x1249249249249249;
}

std::uint64_t morton_code(const Eigen::Vector3d& offset, double cell) {
  const auto coordinate = [&](double x) { return std::uint64_t(std::clamp(x / cell, 0.0, 2097151.0)); };
  return spread_bits(coordinate(offset.x())) | spread_bits(coordinate(offset.y())) << 1 |
         spread_bits(coordinate(offset.z())) << 2;
}

void refuse_if_too_large(const scene::Scene& scene) {
  double particles = 0;
  for (const auto& body : scene.bodies) particles += geometry::estimate_count(body.shape, body.spacing);
  const double needed = estimate_memory(scene, particles), room = available_memory();
  if (particles > 4e9 || needed > room)
    throw InputError(
        fmt::format("{}: the bodies would have about {:.3g} particles, which need {:.1f} GB; this machine has {:.1f} "
                    "GB free. Use a "
                    "larger spacing (twice the spacing needs an eighth of the memory) or smaller bodies.",
                    scene.file.string(), particles, needed / 1e9, room / 1e9));
}

}  // namespace

double available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string key; file >> key;) {
    double kilobytes = 0;
    if (key == "MemAvailable:" && file >> kilobytes) return 1024 * kilobytes;
    file.ignore(256, '\n');
  }
  return 8e9;
}

double estimate_memory(const scene::Scene& scene, double particles) {
  const double real = scene.solver.precision == scene::Precision::double_precision ? 8 : 4;
  const double neighbours = 4.0 / 3.0 * std::numbers::pi * std::pow(scene.solver.smoothing.support, 3);
  // 80 numbers per particle and one or two per pair on the device, and the sampled bodies on the host.
  return particles * (80 * real + neighbours * (4 + 2 * real) + 120);
}

Particles sample(const scene::Scene& scene) {
  refuse_if_too_large(scene);
  std::vector<Eigen::Vector3d> rest;
  std::vector<double> volume;
  std::vector<std::uint32_t> body;
  std::vector<std::uint64_t> code;
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    const auto& source = scene.bodies[b];
    auto samples = [&] {
      try {
        return geometry::sample_lattice(source.shape, source.spacing, source.jitter, b);
      } catch (const InputError& error) {
        throw InputError(fmt::format("{}: body \"{}\": {}", scene.file.string(), source.name, error.what()));
      }
    }();
    const Eigen::Vector3d corner = geometry::bounds(source.shape).min();
    for (std::size_t i = 0; i < samples.positions.size(); ++i) {
      rest.push_back(samples.positions[i]);
      volume.push_back(samples.volumes[i]);
      body.push_back(std::uint32_t(b));
      code.push_back(morton_code(samples.positions[i] - corner, source.spacing));
    }
  }
  std::vector<std::uint32_t> order(rest.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t i) { return std::tuple(scene.bodies[body[i]].material, body[i], code[i], i); };
    return key(a) < key(b);
  });
  Particles result;
  result.of_material.resize(scene.materials.size());
  for (const std::uint32_t i : order) {
    Range& range = result.of_material[scene.bodies[body[i]].material];
    if (range.count++ == 0) range.first = result.size();
    result.rest.push_back(rest[i]);
    result.volume.push_back(volume[i]);
    result.body.push_back(body[i]);
    result.id.push_back(i);
  }
  return result;
}

Eigen::Vector3d fiber_direction(const scene::Fiber& fiber, const geometry::Shape& shape, const Eigen::Vector3d& point) {
  using Field = scene::Fiber::Field;
  if (fiber.field == Field::constant) return fiber.direction;
  const Eigen::Vector3d axis = shape.rotation.col(2);
  if (fiber.field == Field::axis) return axis;
  const Eigen::Vector3d arm = point - shape.position;
  Eigen::Vector3d radial = arm - arm.dot(axis) * axis;
  const double length = radial.norm();
  radial =
      length > 1e-12 * (1 + arm.norm()) ? Eigen::Vector3d(radial / length) : Eigen::Vector3d(shape.rotation.col(0));
  return fiber.field == Field::radial ? radial : Eigen::Vector3d(axis.cross(radial));
}

std::vector<std::uint32_t> select(const Particles& particles, std::size_t body, const geometry::Shape* region) {
  std::vector<std::uint32_t> result;
  for (std::size_t i = 0; i < particles.size(); ++i)
    if (particles.body[i] == body && (region == nullptr || geometry::contains(*region, particles.rest[i])))
      result.push_back(std::uint32_t(i));
  return result;
}

}  // namespace ductile
