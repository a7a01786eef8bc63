// Cutting surfaces: what they sever, what the pieces do.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numbers>
#include <set>
#include <utility>

#include "kernels/xpbd/cutting.hpp"
#include "solvers/cuts.hpp"
#include "solvers/solver.hpp"
#include "tests/block_scene.hpp"

namespace {

using namespace ductile;
using Eigen::Vector3d;

/// A block of 8 x 4 x 4 particles, spacing 0.05 m, centred at the origin.
scene::Scene block() {
  auto scene = rubber_block({0.4, 0.2, 0.2});
  scene.gravity.setZero();
  return scene;
}

/// A blade across the block at x, which comes down from above.
scene::Cut blade(double x, double speed) {
  scene::Cut cut;
  cut.name = "blade";
  cut.patch = geometry::Patch::rectangle(0.3, 0.3);
  Eigen::Matrix3d upright;  // its normal is x
  upright << 0, 0, 1, 1, 0, 0, 0, 1, 0;
  cut.patch.place(upright, {x, 0, 0.26});
  cut.motion.velocity = {0, 0, -speed};
  return cut;
}

/// A blade that stands in the block at x, all through it.
scene::Cut standing_blade(double x) {
  auto cut = blade(x, 0);
  cut.patch.place(Eigen::Matrix3d::Identity(), {0, 0, -0.26});
  return cut;
}

std::vector<double> values(const ParticleField& field) { return std::get<std::vector<double>>(field.values); }
std::vector<std::int32_t> pieces_of(Solver& solver) {
  return std::get<std::vector<std::int32_t>>(solver.field(scene::Field::piece).values);
}

TEST(CutTriangle, IsCrossedFromBothSidesAndAlongItsEdges) {
  const CutTriangle<double> t{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  const auto crossed = [&](double x, double y, double from, double to) {
    return t.side_if_crossed(Vec3<double>{x, y, from}, Vec3<double>{x, y, to}) != 0;
  };
  EXPECT_TRUE(crossed(0.2, 0.2, -1, 1));
  EXPECT_TRUE(crossed(0.2, 0.2, 1, -1));
  EXPECT_TRUE(crossed(0.5, 0.5, 1, -1)) << "through an edge";
  EXPECT_FALSE(crossed(0.6, 0.5, 1, -1));
  EXPECT_FALSE(crossed(-0.1, 0.5, 1, -1));
  EXPECT_FALSE(crossed(0.2, 0.2, 0.5, 1));
  EXPECT_FALSE(crossed(0.2, 0.2, -0.5, -1));
  // A particle on the plane lies on the side of the normal.
  EXPECT_FALSE(crossed(0.2, 0.2, 0, 1));
  EXPECT_TRUE(crossed(0.2, 0.2, 0, -1));
}

template <class Real>
int lines_through_a_rectangle(double width, double height) {
  // Two triangles; lines through points of their common edge, of lattices and oblique ones.
  using V = Vec3<Real>;
  const Real x = Real(width / 2), y = Real(height / 2);
  const CutTriangle<Real> first{V{-x, -y, 0}, V{x, -y, 0}, V{x, y, 0}}, second{V{-x, -y, 0}, V{x, y, 0}, V{-x, y, 0}};
  int missed = 0;
  for (int k = 1; k < 1000; ++k) {
    const Real t = Real(k) / Real(1000) * Real(2) - Real(1);
    const V p{t * x, t * y, Real(-0.025)},
        slope{Real(0.01) * Real(k % 7 - 3), Real(0.01) * Real(k % 5 - 2), Real(0.05)};
    for (const V& q : {V{p.x, p.y, Real(0.025)}, p + slope}) {
      const V through = p + (q - p) * Real(0.5);
      if (sycl::fabs(through.x) > Real(0.99) * x || sycl::fabs(through.y) > Real(0.99) * y) continue;
      if (first.side_if_crossed(p, q) == 0 && second.side_if_crossed(p, q) == 0) ++missed;
      if (first.side_if_crossed(q, p) == 0 && second.side_if_crossed(q, p) == 0) ++missed;
    }
  }
  return missed;
}

TEST(CutTriangle, NothingSlipsThroughBetweenTwo) {
  for (const auto& [width, height] : {std::pair{0.31, 0.31}, {0.9, 0.9}, {1.5, 0.7}, {2.0, 2.0}, {0.123, 1.7}}) {
    EXPECT_EQ(lines_through_a_rectangle<float>(width, height), 0) << width;
    EXPECT_EQ(lines_through_a_rectangle<double>(width, height), 0) << width;
  }
}

TEST(Cutting, EveryRectangleThroughABlockCutsItInTwo) {
  // The edge between its two triangles runs along diagonals of the lattice.
  auto scene = rubber_block({0.3, 0.3, 0.3});
  scene.gravity.setZero();
  for (const auto precision : {scene::Precision::single_precision, scene::Precision::double_precision})
    for (const double width : {0.31, 0.5, 0.9, 1.5, 2.0})
      for (const double height : {0.0, 0.01, 0.05}) {  // between two layers, and in one
        scene.solver.precision = precision;
        scene::Cut cut;
        cut.name = "cut";
        cut.patch = geometry::Patch::rectangle(width, width);
        cut.patch.place(Eigen::Matrix3d::Identity(), {0, 0, height == 0.05 ? 0.025 : height});
        scene.cuts = {cut};
        Queue queue;
        const auto solver = make_solver(scene, queue);
        (void)solver->advance();
        const auto piece = pieces_of(*solver);
        EXPECT_EQ(std::set<int>(piece.begin(), piece.end()).size(), 2u) << width << " at " << height;
      }
}

TEST(Cutting, PiecesOfAnIrregularBodyStayWhereTheyAre) {
  auto scene = rubber_block({0.3, 0.3, 0.3});
  scene.gravity.setZero();
  scene.contact.enabled = true;
  scene.bodies[0].jitter = 0.3;
  scene.bodies[0].relax = 0;
  scene::Cut cut;
  cut.name = "cut";
  cut.patch = geometry::Patch::rectangle(1, 1);
  scene.cuts = {cut};
  Queue queue;
  const auto solver = make_solver(scene, queue);
  for (int k = 0; k < 5; ++k)
    // Nothing is stretched, and what was severed is no closer than it was: only rounding moves.
    EXPECT_LT(solver->advance().max_speed, 1e-9);
}

TEST(Cutting, BlockFallsIntoTwoPiecesThatKeepTheirMomentum) {
  auto scene = block();
  scene.contact.enabled = true;
  scene.bodies[0].velocity = {1, 2, 3};
  scene.bodies[0].angular_velocity = {0, 4, 0};
  scene.cuts.push_back(blade(0, 10));                         // through in 21 ms, in which the block turns by 5 degrees
  scene.cuts[0].motion.velocity += scene.bodies[0].velocity;  // goes along with the block
  for (const auto scheme : {scene::Scheme::gauss_seidel, scene::Scheme::jacobi}) {
    scene.solver.scheme = scheme;
    Queue queue;
    const auto solver = make_solver(scene, queue);
    const auto start = solver->measure();
    const auto whole = pieces_of(*solver);
    EXPECT_EQ(std::set<double>(whole.begin(), whole.end()), (std::set<double>{0}));
    StepReport end;
    for (int k = 0; k < 180; ++k) end = solver->advance();
    const auto piece = pieces_of(*solver);
    ASSERT_EQ(std::set<double>(piece.begin(), piece.end()), (std::set<double>{0, 1}));
    // The ids of a block count along x slowest: half of them on each side of the blade.
    for (std::size_t id = 0; id < 128; ++id) EXPECT_EQ(piece[id], id < 64 ? 0 : 1) << id;
    // Severing moves nothing; pair corrections are opposite to rounding (16 kg at 4 m/s, a few thousand sums).
    EXPECT_LT((end.momentum - start.momentum).norm() / start.momentum.norm(), 1e-12);
    // The halves spun about their common centre: they drift apart at omega times a quarter of the length.
    const auto x = values(solver->positions());
    Vector3d centre[2] = {Vector3d::Zero(), Vector3d::Zero()};
    for (std::size_t id = 0; id < 128; ++id)
      centre[id < 64 ? 0 : 1] += Vector3d(x[3 * id], x[3 * id + 1], x[3 * id + 2]) / 64;
    EXPECT_GT((centre[1] - centre[0]).norm(), 0.22);
  }
}

TEST(Cutting, UncutBlockStaysWhole) {
  auto scene = block();
  scene.bodies[0].angular_velocity = {0, 4, 0};
  Queue queue;
  const auto solver = make_solver(scene, queue);
  for (int k = 0; k < 180; ++k) solver->advance();
  const auto x = values(solver->positions());
  Vector3d first = Vector3d::Zero(), second = first;
  for (std::size_t id = 0; id < 128; ++id)
    (id < 64 ? first : second) += Vector3d(x[3 * id], x[3 * id + 1], x[3 * id + 2]) / 64;
  // Elastic stretch under rho omega^2 L^2/8 = 320 Pa is 0.3 %.
  EXPECT_NEAR((second - first).norm(), 0.2, 0.002);
}

TEST(Cutting, GradientsAreCorrectedForTheNeighboursThatAreLeft) {
  // The whole block is held and turned, and cut half or all through: a rotation stores no energy in what is left.
  auto scene = block();
  scene.cuts.push_back(blade(0, 0));
  scene.cuts[0].until = 1.5e-3;
  scene::Fixture turntable;
  turntable.name = "turntable";
  turntable.region.kind = geometry::Box{Vector3d(9, 9, 9)};
  turntable.motion.angular_velocity = {100, 200, 50};
  scene.fixtures.push_back(turntable);
  using scene::Gradient;
  for (const int pieces : {1, 2}) {
    // To the middle, which is 0.11 m below where the blade's lower edge begins, and 0.15 m further.
    scene.cuts[0].patch.place(Eigen::Matrix3d::Identity(), {0, 0, pieces == 1 ? -0.11 : -0.15});
    for (const auto gradient : {Gradient::least_squares, Gradient::corrected, Gradient::mlsrk_linear}) {
      scene.solver.gradient = gradient;
      Queue queue;
      const auto solver = make_solver(scene, queue);
      StepReport end;
      for (int k = 0; k < 5; ++k) end = solver->advance();
      const auto piece = pieces_of(*solver);
      EXPECT_EQ(*std::max_element(piece.begin(), piece.end()) + 1, pieces);
      // Exact for affine maps: strains of rounding, squared, times E = 1e5 Pa and the volume of 0.016 m^3.
      EXPECT_LT(end.elastic_energy, 1e5 * 0.016 * 1e-26);
    }
  }
}

TEST(Cutting, CutSpinningBlockKeepsItsAngularMomentum) {
  auto scene = block();
  scene.bodies[0].angular_velocity = {3, 4, 5};
  double lost[2];
  for (const bool cut : {false, true}) {
    if (cut) scene.cuts.push_back(blade(0, 10));
    Queue queue;
    const auto solver = make_solver(scene, queue);
    const auto start = solver->measure();
    StepReport end;
    for (int k = 0; k < 100; ++k) end = solver->advance();
    const auto piece = pieces_of(*solver);
    EXPECT_EQ(*std::max_element(piece.begin(), piece.end()) > 0, cut);
    lost[cut ? 1 : 0] = (end.angular_momentum - start.angular_momentum).norm() / start.angular_momentum.norm();
  }
  // Backward Euler turns v into its new direction by dt per step and loses some of the whole block's; the cut adds
  // nothing to that, and smaller pieces lose less.
  EXPECT_LT(lost[1], lost[0]);
}

TEST(Cutting, BladeActsOnlyInItsTime) {
  auto scene = block();
  scene.cuts.push_back(standing_blade(0));
  scene.cuts[0].from = 0.005;
  scene.cuts[0].until = 0.01;
  Queue queue;
  const auto solver = make_solver(scene, queue);
  const auto pieces = [&] {
    const auto piece = pieces_of(*solver);
    return *std::max_element(piece.begin(), piece.end()) + 1;
  };
  for (int k = 0; k < 5; ++k) solver->advance();
  EXPECT_EQ(pieces(), 1);
  solver->advance();
  EXPECT_EQ(pieces(), 2);
}

TEST(Cutting, WhatDriftsThroughABladeStaysWithItsPiece) {
  // A blade that stands in the body while it moves, along it and across, by two spacings: it cuts once.
  for (const Vector3d& velocity : {Vector3d(1, 0, 0), Vector3d(-1, 0.5, 0)})
    for (const bool blade_moves : {false, true}) {
      auto scene = block();
      scene.cuts.push_back(blade(0.003, 0));
      scene.cuts[0].patch.place(Eigen::DiagonalMatrix<double, 3>(1, 5, 5).toDenseMatrix(), {0, 0, -5 * 0.26});
      (blade_moves ? scene.cuts[0].motion.velocity : scene.bodies[0].velocity) = velocity;
      Queue queue;
      const auto solver = make_solver(scene, queue);
      for (int k = 0; k < 100; ++k) solver->advance();
      const auto piece = pieces_of(*solver);
      for (std::size_t id = 0; id < 128; ++id) ASSERT_EQ(piece[id], id < 64 ? 0 : 1) << id << ' ' << blade_moves;
    }
}

TEST(Cutting, BladeThatComesBackCutsAgain) {
  // A blade goes round and takes a slice of one layer each time, thinner than the reach of its pairs: it has forgotten
  // the sides of the turn before.
  auto scene = block();
  const double turn = 0.06;
  scene.cuts.push_back(blade(0.125, 0));
  scene.cuts[0].patch.place(Eigen::Matrix3d::Identity(), {0, 0, 1.4 - 0.26});
  scene.cuts[0].motion.angular_velocity = {2 * std::numbers::pi / turn, 0, 0};
  scene.cuts[0].motion.about = {0, 0, 0.7};
  scene.cuts[0].motion.velocity = {-0.05 / turn, 0, 0};
  Queue queue;
  const auto solver = make_solver(scene, queue);
  for (int k = 0; k < 180; ++k) solver->advance();
  const auto piece = pieces_of(*solver);
  std::map<double, int> sizes;
  for (const double p : piece) ++sizes[p];
  // The right end is cut off first, then one layer after the other.
  EXPECT_EQ(sizes, (std::map<double, int>{{0, 64}, {1, 32}, {2, 16}, {3, 16}}));
}

TEST(Cutting, PiecesKeepTheirNumbers) {
  auto scene = block();
  for (const double x : {0.05, -0.1}) scene.cuts.push_back(standing_blade(x));
  scene.cuts[1].from = 0.0045;
  Queue queue;
  const auto solver = make_solver(scene, queue);
  const auto numbers = [&] {  // of the eight layers along x, from left to right
    const auto piece = pieces_of(*solver);
    std::vector<double> layers;
    for (std::size_t id = 0; id < 128; id += 16) layers.push_back(piece[id]);
    return layers;
  };
  solver->advance();
  EXPECT_EQ(numbers(), (std::vector<double>{0, 0, 0, 0, 0, 1, 1, 1}));
  for (int k = 0; k < 5; ++k) solver->advance();
  // Of the left piece the first part keeps its number; the right one is still piece 1.
  EXPECT_EQ(numbers(), (std::vector<double>{0, 0, 2, 2, 2, 1, 1, 1}));
}

TEST(Cutting, PiecesThatArePressedTogetherTouch) {
  auto scene = block();
  scene.contact.enabled = true;
  scene.cuts.push_back(standing_blade(0));
  scene.cuts[0].until = 0.002;
  // Both ends are driven inwards by a tenth of the length.
  for (const double side : {-1.0, 1.0}) {
    scene::Fixture grip;
    grip.name = side < 0 ? "left" : "right";
    grip.region.kind = geometry::Box{Vector3d(0.11, 1, 1)};
    grip.region.position = {0.2 * side, 0, 0};
    grip.motion.velocity = {-0.2 * side, 0, 0};
    scene.fixtures.push_back(grip);
  }
  Queue queue;
  const auto solver = make_solver(scene, queue);
  for (int k = 0; k < 100; ++k) solver->advance();
  const auto x = values(solver->positions());
  double left = -1, right = 1;
  for (std::size_t id = 0; id < 128; ++id)
    id < 64 ? left = std::max(left, x[3 * id]) : right = std::min(right, x[3 * id]);
  // The faces stay a spacing apart up to a tenth; without contact the halves would overlap by more.
  EXPECT_GT(right - left, 0.9 * 0.05);
}

TEST(Cutting, ResumedRunIsTheSameToTheLastBit) {
  auto scene = block();
  scene.contact.enabled = true;
  scene.contact.self = true;
  scene.gravity = {0, 0, -9.81};
  scene.bodies[0].angular_velocity = {0, 1, 0};
  scene.cuts.push_back(blade(0, 3));
  Queue queue;
  const auto whole = make_solver(scene, queue), first = make_solver(scene, queue), second = make_solver(scene, queue);
  for (int k = 0; k < 90; ++k) whole->advance();
  for (int k = 0; k < 30; ++k) first->advance();  // the blade is half way through
  second->restore(first->step(), first->save());
  for (int k = 0; k < 60; ++k) second->advance();
  EXPECT_EQ(values(second->positions()), values(whole->positions()));
  EXPECT_EQ(pieces_of(*second), pieces_of(*whole));
  const auto piece = pieces_of(*whole);
  EXPECT_EQ(*std::max_element(piece.begin(), piece.end()), 1);
}

}  // namespace
