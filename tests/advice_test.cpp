#include "app/advice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/block_scene.hpp"

namespace {

using namespace ductile;
using Eigen::Vector3d;

std::string warnings(const scene::Scene& scene) {
  std::string all;
  for (const auto& warning : app::solver_warnings(scene)) all += warning + '\n';
  return all;
}

bool warns(const scene::Scene& scene, const std::string& of) { return warnings(scene).find(of) != std::string::npos; }

/// A block of 0.4 m and spacing 0.05 m, whose waves take 4.3 ms from one particle to the next.
scene::Scene block(scene::Method method) {
  auto scene = rubber_block({0.4, 0.4, 0.4});
  scene.solver.method = method;
  scene.materials[0].elastic.model = scene::ElasticModel::hencky;
  return scene;
}

TEST(Advice, ShippedScenesAreWithoutWarnings) {
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(DUCTILE_SOURCE_DIR "/scenes"))
    if (entry.path().extension() == ".toml") {
      EXPECT_EQ(warnings(scene::read_scene(entry.path(), {})), "") << entry.path();
      ++count;
    }
  EXPECT_GE(count, 30);
}

TEST(Advice, CountsTheSpeedOfTurning) {
  // The block's corner is 0.2 sqrt(2) m from the axis: at 30 rad/s it moves 0.17 spacings in a step, at 60 rad/s 0.34.
  auto scene = block(scene::Method::xpbi);
  scene.bodies[0].angular_velocity = {0, 0, 30};
  EXPECT_EQ(warnings(scene), "");
  scene.bodies[0].angular_velocity = {0, 0, 60};
  EXPECT_TRUE(warns(scene, "something moves 0.34 spacings per step")) << warnings(scene);

  // A paddle of 1 m, which turns about its end.
  scene = block(scene::Method::xpbi);
  scene::Collider paddle;
  paddle.shape.kind = geometry::Box{Vector3d(1, 0.01, 0.01)};
  paddle.shape.position = {0.5, 0, 0};
  paddle.motion.angular_velocity = {0, 0, 20};
  scene.colliders.push_back(paddle);
  EXPECT_TRUE(warns(scene, "something moves 0.4 spacings per step")) << warnings(scene);
  scene.colliders[0].motion.angular_velocity = {20, 0, 0};  // about its own axis
  EXPECT_EQ(warnings(scene), "");

  // A plane has no end: where the bodies are counts.
  scene.colliders[0].shape.kind = geometry::Plane{};
  scene.colliders[0].motion.angular_velocity = {0, 0, 60};
  EXPECT_TRUE(warns(scene, "something moves 0.34 spacings per step")) << warnings(scene);

  // Of a fixture the part that is in the body counts, not the region.
  scene = block(scene::Method::xpbi);
  scene::Fixture grip;
  grip.region.kind = geometry::Box{Vector3d(10, 10, 0.1)};
  grip.region.position = {0, 0, 0.2};
  grip.motion.angular_velocity = {0, 0, 30};
  scene.fixtures.push_back(grip);
  EXPECT_EQ(warnings(scene), "");
  scene.fixtures[0].motion.angular_velocity = {0, 0, 60};
  EXPECT_TRUE(warns(scene, "something moves 0.34 spacings per step")) << warnings(scene);
}

TEST(Advice, OffersTheTensorOnlyWhereTheReaderTakesIt) {
  auto scene = block(scene::Method::xpbi);
  scene.solver.time_step = 0.02;
  EXPECT_TRUE(warns(scene, "the multiplier scalar is off")) << warnings(scene);
  EXPECT_TRUE(warns(scene, "or multiplier tensor")) << warnings(scene);
  scene.materials[0].elastic.model = scene::ElasticModel::neo_hookean;
  EXPECT_TRUE(warns(scene, "the multiplier scalar is off")) << warnings(scene);
  EXPECT_FALSE(warns(scene, "tensor")) << warnings(scene);
}

TEST(Advice, TellsHowStiffPackedSnowGets) {
  auto scene = block(scene::Method::xpbi);
  EXPECT_TRUE(app::solver_remarks(scene).empty());
  scene.materials[0].elastic.model = scene::ElasticModel::fixed_corotated;
  scene.materials[0].plastic = scene::Snow{0.025, 0.0075, 10};
  scene.bodies.push_back(scene.bodies[0]);
  const auto remarks = app::solver_remarks(scene);
  ASSERT_EQ(remarks.size(), 1U) << "bodies that are alike share it";
  // exp(10 (1 - 0.6)) = 54.6; 1 ms over 4.3 ms, times its root.
  EXPECT_NE(remarks[0].find("55 times as stiff, and a step is 1.7 times the wave time"), std::string::npos)
      << remarks[0];
  scene.materials[0].plastic = scene::Snow{0.025, 0.0075, 0};
  EXPECT_TRUE(app::solver_remarks(scene).empty());
}

TEST(Advice, LongWaysOfTheTotalLagrangianMethod) {
  auto scene = block(scene::Method::total_lagrangian);
  scene.bodies[0].velocity = {100, 0, 0};  // 2 spacings per step
  EXPECT_EQ(warnings(scene), "") << "it meets nothing";
  add_ground(scene, 0);
  EXPECT_EQ(warnings(scene), "") << "ways to colliders are followed";
  scene.contact.enabled = true;
  EXPECT_TRUE(warns(scene, "something moves 2 spacings per step: bodies that meet")) << warnings(scene);
  EXPECT_TRUE(warns(scene, "Use a step of 0.00085 s")) << warnings(scene);
  scene.contact.enabled = false;
  scene.bodies[0].velocity = {300, 0, 0};
  EXPECT_TRUE(warns(scene, "something moves 6 spacings per step")) << warnings(scene);
}

TEST(Advice, JacobiNeedsTenTimesTheIterations) {
  auto scene = block(scene::Method::total_lagrangian);
  scene.solver.iterations = 20;
  scene.solver.time_step = 0.0172;  // four wave times
  EXPECT_EQ(warnings(scene), "");
  scene.solver.scheme = scene::Scheme::jacobi;
  EXPECT_TRUE(warns(scene, "20 Jacobi iterations can't carry a wave that far")) << warnings(scene);
  EXPECT_TRUE(warns(scene, "or gauss-seidel")) << warnings(scene);
  scene.solver.iterations = 41;
  EXPECT_EQ(warnings(scene), "");
  scene.solver.iterations = 10;
  scene.solver.time_step = 0.008;
  EXPECT_EQ(warnings(scene), "") << "short steps";
}

}  // namespace
