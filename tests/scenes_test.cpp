// The scenes of the project do what their titles say; the small ones are run, the large ones are read.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <numbers>
#include <numeric>
#include <string>

#include "common/error.hpp"
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
  const auto piece = std::get<std::vector<std::int32_t>>(solver->field(scene::Field::piece).values);
  result.pieces = double(*std::max_element(piece.begin(), piece.end())) + 1;
  return result;
}

TEST(Scenes, MustFitIntoTheMemoryOfADeviceThatHasItsOwn) {
  const auto scene = scene::read_scene(scenes / "first_light.toml", {});
  DeviceDescription device;
  device.name = "small card";
  device.memory_bytes = 100'000;
  device.kind = "cpu";  // shares the machine's memory, whatever part of it the driver reports
  EXPECT_NO_THROW((void)sample(scene, &device));
  device.kind = "gpu";
  EXPECT_EQ(available_memory(device), 100'000);
  try {
    (void)sample(scene, &device);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("0.0001 GB are on the device \"small card\""), std::string::npos)
        << error.what();
  }
  device.memory_bytes = std::uint64_t(1) << 60;
  EXPECT_LT(available_memory(device), 1e15) << "what the machine has not can't pass through it";
}

TEST(Scenes, HaveThePapersNumbersOfParticles) {
  const auto count = [](const std::string& name) {
    return sample(scene::read_scene(scenes / (name + ".toml"), {})).size();
  };
  EXPECT_EQ(count("tori_box"), 50544U);
  EXPECT_EQ(count("rabbit"), 41555U);
  EXPECT_EQ(count("cow"), 188257U);
  EXPECT_EQ(count("sausages"), 38448U);
  const auto plates = sample(scene::read_scene(scenes / "metal.toml", {}));
  EXPECT_EQ(std::ranges::count(plates.body, 0U), 4875);
  // A lattice of two layers has an even number of particles in whole rows, where the paper has 8404: 65 x 65 x 2 is the
  // nearest square towel, 0.5 % larger; the scene has three of them.
  const auto towels = sample(scene::read_scene(scenes / "towel.toml", {}));
  for (const unsigned towel : {0U, 1U, 2U}) EXPECT_EQ(std::ranges::count(towels.body, towel), 8450);
}

TEST(Scenes, ReachTheCountsOfTheXpbiPaper) {
  if (available_memory() < 8e9) GTEST_SKIP() << "scenes of this size are refused where they do not fit";
  // The paper gives three digits; lattices meet them to 1 %.
  const auto near = [](const std::string& name, const std::string& spacing, double paper) {
    const auto scene = scene::read_scene(scenes / (name + ".toml"), {"bodies." + spacing});
    EXPECT_NEAR(double(sample(scene).size()) / paper, 1, 0.01) << name;
  };
  near("noodles", "strand.spacing=0.0008", 1.18e6);
  near("hourglass", "sand.spacing=0.00128", 1.01e6);
  near("snow_plough", "snow.spacing=0.00244", 2.48e6);
  near("dam_breach", "dam.spacing=0.00266", 4.00e6);
  near("cream", "cream.spacing=0.00565", 20e3);
}

TEST(Scenes, EveryFileIsAScene) {
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(scenes))
    if (entry.path().extension() == ".toml") {
      EXPECT_NO_THROW((void)scene::read_scene(entry.path(), {})) << entry.path();
      ++files;
    }
  EXPECT_GE(files, 30);
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
    // Centres keep as far from the walls as they lie below the ring's own surface, some hardly at all.
    EXPECT_LT(geometry::signed_distance(box, x), 0);
  EXPECT_EQ(lost(rings), 0);
}

TEST(Scenes, RabbitLandsOnTheGround) {
  const auto rabbit = ran("rabbit", 100);
  double lowest = 1e9;
  for (const auto& x : rabbit.positions) lowest = std::min(lowest, x.z());
  // Half a spacing at most, and less by what the lowest particle lies nearer to the skin.
  EXPECT_GT(lowest, 0);
  EXPECT_LT(lowest, 0.07);
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

TEST(Scenes, SausageFallsIntoPieces) {
  // Three strokes, no crumbs.
  EXPECT_EQ(ran("sausages", 290).pieces, 4);
  EXPECT_EQ(ran("sausages", 290, {"bodies[0].spacing=0.03"}).pieces, 4);
}

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

/// Where the particles are at rest, in the order of the positions.
std::vector<Vector3d> rest_of(const scene::Scene& scene) {
  const auto particles = sample(scene);
  std::vector<Vector3d> rest(particles.size());
  for (std::size_t i = 0; i < rest.size(); ++i) rest[particles.id[i]] = particles.rest[i];
  return rest;
}

/// Sizes of the groups of particles that are closer to each other than the reach, largest first.
std::vector<std::size_t> lumps(const std::vector<Vector3d>& x, double reach) {
  std::vector<std::size_t> parent(x.size());
  std::iota(parent.begin(), parent.end(), std::size_t(0));
  const auto root = [&](std::size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if ((x[i] - x[j]).squaredNorm() < reach * reach) parent[root(i)] = root(j);
  std::map<std::size_t, std::size_t> size;
  for (std::size_t i = 0; i < x.size(); ++i) ++size[root(i)];
  std::vector<std::size_t> sizes;
  for (const auto& [first, count] : size) sizes.push_back(count);
  std::ranges::sort(sizes, std::greater{});
  return sizes;
}

TEST(Scenes, SandFormsAHeap) {
  const auto sand = ran("sand_column", 600);
  const double spacing = sand.scene.bodies[0].spacing;
  // Highest grain of each ring, two grains wide, about the middle.
  std::vector<double> profile;
  for (const auto& x : sand.positions) {
    const auto ring = std::size_t(std::hypot(x.x(), x.y()) / (2 * spacing));
    profile.resize(std::max(profile.size(), ring + 1), 0);
    profile[ring] = std::max(profile[ring], x.z());
  }
  ASSERT_GE(profile.size(), 5U);
  // It was 0.19 m high, to the centres of its top grains; a column of twice its radius loses half of that or more.
  EXPECT_LT(profile[0], 0.1);
  // Between the second ring and the last but one, which lie on the flank, the heap is no steeper than sand of 35
  // degrees can be; a grain more or less on either end is half a spacing, 5 degrees over the flank. It was set in
  // motion by a fall and ran out further than it would be poured: half the angle is flat enough.
  const std::size_t rings = profile.size() - 3;
  const double slope = std::atan((profile[1] - profile[profile.size() - 2]) / (double(rings) * 2 * spacing));
  const double degrees = slope * 180 / std::numbers::pi;
  EXPECT_LT(degrees, 35 + 5);
  EXPECT_GT(degrees, 35 / 2.0 - 5);
}

TEST(Scenes, DamFlowsAroundItsPillar) {
  const auto dam = ran("dam_breach", 700);
  const auto& pillar = dam.scene.colliders[1].shape;
  const double behind = pillar.position.x() + 0.06;  // its radius
  int passed = 0;
  for (const auto& x : dam.positions) {
    // Centres keep half a spacing of 5 cm; half of that for contacts that are still being solved.
    EXPECT_GT(geometry::signed_distance(pillar, x), 0.0125);
    if (x.x() > behind) ++passed;
  }
  EXPECT_GT(passed, 10) << "through both gaps, four grains wide";
}

TEST(Scenes, GrainsRunThroughTheNeckAndStayInTheGlass) {
  const auto sand = ran("hourglass", 700);
  int below = 0;
  for (const auto& x : sand.positions) {
    // Centres keep a quarter of a spacing of 1 cm at least; half of that for contacts that are still being solved.
    EXPECT_GT(geometry::signed_distance(sand.scene.colliders[0].shape, x), 0.00125);
    EXPECT_LT(geometry::signed_distance(sand.scene.colliders[1].shape, x), -0.00125);
    EXPECT_GT(x.z(), -0.2 + 0.00125);
    if (x.z() < -0.08) ++below;  // the neck's torus ends there
  }
  EXPECT_GT(below, 100);
  EXPECT_LT(below, int(sand.positions.size() / 2)) << "a narrow neck lets them pass slowly";
}

TEST(Scenes, SnowballBurstsOnTheWall) {
  const auto snow = ran("snowball", 400);
  // Neighbours on the lattice are up to 1.4 spacings apart; what is further from the rest has come off.
  const auto sizes = lumps(snow.positions, 1.5 * snow.scene.bodies[0].spacing);
  EXPECT_GE(std::ranges::count_if(sizes, [](std::size_t size) { return size >= 5; }), 5) << "lumps, not dust alone";
  EXPECT_LT(sizes[0], snow.positions.size() * 9 / 10) << "a tenth and more has come off";
  for (const auto& x : snow.positions) EXPECT_LT(x.x(), 0) << "the wall's face";
}

TEST(Scenes, BallLeavesAFurrowInTheSnow) {
  const auto snow = ran("snow_plough", 750);
  const auto rest = rest_of(snow.scene);
  const auto in_track = [](const Vector3d& x) { return x.x() < -0.1 && std::abs(x.y()) < 0.05 && x.z() > 0.1; };
  const Vector3d ball(0, 0, 0.14);  // it went 0.45 m
  // Centres keep half a spacing of 3 cm; half of that for contacts that are still being solved.
  for (const auto& x : snow.positions) EXPECT_GT((x - ball).norm(), 0.08 + 0.0075);
  ASSERT_GT(std::ranges::count_if(rest, in_track), 50);
  EXPECT_LT(std::ranges::count_if(snow.positions, in_track), std::ranges::count_if(rest, in_track) / 5)
      << "behind the ball, where it passed";
}

TEST(Scenes, CreamLiesOnItsPlateAsALump) {
  const auto cream = ran("cream", 600);
  double highest = 0, farthest = 0;
  for (const auto& x : cream.positions) {
    EXPECT_GT(x.z(), 0.0) << "the plate's face";
    highest = std::max(highest, x.z());
    farthest = std::max(farthest, std::hypot(x.x(), x.y()));
  }
  EXPECT_LT(farthest, 0.3) << "the plate's rim";
  EXPECT_LT(highest, 0.12) << "it fell as a standing capsule of 0.36 m";
  // Its 3.6 litres would cover the plate 13 mm deep if they flowed like water.
  EXPECT_GT(highest, 0.04);
}

TEST(Scenes, PlasticineKeepsTheDentOfItsStamp) {
  const auto block = ran("plasticine", 500);
  const auto rest = rest_of(block.scene);
  double start = 0, top = 0, corner = 0;
  int dented = 0, corners = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i].z() < 0.11) continue;
    start = rest[i].z();
    const double radius = std::hypot(rest[i].x(), rest[i].y());
    if (std::abs(radius - 0.09) < 0.01) top += block.positions[i].z(), ++dented;
    if (radius > 0.24) corner += block.positions[i].z(), ++corners;
  }
  ASSERT_GT(dented, 0);
  ASSERT_GT(corners, 0);
  // The ring went 4.5 cm deep; particles half a spacing inside the surface follow it except for what flows aside.
  EXPECT_LT(top / dented, start - 0.025);
  // Far from the stamp only the material that flows away from it is felt, and the weight.
  EXPECT_NEAR(corner / corners, start, 0.01);
}

TEST(Scenes, DoughKeepsItsShape) {
  const auto dough = ran("noodles", 600);
  const auto rest = rest_of(dough.scene);
  const double spacing = dough.scene.bodies[0].spacing;
  const std::size_t n = rest.size() / 2;
  double highest = 0;
  for (std::size_t strand = 0; strand < 2; ++strand) {
    // Middle of each layer of the strand, from its lower end to the upper one.
    std::map<long, Vector3d> sum;
    std::map<long, int> count;
    for (std::size_t i = strand * n; i < (strand + 1) * n; ++i) {
      const long layer = std::lround(rest[i].z() / spacing * 2);
      sum.try_emplace(layer, Vector3d::Zero()).first->second += dough.positions[i];
      ++count[layer];
      highest = std::max(highest, dough.positions[i].z());
      EXPECT_GT(dough.positions[i].z(), 0);
    }
    std::vector<Vector3d> middle;
    for (const auto& [layer, x] : sum) middle.push_back(x / count[layer]);
    // Nowhere torn: a strand that carries its weight below yield is stretched by less than 1 %, a neck by far more.
    for (std::size_t k = 1; k < middle.size(); ++k) EXPECT_LT((middle[k] - middle[k - 1]).norm(), 1.1 * spacing);
  }
  // The yield stress carries half a metre of the dough: the pile stands as high as it was left, where a liquid would
  // lie flat, and is at rest: 10 uJ are 0.1 m/s of the 2 g of both.
  EXPECT_GT(highest, 0.05);
  EXPECT_LT(dough.end.kinetic_energy, 1e-5);
}

}  // namespace
