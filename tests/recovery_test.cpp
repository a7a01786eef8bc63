// Bodies come back to their rest shape from flat, inverted and scrambled states.

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

#include "solvers/solver.hpp"
#include "tests/block_scene.hpp"

namespace {

using namespace ductile;
using Eigen::Vector3d;

scene::Scene squashed_block(scene::ElasticModel model, const scene::Initial& initial) {
  auto scene = rubber_block({0.25, 0.25, 0.25});
  scene.gravity.setZero();
  scene.solver.time_step = 2e-3;
  scene.solver.end_time = 10;
  scene.solver.damping = 4;
  scene.solver.precision = scene::Precision::single_precision;
  scene.materials[0].elastic.model = model;
  scene.bodies[0].initial = initial;
  return scene;
}

/// Largest |F^T F - I| after `steps`.
double strain_after(const scene::Scene& scene, int steps) {
  Queue queue;
  const auto solver = make_solver(scene, queue);
  for (int k = 0; k < steps; ++k) (void)solver->advance();
  const auto F = std::get<std::vector<float>>(solver->field(scene::Field::deformation_gradient).values);
  double worst = 0;
  for (std::size_t i = 0; i < F.size(); i += 9) {
    const Eigen::Map<const Eigen::Matrix<float, 3, 3, Eigen::RowMajor>> f(F.data() + i);
    worst = std::max(worst, double((f.transpose() * f - Eigen::Matrix3f::Identity()).norm()));
    if (f.determinant() <= 0) worst = std::max(worst, 10.0);
  }
  return worst;
}

constexpr auto laws = {scene::ElasticModel::neo_hookean, scene::ElasticModel::stvk,
                       scene::ElasticModel::hencky,      scene::ElasticModel::corotated,
                       scene::ElasticModel::linear,      scene::ElasticModel::fixed_corotated};

TEST(Recovery, FromAFlatState) {
  for (const auto law : laws)
    // A hundredth of the strain at the start is left after 1.6 s of damped motion; single precision has 1e-6.
    EXPECT_LT(strain_after(squashed_block(law, {{1, 1, 0}, 0}), 800), 0.01) << int(law);
}

TEST(Recovery, StressesOfFlatMatterAreFinite) {
  for (const auto method : {scene::Method::total_lagrangian, scene::Method::xpbi})
    for (const auto law : laws) {
      if (method == scene::Method::xpbi && law != scene::ElasticModel::hencky &&
          law != scene::ElasticModel::neo_hookean)
        continue;  // not one of its laws
      auto scene = squashed_block(law, {{1, 1, 0}, 0});
      scene.solver.method = method;
      Queue queue;
      const auto solver = make_solver(scene, queue);
      for (const auto field : {scene::Field::cauchy_stress, scene::Field::von_mises_stress}) {
        const auto values = std::get<std::vector<float>>(solver->field(field).values);
        EXPECT_TRUE(std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
            << int(law) << ", " << int(method);
      }
    }
}

TEST(Recovery, FromInsideOut) {
  for (const auto law : laws)
    for (const double height : {-0.5, -1.0})  // the second is the mirror image
      EXPECT_LT(strain_after(squashed_block(law, {{1, 1, height}, 0}), 800), 0.01) << int(law) << ", " << height;
}

TEST(Recovery, OfNearlyIncompressibleBodiesFromACrash) {
  for (const auto law : {scene::ElasticModel::neo_hookean, scene::ElasticModel::hencky, scene::ElasticModel::stvk})
    for (const double poisson_ratio : {0.45, 0.49})
      for (const auto method : {scene::Method::total_lagrangian, scene::Method::xpbi}) {
        if (method == scene::Method::xpbi && law == scene::ElasticModel::stvk) continue;  // not one of its laws
        auto scene = rubber_block({0.3, 0.3, 0.3});
        add_ground(scene, 0.5);
        scene.solver.method = method;
        scene.solver.time_step = 5e-4;
        scene.materials[0].elastic = {law, 1e4, poisson_ratio};
        scene.bodies[0].shape.position = {0, 0, 0.2};
        scene.bodies[0].velocity = {0, 0, -2};  // rho v^2 is two fifths of Young's modulus
        Queue queue;
        const auto solver = make_solver(scene, queue);
        StepReport end;
        for (int k = 0; k < 500; ++k) {
          end = solver->advance();
          ASSERT_GE(end.elastic_energy, 0) << int(law) << ", " << poisson_ratio << ", step " << k;
        }
        EXPECT_GT(end.min_volume_ratio, 0.5) << int(law) << ", " << poisson_ratio << ", " << int(method);
      }
}

TEST(Recovery, FromAScrambledPoint) {
  // All particles at random places in a cube of a fifth of the body's size: neighbours lie anywhere.
  for (const auto law : laws) {
    auto scene = squashed_block(law, {{0, 0, 0}, 0.025});
    scene.solver.iterations = 20;
    EXPECT_LT(strain_after(scene, 1000), 0.01) << int(law);
  }
}

TEST(Recovery, OfXpbiBodiesThatRememberTheirShape) {
  for (const auto law : {scene::ElasticModel::neo_hookean, scene::ElasticModel::hencky})
    for (const auto& initial : {scene::Initial{{1, 1, 0}, 0}, scene::Initial{{1, 1, -0.5}, 0}}) {
      auto scene = squashed_block(law, initial);
      scene.solver.method = scene::Method::xpbi;
      scene.solver.smoothing.support = 2;
      scene.solver.hourglass = 0.3;
      scene.solver.least_distance = 0;
      EXPECT_LT(strain_after(scene, 800), 0.01) << int(law) << ", " << initial.stretch.z();
    }
}

TEST(Recovery, XpbiStartsWithTheStrainOfItsShape) {
  auto scene = squashed_block(scene::ElasticModel::neo_hookean, {{1, 1, 0.5}, 0});
  scene.solver.method = scene::Method::xpbi;
  scene.solver.smoothing.support = 2;
  Queue queue;
  const auto solver = make_solver(scene, queue);
  const auto F = std::get<std::vector<float>>(solver->field(scene::Field::deformation_gradient).values);
  for (std::size_t i = 0; i < F.size(); i += 9) {
    EXPECT_NEAR(F[i], 1, 1e-5);  // exact on affine maps: rounding of single precision over 30 neighbours
    EXPECT_NEAR(F[i + 8], 0.5, 1e-5);
  }
}

TEST(Recovery, StartsWhereTheSceneSays) {
  auto scene = squashed_block(scene::ElasticModel::neo_hookean, {{1, 0, -2}, 0});
  scene.bodies[0].shape.position = {1, 2, 3};
  Queue queue;
  const auto solver = make_solver(scene, queue);
  const auto x = std::get<std::vector<float>>(solver->positions().values);
  // The first particle sits in the corner (-0.1, -0.1, -0.1); single precision at 3.
  EXPECT_NEAR(x[0], 0.9, 1e-6);
  EXPECT_NEAR(x[1], 2, 1e-6);
  EXPECT_NEAR(x[2], 3.2, 1e-6);
}

}  // namespace
