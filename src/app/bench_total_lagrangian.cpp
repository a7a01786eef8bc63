#include "app/bench_total_lagrangian.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "solvers/total_lagrangian.hpp"

namespace ductile::app {

namespace {

struct Case {
  const char* name;
  const char* text;
  void (*change)(scene::Scene&);  // of the compact scene
};

/// Breaks the cube into 125 that lie close together and move towards the middle.
void break_up(scene::Scene& scene) {
  constexpr int per_edge = 5;
  const scene::Body cube = scene.bodies.front();
  const double cells = std::max(2.0, std::round(1 / (per_edge * cube.spacing))), edge = cells * cube.spacing;
  scene.bodies.clear();
  for (int k = 0; k < per_edge * per_edge * per_edge; ++k) {
    scene::Body part = cube;
    const Eigen::Vector3d place(k % per_edge, k / per_edge % per_edge, double(k / (per_edge * per_edge)));
    part.name = fmt::format("cube-{}", k);
    part.shape.kind = geometry::Box{Eigen::Vector3d::Constant(edge)};
    part.shape.position = (place.array() - 0.5 * (per_edge - 1)).matrix() * (edge + 0.02 * cube.spacing);
    part.velocity = -part.shape.position;
    part.angular_velocity.setZero();
    scene.bodies.push_back(part);
  }
  scene.contact = {true, 0.3, false};
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"total-lagrangian", "Jacobi iterations, 31 neighbours (support 2.01), no penalty",
       [](scene::Scene& scene) {
         scene.solver.smoothing.support = 2.01;
         scene.solver.hourglass = 0;
       }},
      {"total-lagrangian-compact", "the same at the default support 1.6 (18 neighbours) with the zero-energy penalty",
       [](scene::Scene&) {}},
      {"total-lagrangian-gauss-seidel", "compact, coloured Gauss-Seidel",
       [](scene::Scene& scene) { scene.solver.scheme = scene::Scheme::gauss_seidel; }},
      {"total-lagrangian-anisotropic", "compact, two directions of fibres",
       [](scene::Scene& scene) {
         for (const Eigen::Vector3d& direction : {Eigen::Vector3d(1, 0, 0), Eigen::Vector3d(0, 0.6, 0.8)})
           scene.materials[0].fibers.push_back({scene::Fiber::Field::constant, direction, 5e5});
       }},
      {"total-lagrangian-plastic", "compact, metal that creeps",
       [](scene::Scene& scene) {
         scene.materials[0].elastic.model = scene::ElasticModel::hencky;
         scene.materials[0].plastic = scene::Creep{1e-4, 10, 0.5, true};
       }},
      {"total-lagrangian-contact", "compact, 125 cubes that touch, with friction", break_up}};
  return all;
}

}  // namespace

BenchCases total_lagrangian_bench_cases() { return listed(cases()); }

template <class Real>
BenchResult bench_total_lagrangian(Queue& queue, const BenchOptions& options, const std::string& name) {
  auto scene = cube_scene(options);
  scene.solver.time_step = 1e-3;
  scene.solver.scheme = scene::Scheme::jacobi;
  scene.solver.iterations = 20;
  scene.solver.smoothing.support = 1.6;
  scene.solver.hourglass = 0.1;
  named(cases(), name).change(scene);
  const std::size_t before = queue.allocated();
  TotalLagrangian<Real, 3> solver(scene, queue);
  (void)solver.advance();
  solver.begin_step();
  BenchResult result{name, solver.particles(), solver.mean_neighbours(), scene.solver.iterations, "", {}};
  result.timing = best_timing(queue, [&] { solver.iterate(); });
  result.bytes_per_particle = double(queue.allocated() - before) / double(solver.particles());
  result.note = fmt::format("{}, support {}, hourglass {}",
                            scene.solver.scheme == scene::Scheme::jacobi ? "Jacobi" : "Gauss-Seidel",
                            scene.solver.smoothing.support, scene.solver.hourglass);
  return result;
}

template BenchResult bench_total_lagrangian<float>(Queue&, const BenchOptions&, const std::string&);
template BenchResult bench_total_lagrangian<double>(Queue&, const BenchOptions&, const std::string&);

}  // namespace ductile::app
