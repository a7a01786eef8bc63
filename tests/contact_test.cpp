// Contact of bodies with each other.

#include <gtest/gtest.h>

#include <algorithm>

#include "solvers/solver.hpp"

namespace {

using namespace ductile;
using Eigen::Vector3d;

scene::Scene cubes(std::size_t count) {
  scene::Scene scene;
  scene.file = "test";
  scene.solver.time_step = 1e-3;
  scene.solver.end_time = 1;
  scene.solver.iterations = 20;
  scene.solver.precision = scene::Precision::double_precision;
  scene.materials.push_back({"rubber", 1000, {scene::ElasticModel::neo_hookean, 2e5, 0.3}, {}, {}});
  for (std::size_t b = 0; b < count; ++b) {
    scene::Body body;
    body.name = "cube" + std::to_string(b);
    body.spacing = 0.05;
    body.shape.kind = geometry::Box{Vector3d(0.3, 0.3, 0.3)};
    scene.bodies.push_back(body);
  }
  scene.contact.enabled = true;
  return scene;
}

std::vector<Vector3d> positions(Solver& solver) {
  const auto values = std::get<std::vector<double>>(solver.positions().values);
  std::vector<Vector3d> result;
  for (std::size_t i = 0; i < values.size(); i += 3) result.emplace_back(values[i], values[i + 1], values[i + 2]);
  return result;
}

/// Smallest distance between particles of different bodies.
double clearance(Solver& solver) {
  const auto x = positions(solver);
  const auto& body = solver.body_of_particle();
  double least = 1e9;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (body[i] != body[j]) least = std::min(least, (x[i] - x[j]).norm());
  return least;
}

TEST(BodyContact, CollidingCubesBounceAndKeepTheirMomentum) {
  auto scene = cubes(2);
  scene.gravity.setZero();
  scene.bodies[0].shape.position = {-0.2, 0.01, 0.02};
  scene.bodies[1].shape.position = {0.2, 0, 0};
  scene.bodies[0].velocity = {2, 0, 0};
  scene.bodies[1].velocity = {-1, 0, 0};
  scene.contact.friction = 0.3;
  for (const auto scheme : {scene::Scheme::gauss_seidel, scene::Scheme::jacobi}) {
    scene.solver.scheme = scheme;
    Queue queue;
    const auto solver = make_solver(scene, queue);
    const auto start = solver->measure();
    StepReport end;
    double least = 1e9;
    for (int k = 0; k < 200; ++k) {
      end = solver->advance();
      if (k % 10 == 0) least = std::min(least, clearance(*solver));
    }
    // Corrections are equal and opposite: only rounding of a few thousand sums is left.
    EXPECT_LT((end.momentum - start.momentum).norm() / 27, 1e-11);
    // Layers half a spacing apart face each other; a fifth of their distance of compression in the impact is allowed.
    EXPECT_GT(least, 0.8 * 0.05);
    const auto x = positions(*solver);
    double left = 0, right = 0;
    for (std::size_t i = 0; i < x.size() / 2; ++i) left += x[i].x() / (double(x.size()) / 2);
    for (std::size_t i = x.size() / 2; i < x.size(); ++i) right += x[i].x() / (double(x.size()) / 2);
    EXPECT_GT(right - left, 0.31) << "they did not separate";
  }
}

TEST(BodyContact, WithoutTheTableBodiesPassThroughEachOther) {
  auto scene = cubes(2);
  scene.gravity.setZero();
  scene.contact.enabled = false;
  scene.bodies[0].shape.position = {-0.2, 0, 0};
  scene.bodies[1].shape.position = {0.2, 0, 0};
  scene.bodies[0].velocity = {4, 0, 0};
  Queue queue;
  const auto solver = make_solver(scene, queue);
  StepReport end;
  for (int k = 0; k < 100; ++k) end = solver->advance();
  EXPECT_NEAR(end.max_speed, 4, 1e-9);
}

TEST(BodyContact, StackComesToRest) {
  auto scene = cubes(3);
  for (int b = 0; b < 3; ++b) scene.bodies[std::size_t(b)].shape.position = {0.01 * b, 0, 0.15 + 0.302 * b};
  scene.contact.friction = 0.5;
  scene.solver.damping = 5;
  scene::Collider ground;
  ground.shape.kind = geometry::Plane{};
  ground.friction = 0.5;
  scene.colliders.push_back(ground);
  Queue queue;
  const auto solver = make_solver(scene, queue);
  StepReport end;
  for (int k = 0; k < 2000; ++k) end = solver->advance();
  // Half of what gravity gives a particle in one step: nothing trembles.
  EXPECT_LT(end.max_speed, 5e-3);
  EXPECT_GT(clearance(*solver), 0.9 * 0.05) << "cubes sink into each other";
  const auto x = positions(*solver);
  for (std::size_t b = 0; b < 3; ++b) {
    double height = 0;
    for (std::size_t i = 0; i < 216; ++i) height += x[216 * b + i].z() / 216;
    // The lowest cube carries two others: rho g (2.5 H)/E = 3.7 % shorter, the others less. Two centimetres in all.
    EXPECT_NEAR(height, 0.15 + 0.3 * double(b), 0.03) << "cube " << b;
  }
}

}  // namespace
