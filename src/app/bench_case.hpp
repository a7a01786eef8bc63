#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "runtime/queue.hpp"

namespace ductile::app {

/// Runs `work` once to warm up, then until it has taken a second; returns the shortest time of one call.
inline double best_seconds(Queue& queue, const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  work();
  queue.wait();
  queue.timers().clear();
  double best = 1e30, total = 0;
  for (int k = 0; k < 50 && (k < 3 || total < 1.0); ++k) {
    const auto start = Clock::now();
    work();
    queue.wait();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::min(best, seconds);
    total += seconds;
  }
  return best;
}

/// What a bench case measured.
struct BenchResult {
  std::string name;
  std::size_t particles = 0;
  double mean_neighbours = 0;
  int iterations = 1;
  double seconds = 0;
  std::string note;
  std::vector<Timers::Phase> phases;

  [[nodiscard]] double rate() const { return double(particles) * iterations / seconds; }
};

}  // namespace ductile::app
