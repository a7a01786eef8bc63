#include "app/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/particles.hpp"

namespace ductile::app {

double shortest_wave_time(const scene::Scene& scene) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const auto& body : scene.bodies)
    shortest = std::min(shortest, body.spacing / wave_speed(scene.materials[body.material]));
  return shortest;
}

namespace {

/// Largest speed that the scene itself gives, m/s.
double given_speed(const scene::Scene& scene) {
  double most = 0;
  for (const auto& body : scene.bodies) most = std::max(most, body.velocity.norm());
  for (const auto& collider : scene.colliders) most = std::max(most, collider.motion.velocity.norm());
  for (const auto& fixture : scene.fixtures) most = std::max(most, fixture.motion.velocity.norm());
  return most;
}

}  // namespace

/// The implicit step is stable beyond the wave's time per spacing, but each iteration carries a wave about one spacing
/// far, so longer steps need iterations in proportion. One multiplier per particle has an error that falls as dt^2.
std::vector<std::string> solver_warnings(const scene::Scene& scene) {
  std::vector<std::string> warnings;
  const double dt = scene.solver.time_step, shortest = shortest_wave_time(scene), ratio = dt / shortest;
  constexpr double most_iterations = 1e6;  // that a scene may ask for
  if (ratio > scene.solver.iterations)
    warnings.push_back(
        fmt::format("{} iterations can't carry a wave that far in one step; the bodies will look too soft. Use a step "
                    "of {:.2g} s{}.",
                    scene.solver.iterations, shortest * scene.solver.iterations,
                    ratio > most_iterations ? "" : fmt::format(" or at least {:.0f} iterations", std::ceil(ratio))));
  if (scene.solver.method != scene::Method::xpbi) return warnings;
  if (ratio > 3 && scene.solver.multiplier != scene::Multiplier::tensor)
    warnings.push_back(
        fmt::format("at {:.3g} wave times per step the multiplier {} is off by several per cent, whatever the "
                    "iterations. Use a step of {:.2g} s, or multiplier tensor.",
                    ratio, scene.solver.multiplier == scene::Multiplier::scalar ? "scalar" : "pair", 2 * shortest));
  if (ratio > 1 && scene.solver.scheme == scene::Scheme::jacobi)
    warnings.push_back(fmt::format(
        "the Jacobi scheme diverges for stiff steps: use a step below {:.2g} s or gauss-seidel.", shortest));
  const double moved = dt * given_speed(scene) / finest_spacing(scene);
  if (moved > 0.25)
    warnings.push_back(
        fmt::format("something moves {:.2g} spacings per step: neighbours are chosen once per step, so use a step of "
                    "{:.2g} s.",
                    moved, dt * 0.25 / moved));
  for (const auto& material : scene.materials)
    if (std::holds_alternative<scene::DruckerPrager>(material.plastic) &&
        scene.solver.separation == scene::Separation::density)
      warnings.push_back(
          fmt::format("separation by density carries the pressure that the friction of \"{}\" needs: it will flow like "
                      "water. Use separation distance.",
                      material.name));
  return warnings;
}

std::vector<std::string> start_warnings(const scene::Scene& scene, const std::vector<Eigen::Vector3d>& position,
                                        const std::vector<std::int32_t>& body) {
  std::vector<char> held(scene.bodies.size());  // embedded on purpose
  for (const auto& fixture : scene.fixtures) held[fixture.body] = 1;
  constexpr std::size_t enough = 100000;  // particles, to tell of bodies
  const std::size_t stride = 1 + position.size() / enough;
  std::vector<std::string> warnings;
  for (const auto& collider : scene.colliders) {
    std::vector<double> deepest(scene.bodies.size());
    for (std::size_t i = 0; i < position.size(); i += stride) {
      const auto b = std::size_t(body[i]);
      const double distance = geometry::signed_distance(collider.shape, position[i]);
      if (held[b] == 0) deepest[b] = std::max(deepest[b], collider.inside ? distance : -distance);
    }
    for (std::size_t b = 0; b < deepest.size(); ++b)
      if (deepest[b] > 0.25 * scene.bodies[b].spacing)
        warnings.push_back(
            fmt::format("body \"{}\" starts {:.2g} m {} collider \"{}\", which will throw it out. Move one "
                        "of them.",
                        scene.bodies[b].name, deepest[b] + 0.5 * scene.bodies[b].spacing,
                        collider.inside ? "outside of" : "inside", collider.name));
  }
  return warnings;
}

}  // namespace ductile::app
