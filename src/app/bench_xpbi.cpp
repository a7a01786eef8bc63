#include "app/bench_xpbi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "solvers/xpbi.hpp"

namespace ductile::app {

namespace {

struct Case {
  const char* name;
  const char* text;
  scene::ElasticModel law;
  scene::Plastic plastic;
  bool memory;
};

const std::vector<Case>& cases() {
  using Law = scene::ElasticModel;
  static const std::vector<Case> all{
      {"xpbi-von-mises-memory", "Gauss-Seidel iterations of dough, pair memory", Law::hencky, scene::VonMises{500, 0},
       true},
      {"xpbi-von-mises-current", "the same with neighbours in the current positions", Law::hencky,
       scene::VonMises{500, 0}, false},
      {"xpbi-drucker-prager", "sand, current positions", Law::hencky, scene::DruckerPrager{35, 0, true}, false},
      {"xpbi-cam-clay", "clay, current positions", Law::hencky, scene::CamClay{1.85, 0.05, 30, -0.005}, false},
      {"xpbi-herschel-bulkley", "cream, current positions", Law::hencky, scene::HerschelBulkley{50, 10, 0.8}, false},
      {"xpbi-snow", "snow, current positions", Law::fixed_corotated, scene::Snow{}, false}};
  return all;
}

/// A cube of 1 m that lands on the ground with a spin, so that every particle is strained and many flow.
scene::Scene impact_scene(const Case& chosen, const BenchOptions& options) {
  auto scene = cube_scene(options);
  scene.solver.method = scene::Method::xpbi;
  scene.solver.reference = chosen.memory ? scene::Reference::memory : scene::Reference::current;
  scene.solver.time_step = 5e-4;
  scene.solver.iterations = 10;
  scene.solver.hourglass = chosen.memory ? 0.3 : 0.0;
  scene.solver.least_distance = chosen.memory ? 0.5 : 0.75;
  scene.materials[0].elastic.model = chosen.law;
  scene.materials[0].plastic = chosen.plastic;
  scene.bodies[0].shape.position = {0, 0, 0.5};
  scene.bodies[0].velocity = {0, 0, -2};
  scene::Collider ground;
  ground.name = "ground";
  ground.shape.kind = geometry::Plane{};
  ground.friction = 0.5;
  scene.colliders.push_back(ground);
  return scene;
}

/// Part of the time that prepares a step, beside the work on particles (sweeps, XSPH, commit, colliders).
double preparation(Queue& queue) {
  double all = 0, work = 0;
  for (const auto& phase : queue.timers().phases()) {
    const std::string_view name = phase.name;
    all += phase.seconds;
    if (name == "xpbi.sweep" || name == "xpbi.xsph" || name == "xpbi.commit" || name.starts_with("contact."))
      work += phase.seconds;
  }
  return 1 - work / all;
}

/// Iterations are timed alone; the note is about whole steps.
template <class Real, bool Memory>
BenchResult measure(Queue& queue, const BenchOptions& options, const Case& chosen) {
  const auto scene = impact_scene(chosen, options);
  const std::size_t before = queue.allocated();
  Xpbi<Real, Memory> solver(scene, queue);
  for (int k = 0; k < 3; ++k) (void)solver.advance();
  solver.begin_step();
  BenchResult result{chosen.name, solver.particles(), solver.mean_neighbours(), scene.solver.iterations, "", {}};
  result.timing = best_timing(queue, [&] { solver.iterate(); });
  std::vector<double> shares;
  for (int k = 0; k < 7; ++k) {
    queue.timers().clear();
    (void)solver.advance();
    shares.push_back(preparation(queue));
  }
  // The median: while lists grow into fresh memory, the system clears it page by page.
  std::ranges::nth_element(shares, shares.begin() + 3);
  result.note = fmt::format("Gauss-Seidel, {:.0f} % of a step for search and bookkeeping", 100 * shares[3]);
  result.bytes_per_particle = double(queue.allocated() - before) / double(solver.particles());
  return result;
}

}  // namespace

BenchCases xpbi_bench_cases() { return listed(cases()); }

template <class Real>
BenchResult bench_xpbi(Queue& queue, const BenchOptions& options, const std::string& name) {
  const Case& chosen = named(cases(), name);
  return chosen.memory ? measure<Real, true>(queue, options, chosen) : measure<Real, false>(queue, options, chosen);
}

template BenchResult bench_xpbi<float>(Queue&, const BenchOptions&, const std::string&);
template BenchResult bench_xpbi<double>(Queue&, const BenchOptions&, const std::string&);

}  // namespace ductile::app
