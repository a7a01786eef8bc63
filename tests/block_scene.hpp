#pragma once

#include <stdexcept>
#include <string>

#include "common/error.hpp"
#include "runtime/queue.hpp"
#include "scene/scene.hpp"
#include "solvers/solver.hpp"

namespace ductile {

/// A rubber block around the origin: spacing 0.05 m, steps of 1 ms with 10 iterations, double precision.
inline scene::Scene rubber_block(const Eigen::Vector3d& size) {
  scene::Scene scene;
  scene.file = "test";
  scene.solver.time_step = 1e-3;
  scene.solver.end_time = 1;
  scene.solver.iterations = 10;
  scene.solver.precision = scene::Precision::double_precision;
  scene.materials.push_back({"rubber", 1000, {scene::ElasticModel::neo_hookean, 1e5, 0.3}, {}, {}});
  scene::Body body;
  body.name = "block";
  body.spacing = 0.05;
  body.shape.kind = geometry::Box{size};
  scene.bodies.push_back(body);
  return scene;
}

/// The plane z = 0.
inline void add_ground(scene::Scene& scene, double friction) {
  scene::Collider ground;
  ground.shape.kind = geometry::Plane{};
  ground.friction = friction;
  scene.colliders.push_back(ground);
}

/// What the solver says when a spinning block is far too stiff for its step and for Jacobi without relaxation; throws
/// std::logic_error if it survives.
inline std::string message_of_divergence(scene::Scene scene) {
  scene.solver.scheme = scene::Scheme::jacobi;
  scene.solver.relaxation = 1;
  scene.solver.iterations = 50;
  scene.solver.time_step = 0.1;
  scene.materials[0].elastic.youngs_modulus = 1e9;
  scene.bodies[0].angular_velocity = {20, 10, 0};
  Queue queue;
  const auto solver = make_solver(scene, queue);
  try {
    for (int k = 0; k < 500; ++k) (void)solver->advance();
  } catch (const DivergenceError& error) {
    return error.what();
  }
  throw std::logic_error("did not diverge");
}

}  // namespace ductile
