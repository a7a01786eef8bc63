// Contact of bodies with each other.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>

#include "common/error.hpp"
#include "geometry/distance_grid.hpp"
#include "kernels/contact/distance_grid.hpp"
#include "kernels/contact/pairs.hpp"
#include "solvers/motion.hpp"
#include "solvers/solver.hpp"
#include "tests/block_scene.hpp"

namespace {

using namespace ductile;
using Eigen::Vector3d;

scene::Scene cubes(std::size_t count) {
  auto scene = rubber_block({0.3, 0.3, 0.3});
  scene.solver.iterations = 20;
  scene.materials[0].elastic.youngs_modulus = 2e5;
  scene.bodies.assign(count, scene.bodies[0]);
  for (std::size_t b = 0; b < count; ++b) scene.bodies[b].name = "cube" + std::to_string(b);
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
  add_ground(scene, 0.5);
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

/// Smallest distance between particles of one body that were more than two spacings apart at rest.
double self_clearance(const std::vector<Vector3d>& rest, const std::vector<Vector3d>& x, double spacing) {
  double least = 1e9;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if ((rest[i] - rest[j]).norm() > 2 * spacing) least = std::min(least, (x[i] - x[j]).norm());
  return least;
}

TEST(SelfContact, SquashedRingDoesNotPassThroughItself) {
  // A ring on edge between two plates that come together until its hole is closed and its tube squeezed.
  auto scene = cubes(1);
  const double s = 0.04;
  scene.gravity.setZero();
  scene.solver.damping = 5;
  scene.bodies[0].spacing = s;
  scene.bodies[0].shape.kind = geometry::Torus{0.2, 0.08};
  scene.bodies[0].shape.rotation = Eigen::AngleAxisd(std::numbers::pi / 2, Vector3d::UnitX()).toRotationMatrix();
  for (const double side : {-1.0, 1.0}) {
    scene::Collider plate;
    plate.shape.kind = geometry::Plane{Vector3d(0, 0, -side), Vector3d(0, 0, 0.29 * side)};
    plate.motion.velocity = {0, 0, -side};
    scene.colliders.push_back(plate);
  }
  double clearance[2];
  for (const bool self : {false, true}) {
    scene.contact.self = self;
    Queue queue;
    const auto solver = make_solver(scene, queue);
    const auto rest = positions(*solver);
    for (int k = 0; k < 160; ++k) (void)solver->advance();
    clearance[self ? 1 : 0] = self_clearance(rest, positions(*solver), s);
  }
  EXPECT_LT(clearance[0], 0.6 * s) << "the ring would not touch itself: nothing is tested";
  EXPECT_GT(clearance[1], 0.8 * s);
}

scene::Scene flying_plates(double speed) {
  auto scene = cubes(2);
  scene.gravity.setZero();
  scene.materials[0].elastic.youngs_modulus = 1e7;
  for (std::size_t b = 0; b < 2; ++b) {
    scene.bodies[b].spacing = 0.025;
    scene.bodies[b].shape.kind = geometry::Box{Vector3d(0.05, 0.2, 0.2)};
    scene.bodies[b].shape.position = {b == 0 ? -0.15 : 0.15, 0, 0};
    scene.bodies[b].velocity = {b == 0 ? speed : -speed, 0, 0};
  }
  return scene;
}

TEST(BodyContact, ThinPlatesDoNotTunnel) {
  // Two plates of two layers; in one step they come nearer by up to their thickness.
  for (const double speed : {5.0, 25.0}) {
    Queue queue;
    const auto solver = make_solver(flying_plates(speed), queue);
    StepReport end;
    double least = 1e9;
    for (int k = 0; k < int(0.15 / speed / 1e-3) + 10; ++k) {
      end = solver->advance();
      const auto x = positions(*solver);
      double left = 0, right = 0;
      for (std::size_t i = 0; i < x.size(); ++i) (2 * i < x.size() ? left : right) += 2 * x[i].x() / double(x.size());
      least = std::min(least, right - left);
    }
    // The plates are 0.05 m thick; they are compressed a little.
    EXPECT_GT(least, 0.04) << "passed through each other at " << speed << " m/s";
    // 2 kg each, opposite: rounding of the momentum of one.
    EXPECT_LT(end.momentum.norm() / (2 * speed), 1e-11);
  }
}

/// Particles of body 0, which came from below x, that are beyond body 1: all of the four of it nearest in the y-z plane
/// lie behind.
int passed_through(Solver& solver, double spacing) {
  const auto x = positions(solver);
  const auto& body = solver.body_of_particle();
  int count = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (body[i] != 0) continue;
    std::vector<std::pair<double, double>> others;  // distance in the plane, place
    for (std::size_t j = 0; j < x.size(); ++j)
      if (body[j] == 1) others.emplace_back((x[j] - x[i]).tail<2>().norm(), x[j].x());
    std::partial_sort(others.begin(), others.begin() + 4, others.end());
    if (others[0].first > 1.5 * spacing) continue;
    bool beyond = true;
    for (int k = 0; k < 4; ++k) beyond = beyond && others[std::size_t(k)].second < x[i].x();
    count += beyond ? 1 : 0;
  }
  return count;
}

TEST(BodyContact, NothingPassesThroughAPlateUpToTheLargestStep) {
  // A ball or a plate is shot at a plate of two layers that comes towards it or rests; the lattices face each other
  // particle to particle or particle to gap. Stiffness is E over rho v^2/2: at 1 the plate is stretched until gaps open
  // between its particles at any step, from 3 on it holds.
  constexpr double s = 0.025, dt = 1e-3;
  for (const bool ball : {false, true})
    for (const int iterations : {8, 20})
      for (const double offset : {0.0, 0.25, 0.5})
        for (const double stiffness : {3.0, 100.0})
          for (const double spacings : {0.3, 0.5, 1.0, 1.4, 1.7}) {
            const double speed = spacings * s / dt;
            auto scene = flying_plates(speed);
            scene.solver.iterations = iterations;
            scene.materials[0].elastic.youngs_modulus = stiffness * 500 * speed * speed;
            scene.bodies[1].shape.kind = geometry::Box{Vector3d(0.05, 0.3, 0.3)};
            scene.bodies[0].shape.position += Vector3d(0, offset * s, offset * s);
            if (ball) {
              scene.bodies[0].shape.kind = geometry::Sphere{0.06};
              scene.bodies[1].shape.position.x() = 0.05;
              scene.bodies[1].velocity.setZero();
            }
            Queue queue;
            const auto solver = make_solver(scene, queue);
            const auto start = solver->measure();
            StepReport end;
            for (int k = 0; k < int(0.3 / spacings / s) + 15; ++k) end = solver->advance();
            EXPECT_EQ(passed_through(*solver, s), 0)
                << (ball ? "ball" : "plate") << " at " << spacings << " spacings per step, " << iterations
                << " iterations, offset " << offset << ", stiffness " << stiffness;
            // Pushes are opposite: rounding of the momentum of one.
            EXPECT_LT((end.momentum - start.momentum).norm() / (2 * speed), 1e-11);
          }
}

TEST(BodyContact, PairsAreBlockedFromTheSideOfTheirFirstTouch) {
  const std::uint32_t start[2] = {0, 1}, other[1] = {1};
  const auto gap = [&](const Vec3<double>& from, const Vec3<double>& way) {
    const Vec4<double> position[2] = {padded(from, 1.0), padded(Vec3<double>::zero(), 1.0)};
    const Vec4<double> moved[2] = {padded(way, 0.5), padded(Vec3<double>::zero(), 0.5)};
    const Vec4<double> face[2] = {padded(Vec3<double>::zero()), padded(Vec3<double>::zero())};
    const double width[2] = {0, 0};
    return ContactPairs<double>{start, other, position, moved, face, width, nullptr, 0.1}.gap(0, 1);
  };
  // Through the middle of a gap of a square lattice, half a spacing from the particle in y and z, by any way.
  for (const double way : {0.9, 1.5, 2.0, 4.0}) {
    const auto found = gap({-1.2, 0.5, 0.5}, {way, 0, 0});
    // Touches where the distance is one: x = -sqrt(1 - 0.5).
    EXPECT_NEAR(found.normal.x, -std::sqrt(0.5), 1e-12);
    EXPECT_NEAR(found.overlap, 1 - (1.2 - way) * std::sqrt(0.5) - 0.5, 1e-12);
  }
  EXPECT_LT(gap({-1.2, 0.5, 0.5}, {0.3, 0, 0}).overlap, 0) << "does not reach";
  EXPECT_LT(gap({-1.2, 0.9, 0}, {2.4, 0, 0}).overlap, 0) << "only brushes, and is clear at the end";
  EXPECT_LT(gap({-1.2, 0.9, 0}, {-0.1, -0.9, 0}).overlap, 0) << "recedes";
  // Touching from the start, head on: along the line between them.
  const auto pressed = gap({0, 0, 0.9}, {0.01, 0, -0.1});
  EXPECT_NEAR(pressed.normal.z, 1, 1e-12);
  EXPECT_NEAR(pressed.overlap, 0.2, 1e-12);
}

TEST(BodyContact, FacesMeetAcrossTheirPlanes) {
  const std::uint32_t start[2] = {0, 1}, other[1] = {1};
  const Vec3<double> up{0, 0, 1}, none = Vec3<double>::zero();
  const auto gap = [&](const Vec4<double>& front, const Vec4<double>& back, const Vec3<double>& from,
                       const Vec3<double>& way) {
    const Vec4<double> position[2] = {padded(from, 1.0), padded(Vec3<double>::zero(), 1.0)};
    const Vec4<double> moved[2] = {padded(way, 0.5), padded(Vec3<double>::zero(), 0.5)};
    const Vec4<double> face[2] = {front, back};
    const double width[2] = {front[3] > 0 ? 0.6 : 0, back[3] > 0 ? 0.6 : 0};
    return ContactPairs<double>{start, other, position, moved, face, width, nullptr, 0.1}.gap(0, 1);
  };
  // Wherever the other particle lies along the face, the overlap is that of the planes, and so is the direction.
  for (const auto& front : {padded(-up, 0.4), padded(none)})
    for (const double along : {0.0, 0.3, 0.7}) {
      const double depth = front[3] > 0 ? 0.9 : 1.0;
      const auto found = gap(front, padded(up, 0.5), {along, 0, 1.05}, {0, 0, -0.2});
      EXPECT_NEAR(found.overlap, depth - 0.85, 1e-14);
      EXPECT_EQ(found.normal.z, 1);
    }
  EXPECT_LT(gap(padded(-up, 0.5), padded(up, 0.5), {0.8, 0, 1.05}, {0, 0, -0.2}).overlap, 0) << "beside its part";
  // Through already: no deeper, and out by a tenth of that.
  EXPECT_NEAR(gap(padded(-up, 0.5), padded(up, 0.5), {0, 0, 0.8}, {0, 0, -0.3}).overlap, 0.3 + 0.02, 1e-7);
  // What counts is where it comes through the face, a third of the way, not where it ends.
  EXPECT_NEAR(gap(padded(-up, 0.5), padded(up, 0.5), {1.4, 0, 2}, {-3, 0, -3}).overlap, 2, 1e-14);
  EXPECT_LT(gap(padded(-up, 0.5), padded(up, 0.5), {0, 0, 2}, {3, 0, -3}).overlap, 0);
  // Faces that look the same way, and particles deep inside, are met as round particles.
  EXPECT_NEAR(gap(padded(up, 0.5), padded(up, 0.5), {0.8, 0, 0}, {0, 0, 0}).normal.x, 1, 1e-14);
  EXPECT_NEAR(gap(padded(none), padded(up, 0.5), {0.8, 0, -0.1}, {0, 0, 0}).normal.x, 0.8 / std::sqrt(0.65), 1e-14);
}

TEST(BodyContact, TheTwoOutermostLayersTouch) {
  // One particle in the gaps between the layers of a block of ten: between layers two and three it still touches the
  // second, deeper in nothing.
  auto scene = cubes(2);
  scene.gravity.setZero();
  constexpr double s = 0.05;
  scene.bodies[0].shape.kind = geometry::Box{Vector3d(10 * s, 10 * s, 10 * s)};
  scene.bodies[1].shape.kind = geometry::Box{Vector3d(s, s, s)};
  for (const int depth : {1, 2, 3, 5}) {
    scene.bodies[1].shape.position = {5 * s - depth * s, 0, 0};
    Queue queue;
    const auto solver = make_solver(scene, queue);
    const double speed = solver->advance().max_speed;
    if (depth <= 2) {
      EXPECT_GT(speed, 0.1) << depth;
    } else {
      EXPECT_LT(speed, 1e-9) << depth << ": rounding alone";
    }
  }
}

/// A stiff cube of 8 kg with its lower face at z = 0.
scene::Scene cube_on_a_held_slab(const Vector3d& slab, const Vector3d& position) {
  auto scene = cubes(2);
  constexpr double s = 0.05;
  scene.materials[0].elastic.youngs_modulus = 1e6;
  scene.bodies[0].shape.kind = geometry::Box{slab};
  scene.bodies[0].shape.position = position;
  scene.bodies[1].shape.kind = geometry::Box{Vector3d(4 * s, 4 * s, 4 * s)};
  scene.bodies[1].shape.position = {0, 0, 2 * s};
  scene::Fixture bench;
  bench.name = "bench";
  bench.region.kind = geometry::Box{Vector3d(10, 10, 10)};
  scene.fixtures.push_back(bench);
  return scene;
}

TEST(BodyContact, FrictionSlowsASlidingCube) {
  // On a held slab; the rows of its lattice run along the way or across it.
  constexpr double s = 0.05, duration = 0.1;
  auto scene = cube_on_a_held_slab({12 * s, 12 * s, 2 * s}, {2 * s, 2 * s, -s});
  for (const double friction : {0.0, 0.2, 0.4})
    for (const double degrees : {0.0, 30.0, 45.0}) {
      const double angle = degrees * std::numbers::pi / 180;
      const Vector3d along(std::cos(angle), std::sin(angle), 0);
      scene.bodies[1].velocity = 2 * along;
      scene.contact.friction = friction;
      Queue queue;
      const auto solver = make_solver(scene, queue);
      StepReport end;
      for (int k = 0; k < 100; ++k) end = solver->advance();
      const double measured = (2 - end.momentum.dot(along) / 8) / (9.81 * duration);
      // Contacts are solved to a part in 1e4 of the weight in 20 iterations.
      EXPECT_NEAR(measured, friction, 1e-3);
    }
}

TEST(BodyContact, ReactionCarriesWhatRestsOnTheFixture) {
  // A block of 8 kg on a held slab of 32 kg, settled.
  constexpr double s = 0.05;
  auto scene = cube_on_a_held_slab({8 * s, 8 * s, 4 * s}, {0, 0, -2 * s});
  scene.solver.damping = 5;
  scene.probes.push_back({"load", scene::Probe::Quantity::reaction, 0, {}, 0});
  for (const auto method : {scene::Method::total_lagrangian, scene::Method::xpbi}) {
    scene.solver.method = method;
    if (method == scene::Method::xpbi) {
      scene.solver.smoothing.support = 2;
      scene.solver.hourglass = 0.3;
    }
    Queue queue;
    const auto solver = make_solver(scene, queue);
    double mean = 0;
    for (int k = 0; k < 1500; ++k) {
      (void)solver->advance();
      if (k >= 1000) mean += solver->probe()[2] / 500;
    }
    // The block still rings by a few thousandths of its weight.
    EXPECT_NEAR(mean, (32 + 8) * 9.81, 0.5);
  }
}

TEST(BodyContact, TooFastForTheStepIsRefused) {
  Queue queue;
  const auto solver = make_solver(flying_plates(100), queue);
  try {
    (void)solver->advance();
    FAIL() << "went on";
  } catch (const SimulationError& error) {
    EXPECT_NE(std::string(error.what()).find("time step"), std::string::npos) << error.what();
  }
}

/// Triangles of a sphere, latitude by longitude.
geometry::Mesh sphere_mesh(double radius, std::uint32_t rings, std::uint32_t sectors) {
  std::vector<Vector3d> vertices{{0, 0, radius}, {0, 0, -radius}};
  std::vector<std::array<std::uint32_t, 3>> triangles;
  const auto vertex = [&](std::uint32_t ring, std::uint32_t sector) { return 2 + ring * sectors + sector % sectors; };
  for (std::uint32_t r = 0; r + 1 < rings; ++r)
    for (std::uint32_t c = 0; c < sectors; ++c) {
      const double theta = std::numbers::pi * double(r + 1) / double(rings);
      const double phi = 2 * std::numbers::pi * double(c) / double(sectors);
      vertices.push_back(radius *
                         Vector3d(std::sin(theta) * std::cos(phi), std::sin(theta) * std::sin(phi), std::cos(theta)));
    }
  for (std::uint32_t c = 0; c < sectors; ++c) {
    triangles.push_back({0, vertex(0, c), vertex(0, c + 1)});
    triangles.push_back({1, vertex(rings - 2, c + 1), vertex(rings - 2, c)});
    for (std::uint32_t r = 0; r + 2 < rings; ++r) {
      triangles.push_back({vertex(r, c), vertex(r + 1, c), vertex(r + 1, c + 1)});
      triangles.push_back({vertex(r, c), vertex(r + 1, c + 1), vertex(r, c + 1)});
    }
  }
  return {std::make_shared<const geometry::TriangleMesh>(std::move(vertices), std::move(triangles), "sphere")};
}

geometry::Mesh box_mesh(const Vector3d& size) {
  std::vector<Vector3d> vertices;
  for (int k = 0; k < 8; ++k)
    vertices.push_back(0.5 * size.cwiseProduct(Vector3d(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1)));
  std::vector<std::array<std::uint32_t, 3>> triangles{{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                                                      {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return {std::make_shared<const geometry::TriangleMesh>(std::move(vertices), std::move(triangles), "box")};
}

TEST(DistanceGrid, AgreesWithTheExactDistance) {
  const auto mesh = sphere_mesh(0.5, 40, 80);
  const double width = 0.02;
  const auto samples = geometry::sample_distance(*mesh.triangles, width, 0.1);
  const DistanceGrid<double> grid{samples.values.data(),
                                  {samples.origin.x(), samples.origin.y(), samples.origin.z()},
                                  width,
                                  1 / width,
                                  std::uint32_t(samples.points[0]),
                                  std::uint32_t(samples.points[1]),
                                  std::uint32_t(samples.points[2])};
  for (int k = 0; k < 2000; ++k) {
    const Vector3d direction = Vector3d(std::sin(1.7 * k), std::sin(2.3 * k + 1), std::sin(0.9 * k + 2)).normalized();
    const double away = -0.06 + 0.00006 * k;
    const Vector3d p = (0.5 + away) * direction;
    const auto found = grid.at({p.x(), p.y(), p.z()});
    // Trilinear: width^2/(8 R) per curved direction; the mesh's faces lie up to (1 - cos(pi/80)) = 8e-4 inside.
    EXPECT_NEAR(found.distance, away, 2 * width * width / (8 * 0.5) + 8e-4);
    EXPECT_GT(found.normal.x * direction.x() + found.normal.y * direction.y() + found.normal.z * direction.z(), 0.998);
  }
  // Beyond the grid: outward, and no nearer than the grid's rim.
  const auto far = grid.at({5, 0, 0});
  EXPECT_NEAR(far.distance, 4.5, 0.05);
  EXPECT_GT(far.normal.x, 0.999);
}

TEST(MeshCollider, ActsLikeTheAnalyticShape) {
  // A block slides down a large sphere: mesh and formula lead it the same way.
  auto scene = cubes(1);
  scene.contact.enabled = false;
  scene.bodies[0].shape.position = {0.1, 0.05, 1.16};
  Vector3d centre[2];
  for (const bool mesh : {false, true}) {
    scene::Collider ball;
    ball.friction = 0.3;
    if (mesh)
      ball.shape.kind = sphere_mesh(1, 60, 120);
    else
      ball.shape.kind = geometry::Sphere{1};
    scene.colliders = {ball};
    Queue queue;
    const auto solver = make_solver(scene, queue);
    for (int k = 0; k < 250; ++k) (void)solver->advance();
    centre[mesh ? 1 : 0].setZero();
    for (const auto& x : positions(*solver)) centre[mesh ? 1 : 0] += x / 216;
  }
  EXPECT_GT(centre[0].head<2>().norm(), 0.115) << "it does not slide";
  // Faces of the mesh lie up to 7e-4 m inside the sphere; sliding multiplies small differences of the start.
  EXPECT_LT((centre[1] - centre[0]).norm(), 0.01);
}

TEST(MeshCollider, MovingTrayCarriesABlockAndAContainerHoldsIt) {
  auto scene = cubes(1);
  scene.contact.enabled = false;
  scene.solver.damping = 2;
  scene.bodies[0].shape.position = {0, 0, 0.16};
  scene::Collider tray;
  tray.shape.kind = box_mesh({1, 1, 0.2});
  tray.shape.position = {0, 0, -0.1};
  tray.motion.velocity = {0.5, 0, 0};
  tray.friction = 1;
  scene.colliders.push_back(tray);
  {
    Queue queue;
    const auto solver = make_solver(scene, queue);
    for (int k = 0; k < 500; ++k) (void)solver->advance();
    Vector3d centre = Vector3d::Zero();
    for (const auto& x : positions(*solver)) centre += x / 216;
    // The tray went 0.25 m; friction 1 brings the block to its speed in 0.05 s, 13 mm behind, and damping costs a bit.
    EXPECT_NEAR(centre.x(), 0.22, 0.03);
    EXPECT_NEAR(centre.z(), 0.15, 0.01);
  }
  tray.inside = true;
  tray.shape.kind = box_mesh({0.5, 0.5, 0.5});
  tray.shape.position = {0, 0, 0.2};
  tray.motion.velocity.setZero();
  scene.colliders = {tray};
  scene.bodies[0].velocity = {3, 2, 1};
  Queue queue;
  const auto solver = make_solver(scene, queue);
  for (int k = 0; k < 500; ++k) (void)solver->advance();
  for (const auto& x : positions(*solver))
    // A particle's centre keeps half a spacing; a fifth of that for contacts that are still being solved.
    EXPECT_LT((x - Vector3d(0, 0, 0.2)).cwiseAbs().maxCoeff(), 0.25 - 0.8 * 0.025);
}

TEST(MeshCollider, RefusesAMeshTooLargeForTheParticles) {
  auto scene = cubes(1);
  scene::Collider hall;
  hall.name = "hall";
  hall.shape.kind = box_mesh({1000, 1000, 100});
  scene.colliders.push_back(hall);
  Queue queue;
  try {
    (void)make_solver(scene, queue);
    FAIL() << "was accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("collider \"hall\""), std::string::npos) << error.what();
  }
}

/// A step of a collider that goes along x by `move`.
Collider<double> placed(const geometry::ShapeKind& kind, double move) {
  scene::Collider source;
  source.shape.kind = kind;
  source.motion.velocity = {move, 0, 0};
  return place_collider<double>(source, 0, 1);
}

TEST(Collider, IsMetOnTheWay) {
  // Radius 0.5; everything is thinner than the way, or thin where it is passed.
  constexpr double keep = 0.5;
  const std::vector<std::pair<const char*, geometry::ShapeKind>> shapes{
      {"box", geometry::Box{Vector3d(0.02, 8, 8)}}, {"sphere", geometry::Sphere{0.2}},
      {"cylinder", geometry::Cylinder{0.1, 4}},     {"capsule", geometry::Capsule{0.1, 4}},
      {"torus", geometry::Torus{1, 0.05}},
  };
  for (const auto& [name, kind] : shapes)
    for (const double way : {0.3, 1.0, 3.0, 20.0, 200.0})
      for (const double move : {0.0, -2.0, 5.0}) {
        SCOPED_TRACE(fmt::format("{}, way {}, collider moved {}", name, way, move));
        const auto collider = placed(kind, move);
        // Against the collider the particle goes from a tenth of the way in front of it to nine tenths behind.
        const double surface = kind.index() == geometry::ShapeKind(geometry::Torus{}).index() ? -1.05 : 0;
        const Vec3<double> begin{surface - keep - 0.1 * way, 0, 0}, end{surface - keep + 0.9 * way + move, 0, 0};
        const auto found = collider.met(begin, end, keep, keep);
        if (0.9 * way > keep) {
          EXPECT_LT(found.normal.x, -0.99);
          EXPECT_LT(found.distance, keep - 0.5 * way);
        }
        // The same way backwards meets the other side of a thin shape.
        if (surface == 0 && way >= 3) {
          EXPECT_GT(collider.met({0.6 * way, 0, 0}, {-0.6 * way + move, 0, 0}, keep, keep).normal.x, 0.99);
        }
        // A parallel way clear of the shape meets nothing.
        const auto clear = collider.met({begin.x, 0, 6}, {end.x, 0, 6}, keep, keep);
        EXPECT_GT(clear.distance, keep);
      }
}

TEST(Collider, BodiesOfAnySizeRestOnTheirSurface) {
  // A disc whose layers are thinner than the spacing, and a ball whose lowest particles lie anywhere below its surface.
  const auto settle = [](const geometry::ShapeKind& kind, double height) {
    auto scene = cubes(1);
    scene.contact.enabled = false;
    scene.materials[0].elastic.youngs_modulus = 1e6;
    scene.bodies[0].spacing = 0.04;
    scene.bodies[0].shape.kind = kind;
    scene.bodies[0].shape.position = {0, 0, height};
    add_ground(scene, 0);
    Queue queue;
    const auto solver = make_solver(scene, queue);
    double fastest = 0;
    for (int k = 0; k < 100; ++k) fastest = std::max(fastest, solver->advance().max_speed);
    return fastest;
  };
  // Gravity alone moves them until they bear their weight, a ball on its few lowest particles. Thrown out of an overlap
  // of a quarter of a spacing they would have 10 m/s.
  EXPECT_LT(settle(geometry::Cylinder{0.15, 0.1}, 0.05), 0.1);
  EXPECT_LT(settle(geometry::Sphere{0.15}, 0.15), 1);
}

/// How far a block that starts at 2 m/s along x goes in half a second.
double slide(const std::vector<scene::Collider>& colliders) {
  auto scene = cubes(1);
  scene.contact.enabled = false;
  scene.materials[0].elastic.youngs_modulus = 1e6;
  scene.bodies[0].shape.position = {0, 0, 0.15};
  scene.bodies[0].velocity = {2, 0, 0};
  scene.colliders = colliders;
  scene.probes.push_back({"block", scene::Probe::Quantity::mean_position, 0, {}, 0});
  Queue queue;
  const auto solver = make_solver(scene, queue);
  for (int k = 0; k < 500; ++k) (void)solver->advance();
  return solver->probe()[0];
}

TEST(Collider, EachHasItsOwnFriction) {
  const auto plane = [](const Vector3d& normal, double distance, double friction) {
    scene::Collider collider;
    collider.shape.kind = geometry::Plane{normal, -distance * normal};
    collider.friction = friction;
    return collider;
  };
  const auto floor = plane({0, 0, 1}, 0, 0.5);
  const double free = slide({floor});
  // v^2/(2 mu g); the block rocks a little.
  EXPECT_NEAR(free, 0.408, 0.01);
  // Smooth walls that it just touches on both sides change nothing, in whatever order they come; nor do many of them,
  // more than a particle can remember.
  const auto left = plane({0, 1, 0}, 0.15 - 1e-6, 0), right = plane({0, -1, 0}, 0.15 - 1e-6, 0);
  EXPECT_NEAR(slide({floor, left, right}), free, 0.01);
  EXPECT_NEAR(slide({left, right, floor}), free, 0.01);
  EXPECT_NEAR(slide({left, floor, right, left, right, left}), free, 0.01);
  // Two floors in one place push one after the other: the second finds nothing left to do.
  EXPECT_NEAR(slide({floor, floor}), free, 0.01);
}

TEST(Collider, ThinPlatesStopFastBodies) {
  // A block meets a plate a tenth of a spacing thick at several spacings per step: it falls onto it, or is struck by
  // it.
  constexpr double s = 0.05;
  for (const bool mesh : {false, true})
    for (const double spacings : {1.0, 3.0, 6.0})
      for (const bool struck : {false, true}) {
        auto scene = cubes(1);
        scene.contact.enabled = false;
        scene.gravity.setZero();
        const double speed = spacings * s / scene.solver.time_step;
        scene.materials[0].elastic.youngs_modulus = 3 * 500 * speed * speed;
        scene.bodies[0].shape.position = {0.004, 0.013, 0.6};
        scene::Collider plate;
        // A mesh is known on a grid of half a spacing, and as thick at least.
        const Vector3d size(2, 2, mesh ? 0.5 * s : 0.1 * s);
        if (mesh)
          plate.shape.kind = box_mesh(size);
        else
          plate.shape.kind = geometry::Box{size};
        if (struck)
          plate.motion.velocity = {0, 0, speed};
        else
          scene.bodies[0].velocity = {0, 0, -speed};
        scene.colliders.push_back(plate);
        Queue queue;
        const auto solver = make_solver(scene, queue);
        const int steps = int(1.2 / (spacings * s)) + 2;
        for (int k = 0; k < steps; ++k) (void)solver->advance();
        const double surface = (struck ? speed * steps * scene.solver.time_step : 0) + size.z() / 2;
        for (const auto& x : positions(*solver))
          // Half a spacing from the surface; a mesh's grid rounds its faces off by a quarter of its width.
          EXPECT_GT(x.z(), surface + (mesh ? 0.25 : 0.499) * s)
              << spacings << " spacings" << (struck ? ", struck" : "");
      }
}

}  // namespace
