#pragma once

#include <string>
#include <vector>

#include "scene/scene.hpp"

namespace ductile::app {

/// Shortest time that a wave takes from one particle to the next, s; in snow as it is before it hardens.
[[nodiscard]] double shortest_wave_time(const scene::Scene& scene);
/// What is doubtful about the scene's time step and solver, a sentence each.
[[nodiscard]] std::vector<std::string> solver_warnings(const scene::Scene& scene);
/// What the numbers of the check leave out, a sentence each: snow as stiff as it gets.
[[nodiscard]] std::vector<std::string> solver_remarks(const scene::Scene& scene);
/// What is doubtful about where bodies start: inside colliders, which throw them out. Particles are given by position
/// and body.
[[nodiscard]] std::vector<std::string> start_warnings(const scene::Scene& scene,
                                                      const std::vector<Eigen::Vector3d>& position,
                                                      const std::vector<std::int32_t>& body);

}  // namespace ductile::app
