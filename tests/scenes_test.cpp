// The scenes of the project do what their titles say; the small ones are run, the large ones are read.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "scene/scene.hpp"
#include "solvers/particles.hpp"
#include "solvers/solver.hpp"

namespace {

using namespace ductile;
using Eigen::Vector3d;
namespace fs = std::filesystem;

const fs::path scenes = fs::path(DUCTILE_SOURCE_DIR) / "scenes";

struct Ran {
  scene::Scene scene;
  StepReport start, end;
  std::vector<Vector3d> positions;
  std::vector<std::int32_t> body;
  std::vector<double> probes;
  double pieces = 0;
};

/// A small scene, for at most so many steps.
Ran ran(const std::string& name, long long most, const std::vector<std::string>& overrides = {}) {
  Ran result;
  result.scene = scene::read_scene(scenes / "small" / (name + ".toml"), overrides);
  Queue queue;
  const auto solver = make_solver(result.scene, queue);
  result.start = solver->measure();
  const auto steps = std::min(most, std::llround(result.scene.solver.end_time / result.scene.solver.time_step));
  for (long long k = 0; k < steps; ++k) result.end = solver->advance();
  const auto x = std::get<std::vector<float>>(solver->positions().values);
  for (std::size_t i = 0; i < x.size(); i += 3) result.positions.emplace_back(x[i], x[i + 1], x[i + 2]);
  result.body = solver->body_of_particle();
  result.probes = solver->probe();
  const auto piece = std::get<std::vector<float>>(solver->field(scene::Field::piece).values);
  result.pieces = double(*std::max_element(piece.begin(), piece.end())) + 1;
  return result;
}

TEST(Scenes, HaveThePapersNumbersOfParticles) {
  const auto count = [](const std::string& name) {
    return sample(scene::read_scene(scenes / (name + ".toml"), {})).size();
  };
  EXPECT_EQ(count("tori_box"), 50544U);
  EXPECT_EQ(count("rabbit"), 41555U);
  EXPECT_EQ(count("sausages"), 38448U);
  const auto plates = sample(scene::read_scene(scenes / "metal.toml", {}));
  EXPECT_EQ(std::ranges::count(plates.body, 0U), 4875);
}

TEST(Scenes, EveryFileIsAScene) {
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(scenes))
    if (entry.path().extension() == ".toml") {
      EXPECT_NO_THROW((void)scene::read_scene(entry.path(), {})) << entry.path();
      ++files;
    }
  EXPECT_GE(files, 14);
}

/// Particles that have got into other bodies: of the eight nearest at most one is of their own.
int lost(const Ran& run) {
  int count = 0;
  std::vector<std::pair<double, bool>> near(run.positions.size());
  for (std::size_t i = 0; i < run.positions.size(); ++i) {
    for (std::size_t j = 0; j < near.size(); ++j)
      near[j] = {(run.positions[j] - run.positions[i]).squaredNorm(), run.body[j] == run.body[i]};
    std::partial_sort(near.begin(), near.begin() + 9, near.end());  // the first is the particle itself
    count += std::count_if(near.begin() + 1, near.begin() + 9, [](const auto& n) { return n.second; }) <= 1 ? 1 : 0;
  }
  return count;
}

TEST(Scenes, RingsStayInTheirBoxAndOutOfEachOther) {
  const auto rings = ran("tori_box", 150);
  const auto& box = rings.scene.colliders[0].shape;
  for (const auto& x : rings.positions)
    // Centres keep half a spacing; a third of it for contacts that are still being solved.
    EXPECT_LT(geometry::signed_distance(box, x), -0.01);
  EXPECT_EQ(lost(rings), 0);
}

TEST(Scenes, RabbitLandsOnTheGround) {
  const auto rabbit = ran("rabbit", 100);
  double lowest = 1e9;
  for (const auto& x : rabbit.positions) lowest = std::min(lowest, x.z());
  EXPECT_NEAR(lowest, 0.05, 0.02) << "half a spacing above the ground";
}

TEST(Scenes, CowComesBackFromAScrambledBall) {
  const auto cow = ran("cow", 360);
  EXPECT_LT(cow.end.elastic_energy / cow.start.elastic_energy, 1e-3);
  // Nothing acts from outside: rounding of 50 kg that fly apart at 100 m/s, in single precision.
  EXPECT_LT((cow.end.momentum - cow.start.momentum).norm(), 0.1);
}

TEST(Scenes, PlasticPlateKeepsItsDent) {
  const auto metal = ran("metal", 500);
  const double elastic = metal.probes[2], plastic = metal.probes[5];
  EXPECT_LT(plastic, -0.02);
  EXPECT_LT(plastic, elastic - 0.01);
}

TEST(Scenes, SausageFallsIntoPieces) { EXPECT_GE(ran("sausages", 290).pieces, 4); }

TEST(Scenes, FibresPullTheTowelAskew) {
  const auto towels = ran("towel", 240);
  const std::size_t n = towels.positions.size() / 3;
  // Mean of x y over each towel about its middle: fibres at 45 degrees shear it, those along its edges do not.
  double shear[3] = {0, 0, 0};
  for (std::size_t t = 0; t < 3; ++t)
    for (std::size_t i = 0; i < n; ++i) {
      const Vector3d x = towels.positions[t * n + i] - towels.scene.bodies[t].shape.position;
      shear[t] += x.x() * x.y() / double(n);
    }
  EXPECT_GT(std::abs(shear[1]), 20 * std::max(std::abs(shear[0]), std::abs(shear[2])));
}

TEST(Scenes, CowSurvivesItsImpact) {
  const auto cow = ran("fast_impact", 150, {"bodies[0].spacing=0.09"});
  EXPECT_LT(cow.end.max_speed, 60);
  for (const auto& x : cow.positions) EXPECT_GT(x.z(), 0);
}

}  // namespace
