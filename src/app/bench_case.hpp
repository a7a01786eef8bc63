#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "app/bench.hpp"
#include "runtime/queue.hpp"
#include "scene/scene.hpp"

namespace ductile::app {

/// One call of something, and the phases that it spent its time in.
struct Timing {
  double seconds = 0;
  std::vector<Timers::Phase> phases;
};
/// Runs `work` once to warm up, then until it has taken a second; returns the shortest call.
[[nodiscard]] Timing best_timing(Queue& queue, const std::function<void()>& work);

/// A cube of 1 m with about as many particles as asked for, which spins, so that every particle is strained; 31
/// neighbours.
[[nodiscard]] scene::Scene cube_scene(const BenchOptions& options);

/// What a bench case measured.
struct BenchResult {
  std::string name;
  std::size_t particles = 0;
  double mean_neighbours = 0;
  int iterations = 1;
  std::string note;
  Timing timing;
  double bytes_per_particle = 0;  ///< of device memory between steps; 0: not measured

  [[nodiscard]] double rate() const { return double(particles) * iterations / timing.seconds; }
};

/// Names of cases with a line of explanation each.
using BenchCases = std::vector<std::pair<std::string, std::string>>;

/// Of a table whose entries have a name and a text.
template <class Case>
[[nodiscard]] BenchCases listed(const std::vector<Case>& cases) {
  BenchCases list;
  for (const auto& c : cases) list.emplace_back(c.name, c.text);
  return list;
}
template <class Case>
[[nodiscard]] const Case& named(const std::vector<Case>& cases, const std::string& name) {
  return *std::find_if(cases.begin(), cases.end(), [&](const Case& c) { return name == c.name; });
}

}  // namespace ductile::app
