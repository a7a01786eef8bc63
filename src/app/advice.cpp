#include "app/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/laws.hpp"
#include "solvers/particles.hpp"

namespace ductile::app {

double shortest_wave_time(const scene::Scene& scene) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const auto& body : scene.bodies)
    shortest = std::min(shortest, body.spacing / wave_speed(scene.materials[body.material]));
  return shortest;
}

namespace {

using Points = std::vector<Eigen::Vector3d>;

bool has_end(const geometry::Shape& shape) { return !std::holds_alternative<geometry::Plane>(shape.kind); }

/// Points of a shape, those farthest from its middle among them: a lattice over its bounds along its own axes. None for
/// a plane, which has no end.
Points points_of(const geometry::Shape& shape) {
  Points points;
  if (!has_end(shape)) return points;
  const Eigen::AlignedBox3d local = geometry::bounds({shape.kind});
  const Eigen::Vector3d middle = local.center(), half = 0.5 * local.sizes();
  constexpr int cells = 4;  // on either side of the middle
  for (int x = -cells; x <= cells; ++x)
    for (int y = -cells; y <= cells; ++y)
      for (int z = -cells; z <= cells; ++z) {
        // A hair inside, so that rounding does not leave corners out.
        const Eigen::Vector3d way = Eigen::Vector3d(x, y, z) * ((1 - 1e-9) / cells);
        const Eigen::Vector3d point = shape.position + shape.rotation * (middle + half.cwiseProduct(way));
        if (geometry::contains(shape, point)) points.push_back(point);
      }
  return points;
}

Points points_in_both(const geometry::Shape& one, const geometry::Shape& other) {
  Points both;
  for (const auto& [shape, limit] : {std::pair{&one, &other}, {&other, &one}})
    for (const auto& point : points_of(*shape))
      if (geometry::contains(*limit, point)) both.push_back(point);
  return both;
}

/// Largest |velocity + angular_velocity x (point - about)|, m/s; the points are asked for if it turns.
template <class Find>
double largest_speed(const Eigen::Vector3d& velocity, const Eigen::Vector3d& angular_velocity,
                     const Eigen::Vector3d& about, const Find& points) {
  double most = velocity.norm();
  if (angular_velocity.isZero(0)) return most;
  for (const auto& point : points()) most = std::max(most, (velocity + angular_velocity.cross(point - about)).norm());
  return most;
}

/// Largest speed that the scene itself gives, m/s. A plane that turns is taken where the bodies start.
double given_speed(const scene::Scene& scene) {
  double most = 0;
  const auto consider = [&](const auto& motion, const Eigen::Vector3d& about, const auto& points) {
    most = std::max(most, largest_speed(motion.velocity, motion.angular_velocity, about, points));
  };
  for (const auto& body : scene.bodies) consider(body, body.shape.position, [&] { return points_of(body.shape); });
  for (const auto& collider : scene.colliders) {
    if (has_end(collider.shape))
      consider(collider.motion, collider.motion.about, [&] { return points_of(collider.shape); });
    else
      for (const auto& body : scene.bodies)
        consider(collider.motion, collider.motion.about, [&] { return points_of(body.shape); });
  }
  for (const auto& fixture : scene.fixtures)
    consider(fixture.motion, fixture.motion.about,
             [&] { return points_in_both(fixture.region, scene.bodies[fixture.body].shape); });
  return most;
}

/// More than one multiplier per particle needs Hencky strains.
bool may_have_tensors(const scene::Scene& scene) {
  return std::ranges::all_of(scene.materials, [](const scene::Material& material) {
    return material.elastic.model == scene::ElasticModel::hencky;
  });
}

/// What to say of the spacings that the fastest thing of a scene moves per step; empty: nothing. Contact between bodies
/// of the total-Lagrangian method is tried up to 1.7 of them (docs/total_lagrangian.md). Against colliders a way is
/// followed, however long; what is left then is that a body meets one, or is pulled, too far within a single step.
std::string way_warning(const scene::Scene& scene, double moved) {
  const double dt = scene.solver.time_step;
  if (scene.solver.method == scene::Method::xpbi)
    return moved > 0.25 ? fmt::format(
                              "something moves {:.2g} spacings per step: neighbours are chosen once per step, "
                              "so use a step of {:.2g} s.",
                              moved, dt * 0.25 / moved)
                        : "";
  const double most = scene.contact.enabled ? 1.7 : 5;
  if (!(moved > most) || (!scene.contact.enabled && scene.colliders.empty() && scene.fixtures.empty())) return "";
  return fmt::format("something moves {:.2g} spacings per step: {}. Use a step of {:.2g} s.", moved,
                     scene.contact.enabled ? "bodies that meet get into each other, and from 2 on contact is refused"
                                           : "what it meets or pulls is crushed or torn in a single one",
                     dt * most / moved);
}

}  // namespace

/// The implicit step is stable beyond the wave's time per spacing, but each iteration carries a wave about one spacing
/// far, so longer steps need iterations in proportion; ten times as many where all corrections are made at once, from
/// their old neighbours and with half their size (docs/total_lagrangian.md, "Choosing step and iterations"). One
/// multiplier per particle has an error that falls as dt^2.
std::vector<std::string> solver_warnings(const scene::Scene& scene) {
  std::vector<std::string> warnings;
  const double dt = scene.solver.time_step, shortest = shortest_wave_time(scene), ratio = dt / shortest;
  constexpr double most_iterations = 1e6;  // that a scene may ask for
  const bool slow = scene.solver.method == scene::Method::total_lagrangian &&
                    scene.solver.scheme == scene::Scheme::jacobi && ratio > 2;
  const double needed = slow ? 10 * ratio : ratio;
  if (needed > scene.solver.iterations)
    warnings.push_back(fmt::format(
        "{} {}iterations can't carry a wave that far in one step; the bodies will look too soft. Use a step "
        "of {:.2g} s{}{}.",
        scene.solver.iterations, slow ? "Jacobi " : "",
        std::max(dt * scene.solver.iterations / needed, slow ? 2 * shortest : 0.0),
        needed > most_iterations ? "" : fmt::format(" or at least {:.0f} iterations", std::ceil(needed)),
        slow ? ", or gauss-seidel" : ""));
  if (const auto warning = way_warning(scene, dt * given_speed(scene) / finest_spacing(scene)); !warning.empty())
    warnings.push_back(warning);
  if (scene.solver.method != scene::Method::xpbi) return warnings;
  if (ratio > 3 && scene.solver.multiplier != scene::Multiplier::tensor)
    warnings.push_back(
        fmt::format("at {:.3g} wave times per step the multiplier {} is off by several per cent, whatever the "
                    "iterations. Use a step of {:.2g} s{}.",
                    ratio, scene.solver.multiplier == scene::Multiplier::scalar ? "scalar" : "pair", 2 * shortest,
                    may_have_tensors(scene) ? ", or multiplier tensor" : ""));
  if (ratio > 1 && scene.solver.scheme == scene::Scheme::jacobi)
    warnings.push_back(fmt::format(
        "the Jacobi scheme diverges for stiff steps: use a step below {:.2g} s or gauss-seidel.", shortest));
  for (const auto& material : scene.materials)
    if (std::holds_alternative<scene::DruckerPrager>(material.plastic) &&
        scene.solver.separation == scene::Separation::density)
      warnings.push_back(
          fmt::format("separation by density carries the pressure that the friction of \"{}\" needs: it will flow like "
                      "water. Use separation distance.",
                      material.name));
  return warnings;
}

std::vector<std::string> solver_remarks(const scene::Scene& scene) {
  std::vector<std::string> remarks;
  for (const auto& body : scene.bodies) {
    const auto& material = scene.materials[body.material];
    const auto* snow = std::get_if<scene::Snow>(&material.plastic);
    if (snow == nullptr || snow->hardening == 0) continue;
    const double stiffening = with_mapping<double>(*snow, lame_of(material.elastic),
                                                   [](const auto& law) { return law.stiffening({law.least_ratio}); });
    const double time = body.spacing / (wave_speed(material) * std::sqrt(stiffening));
    const auto remark = fmt::format(
        "\"{}\" hardens: packed to {:g} of its volume, the most there is, it is {:.2g} times as stiff, and a step is "
        "{:.2g} times the wave time per spacing ({:.2g} s).",
        material.name, Snow<double>::least_ratio, stiffening, scene.solver.time_step / time, time);
    if (std::ranges::find(remarks, remark) == remarks.end()) remarks.push_back(remark);
  }
  return remarks;
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
