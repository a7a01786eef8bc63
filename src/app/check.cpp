#include "app/check.hpp"

#include <fmt/format.h>

#include <cmath>

#include "app/advice.hpp"
#include "app/text.hpp"
#include "runtime/queue.hpp"
#include "scene/scene.hpp"
#include "solvers/particles.hpp"

namespace ductile::app {

namespace {

/// A row per body; neighbours in the list that are alike share one.
void print_bodies(const scene::Scene& scene, const Particles& particles) {
  std::vector<std::size_t> count(scene.bodies.size());
  for (const auto body : particles.body) ++count[body];
  const auto alike = [&](std::size_t a, std::size_t b) {
    const auto &one = scene.bodies[a], &other = scene.bodies[b];
    return one.material == other.material && one.spacing == other.spacing && count[a] == count[b];
  };
  std::vector<std::vector<std::string>> rows{{"body", "material", "particles", "spacing", "wave speed", "step hint"}};
  for (std::size_t first = 0, end = 0; first < scene.bodies.size(); first = end) {
    for (end = first + 1; end < scene.bodies.size() && alike(first, end);) ++end;
    const std::size_t bodies = end - first;
    const auto& body = scene.bodies[first];
    const auto& material = scene.materials[body.material];
    const double speed = wave_speed(material);
    rows.push_back({bodies == 1 ? body.name : fmt::format("{} to {}", body.name, scene.bodies[end - 1].name),
                    material.name,
                    bodies == 1 ? std::to_string(count[first]) : fmt::format("{} x {}", bodies, count[first]),
                    fmt::format("{:g} m", body.spacing), fmt::format("{:.3g} m/s", speed),
                    fmt::format("{:.2g} s", body.spacing / speed)});
  }
  fmt::print("{}", format_table(rows));
}

void print_step_hint(const scene::Scene& scene) {
  const double shortest = shortest_wave_time(scene);
  fmt::print("  step {:g} s = {:.3g} times the shortest wave time per spacing ({:.2g} s)\n", scene.solver.time_step,
             scene.solver.time_step / shortest, shortest);
  for (const auto& remark : solver_remarks(scene)) fmt::print("  {}\n", remark);
  for (const auto& warning : solver_warnings(scene)) fmt::print("  warning: {}\n", warning);
}

void print_start_hint(const scene::Scene& scene, const Particles& particles) {
  std::vector<Eigen::Vector3d> position;
  for (std::size_t i = 0; i < particles.size(); ++i)
    position.push_back(initial_position(scene.bodies[particles.body[i]], particles.rest[i], particles.id[i]));
  const std::vector<std::int32_t> body(particles.body.begin(), particles.body.end());
  for (const auto& warning : start_warnings(scene, position, body)) fmt::print("  warning: {}\n", warning);
}

}  // namespace

int check(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  const auto scene = scene::read_scene(file, overrides);
  const auto particles = sample(scene);
  refuse_empty_regions(scene, particles);
  fmt::print("{}\n", scene.title);
  print_bodies(scene, particles);
  fmt::print("  {} particles in {} bod{}, about {} of memory ({} free)\n", particles.size(), scene.bodies.size(),
             scene.bodies.size() == 1 ? "y" : "ies", format_bytes(estimate_memory(scene, double(particles.size()))),
             format_bytes(available_memory()));
  fmt::print("  {} steps to t = {:g} s, a frame every {:g} s\n",
             std::llround(scene.solver.end_time / scene.solver.time_step), scene.solver.end_time,
             scene.output.interval);
  print_step_hint(scene);
  print_start_hint(scene, particles);
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
