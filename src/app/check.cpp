#include "app/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/text.hpp"
#include "kernels/materials/strain.hpp"
#include "runtime/queue.hpp"
#include "scene/scene.hpp"
#include "solvers/particles.hpp"

namespace ductile::app {

namespace {

/// Speed of pressure waves, m/s.
double wave_speed(const scene::Material& material) {
  const auto lame = Lame<double>::from(material.elastic.youngs_modulus, material.elastic.poisson_ratio);
  double stiffness = lame.lambda + 2 * lame.mu;
  for (const auto& fiber : material.fibers) stiffness += 2 * fiber.stiffness;
  return std::sqrt(stiffness / material.density);
}

void print_bodies(const scene::Scene& scene, const Particles& particles) {
  std::vector<std::size_t> count(scene.bodies.size());
  for (const auto body : particles.body) ++count[body];
  std::vector<std::vector<std::string>> rows{{"body", "material", "particles", "spacing", "wave speed", "step hint"}};
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    const auto& body = scene.bodies[b];
    const auto& material = scene.materials[body.material];
    const double speed = wave_speed(material);
    rows.push_back({body.name, material.name, std::to_string(count[b]), fmt::format("{:g} m", body.spacing),
                    fmt::format("{:.3g} m/s", speed), fmt::format("{:.2g} s", body.spacing / speed)});
  }
  fmt::print("{}", format_table(rows));
}

/// The implicit step is stable beyond the wave's time per spacing, but each iteration carries a wave about one spacing
/// far, so longer steps need iterations in proportion.
void print_step_hint(const scene::Scene& scene) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const auto& body : scene.bodies)
    shortest = std::min(shortest, body.spacing / wave_speed(scene.materials[body.material]));
  const double ratio = scene.solver.time_step / shortest;
  fmt::print("  step {:g} s = {:.2f} times the shortest wave time per spacing ({:.2g} s)\n", scene.solver.time_step,
             ratio, shortest);
  if (ratio > scene.solver.iterations)
    fmt::print(
        "  warning: {} iterations can't carry a wave that far in one step; the bodies will look too soft. Use a "
        "step of {:.2g} s or at least {} iterations.\n",
        scene.solver.iterations, shortest * scene.solver.iterations, int(std::ceil(ratio)));
}

}  // namespace

int check(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  const auto scene = scene::read_scene(file, overrides);
  const auto particles = sample(scene);
  for (const auto& fixture : scene.fixtures)
    if (select(particles, fixture.body, &fixture.region).empty())
      fmt::print("  warning: fixture \"{}\" holds no particle; a run would refuse it\n", fixture.name);
  fmt::print("{}\n", scene.title);
  print_bodies(scene, particles);
  fmt::print("  {} particles in {} bod{}, about {} of memory ({} free)\n", particles.size(), scene.bodies.size(),
             scene.bodies.size() == 1 ? "y" : "ies", format_bytes(estimate_memory(scene, double(particles.size()))),
             format_bytes(available_memory()));
  fmt::print("  {} steps to t = {:g} s, a frame every {:g} s\n",
             std::llround(scene.solver.end_time / scene.solver.time_step), scene.solver.end_time,
             scene.output.interval);
  print_step_hint(scene);
  return 0;
}

int devices() {
  std::vector<std::vector<std::string>> rows{{"device", "number", "kind", "units", "memory", "double", "driver"}};
  const auto found = list_devices();
  for (std::size_t i = 0; i < found.size(); ++i)
    rows.push_back({found[i].name, std::to_string(i), found[i].kind, std::to_string(found[i].compute_units),
                    format_bytes(double(found[i].memory_bytes)), found[i].double_precision ? "yes" : "no",
                    found[i].driver});
  fmt::print("back end {} ({})\n{}", backend_name(), backend_compiler(), format_table(rows));
  return 0;
}

}  // namespace ductile::app
