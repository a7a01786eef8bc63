#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "geometry/sampling.hpp"
#include "geometry/shape.hpp"
#include "geometry/voronoi.hpp"
#include "kernels/contact/signed_distance.hpp"

namespace ductile::geometry {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using std::numbers::pi;

Vec3<double> device(const Vector3d& v) { return {v.x(), v.y(), v.z()}; }
Vector3d host(const Vec3<double>& v) { return {v.x, v.y, v.z}; }

/// A shape with what an independent check needs: a dense sample of its surface and an implicit inside test.
struct Case {
  std::string name;
  ShapeKind kind;
  std::function<DistanceNormal<double>(const Vec3<double>&)> evaluate;
  std::function<bool(const Vector3d&)> inside;
  std::vector<Vector3d> surface;
  double resolution;  // no surface point is farther than this from a sample
  double volume;
};

constexpr int density = 120;  // samples per edge or circumference

void add_disc(std::vector<Vector3d>& surface, double radius, double z) {
  const int rings = density / 2;
  for (int i = 0; i <= rings; ++i)
    for (int j = 0; j < density; ++j) {
      const double r = radius * i / rings, angle = 2 * pi * j / density;
      surface.emplace_back(r * std::cos(angle), r * std::sin(angle), z);
    }
}

void add_wall(std::vector<Vector3d>& surface, double radius, double height) {
  for (int i = 0; i <= density; ++i)
    for (int j = 0; j < density; ++j)
      surface.emplace_back(radius * std::cos(2 * pi * j / density), radius * std::sin(2 * pi * j / density),
                           height * (static_cast<double>(i) / density - 0.5));
}

/// Sphere whose upper half is lifted and lower half is lowered by `half_gap`.
void add_split_sphere(std::vector<Vector3d>& surface, double radius, double half_gap) {
  for (int i = 0; i <= density; ++i)
    for (int j = 0; j < density; ++j) {
      const double polar = pi * i / density, angle = 2 * pi * j / density;
      surface.emplace_back(radius * std::sin(polar) * std::cos(angle), radius * std::sin(polar) * std::sin(angle),
                           radius * std::cos(polar) + (2 * i <= density ? half_gap : -half_gap));
    }
}

Case box_case() {
  const Vector3d size(1.0, 0.6, 1.4), half = size / 2;
  std::vector<Vector3d> surface;
  for (int axis = 0; axis < 3; ++axis)
    for (double side : {-1.0, 1.0})
      for (int i = 0; i <= density; ++i)
        for (int j = 0; j <= density; ++j) {
          Vector3d p;
          p[axis] = side * half[axis];
          p[(axis + 1) % 3] = half[(axis + 1) % 3] * (2.0 * i / density - 1);
          p[(axis + 2) % 3] = half[(axis + 2) % 3] * (2.0 * j / density - 1);
          surface.push_back(p);
        }
  return {"box",
          Box{size},
          [half](const Vec3<double>& p) { return box_distance_normal(p, device(half)); },
          [half](const Vector3d& p) { return (p.cwiseAbs().array() < half.array()).all(); },
          surface,
          1.4 / density,
          1.0 * 0.6 * 1.4};
}

Case sphere_case() {
  std::vector<Vector3d> surface;
  add_split_sphere(surface, 0.7, 0);
  return {"sphere",
          Sphere{0.7},
          [](const Vec3<double>& p) { return sphere_distance_normal(p, 0.7); },
          [](const Vector3d& p) { return p.squaredNorm() < 0.49; },
          surface,
          2 * pi * 0.7 / density,
          4.0 / 3 * pi * 0.343};
}

Case cylinder_case() {
  std::vector<Vector3d> surface;
  add_wall(surface, 0.5, 1.4);
  add_disc(surface, 0.5, 0.7);
  add_disc(surface, 0.5, -0.7);
  return {"cylinder",
          Cylinder{0.5, 1.4},
          [](const Vec3<double>& p) { return cylinder_distance_normal(p, 0.5, 0.7); },
          [](const Vector3d& p) { return p.head<2>().squaredNorm() < 0.25 && std::abs(p.z()) < 0.7; },
          surface,
          2 * pi * 0.5 / density,
          pi * 0.25 * 1.4};
}

Case capsule_case() {
  std::vector<Vector3d> surface;
  add_wall(surface, 0.4, 0.9);
  add_split_sphere(surface, 0.4, 0.45);
  return {"capsule",
          Capsule{0.4, 0.9},
          [](const Vec3<double>& p) { return capsule_distance_normal(p, 0.4, 0.45); },
          [](const Vector3d& p) {
            const double beyond = std::max(std::abs(p.z()) - 0.45, 0.0);
            return p.head<2>().squaredNorm() + beyond * beyond < 0.16;
          },
          surface,
          2 * pi * 0.4 / density,
          pi * 0.16 * 0.9 + 4.0 / 3 * pi * 0.064};
}

Case torus_case() {
  std::vector<Vector3d> surface;
  for (int i = 0; i < 2 * density; ++i)
    for (int j = 0; j < density; ++j) {
      const double around = pi * i / density, tube = 2 * pi * j / density;
      const double r = 0.7 + 0.25 * std::cos(tube);
      surface.emplace_back(r * std::cos(around), r * std::sin(around), 0.25 * std::sin(tube));
    }
  return {"torus",
          Torus{0.7, 0.25},
          [](const Vec3<double>& p) { return torus_distance_normal(p, 0.7, 0.25); },
          [](const Vector3d& p) {
            const double r = p.head<2>().norm() - 0.7;
            return r * r + p.z() * p.z() < 0.0625;
          },
          surface,
          pi * 0.95 / density,
          2 * pi * pi * 0.7 * 0.0625};
}

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases{box_case(), sphere_case(), cylinder_case(), capsule_case(), torus_case()};
  return cases;
}

Vector3d random_point(std::mt19937_64& engine, double extent) {
  std::uniform_real_distribution<double> uniform(-extent, extent);
  const double x = uniform(engine), y = uniform(engine), z = uniform(engine);
  return {x, y, z};
}

Matrix3d some_rotation() { return Eigen::AngleAxisd(0.9, Vector3d(0.3, -0.7, 0.5).normalized()).toRotationMatrix(); }

TEST(SignedDistance, IsTheDistanceToTheNearestSurfacePoint) {
  std::mt19937_64 engine(1);
  for (const auto& shape : all_cases())
    for (int trial = 0; trial < 60; ++trial) {
      const Vector3d p = random_point(engine, 1.2);
      double nearest = std::numeric_limits<double>::infinity();
      for (const auto& q : shape.surface) nearest = std::min(nearest, (p - q).norm());
      const double distance = shape.evaluate(device(p)).distance;
      // A sample is a surface point (never nearer, up to rounding) and lies within the resolution of the nearest one.
      EXPECT_LE(std::abs(distance), nearest + 1e-14) << shape.name << " at " << p.transpose();
      EXPECT_GE(std::abs(distance), nearest - shape.resolution) << shape.name << " at " << p.transpose();
      EXPECT_EQ(distance < 0, shape.inside(p)) << shape.name << " at " << p.transpose();
    }
}

TEST(SignedDistance, StepAlongTheNormalEndsOnTheSurface) {
  std::mt19937_64 engine(2);
  for (const auto& shape : all_cases())
    for (int trial = 0; trial < 2000; ++trial) {
      const Vector3d p = random_point(engine, 1.2);
      const auto [distance, normal] = shape.evaluate(device(p));
      EXPECT_NEAR(norm(normal), 1.0, 1e-15) << shape.name;
      // A surface point at exactly that distance: with the bound from below by sampling, the distance is exact.
      // Rounding of a few operations on numbers of order one.
      EXPECT_NEAR(shape.evaluate(device(p) - distance * normal).distance, 0.0, 2e-15) << shape.name;
    }
}

TEST(SignedDistance, NormalIsTheGradient) {
  std::mt19937_64 engine(3);
  const double h = 1e-6;
  for (const auto& shape : all_cases()) {
    int compared = 0;
    for (int trial = 0; trial < 1000; ++trial) {
      const Vector3d p = random_point(engine, 1.2);
      const Vector3d normal = host(shape.evaluate(device(p)).normal);
      Vector3d gradient;
      bool smooth = true;  // no medial surface within the stencil
      for (int axis = 0; axis < 3; ++axis) {
        const Vector3d step = h * Vector3d::Unit(axis);
        const auto ahead = shape.evaluate(device(p + step)), behind = shape.evaluate(device(p - step));
        gradient[axis] = (ahead.distance - behind.distance) / (2 * h);
        smooth = smooth && (host(ahead.normal) - host(behind.normal)).norm() < 1e-2;
      }
      if (!smooth) continue;
      ++compared;
      // Central differences: h^2 times third derivatives (below 1e5 in smooth places) and 1e-16/h of rounding.
      EXPECT_LT((normal - gradient).norm(), 1e-6) << shape.name << " at " << p.transpose();
      EXPECT_NEAR(gradient.norm(), 1.0, 1e-6) << shape.name << " at " << p.transpose();
    }
    EXPECT_GT(compared, 990) << shape.name;
  }
}

TEST(SignedDistance, IsZeroOnTheSurface) {
  for (const auto& shape : all_cases())
    for (std::size_t k = 0; k < shape.surface.size(); k += 17)
      EXPECT_NEAR(shape.evaluate(device(shape.surface[k])).distance, 0.0, 4e-16) << shape.name;
}

TEST(SignedDistance, SingularPointsHaveAUnitNormalToANearestPoint) {
  const double tiny = std::numeric_limits<double>::denorm_min();
  for (const auto& shape : all_cases())
    for (const Vector3d& p :
         {Vector3d(0, 0, 0), Vector3d(0, 0, 0.2), Vector3d(0, 0, -2), Vector3d(0.7, 0, 0), Vector3d(-0.7, 0, 0),
          Vector3d(0.5, 0.3, 0.7), Vector3d(tiny, 0, 0), Vector3d(0, -tiny, tiny), Vector3d(1e-170, -1e-170, 1e-170)}) {
      const auto [distance, normal] = shape.evaluate(device(p));
      EXPECT_NEAR(norm(normal), 1.0, 1e-15) << shape.name << " at " << p.transpose();
      EXPECT_NEAR(shape.evaluate(device(p) - distance * normal).distance, 0.0, 1e-15)
          << shape.name << " at " << p.transpose();
    }
}

TEST(SignedDistance, KnownValues) {
  const Vec3<double> half{0.5, 0.3, 0.7};
  EXPECT_DOUBLE_EQ(box_distance({0.0, 0.0, 0.0}, half), -0.3);
  EXPECT_DOUBLE_EQ(box_distance({0.5 + 3, 0.3 + 4, 0.0}, half), 5.0);
  EXPECT_DOUBLE_EQ(box_distance({-0.5 - 1, 0.3 + 2, -0.7 - 2}, half), 3.0);
  EXPECT_DOUBLE_EQ(cylinder_distance({0.0, -(0.5 + 3), 0.7 + 4}, 0.5, 0.7), 5.0);
  EXPECT_DOUBLE_EQ(cylinder_distance({0.0, 0.0, 0.0}, 0.5, 0.7), -0.5);
  EXPECT_DOUBLE_EQ(capsule_distance({3.0, 0.0, 0.45 + 4}, 0.4, 0.45), 4.6);
  EXPECT_DOUBLE_EQ(torus_distance({0.0, 0.0, 0.0}, 0.7, 0.25), 0.7 - 0.25);
  EXPECT_DOUBLE_EQ(sphere_distance({0.0, 3.0, 4.0}, 0.7), 4.3);
  EXPECT_DOUBLE_EQ(plane_distance<double>({5.0, 6.0, 7.0}, {0.0, 0.0, 1.0}, {1.0, 1.0, 4.0}), 3.0);
}

TEST(SignedDistance, SinglePrecisionAgrees) {
  std::mt19937_64 engine(4);
  // A few roundings of numbers of order one, each 6e-8.
  const double tolerance = 5e-7;
  for (int trial = 0; trial < 1000; ++trial) {
    const Vector3d p = random_point(engine, 1.2);
    const Vec3<float> q{static_cast<float>(p.x()), static_cast<float>(p.y()), static_cast<float>(p.z())};
    const Vec3<double> same{double{q.x}, double{q.y}, double{q.z}};
    EXPECT_NEAR(box_distance(q, {0.5f, 0.25f, 0.75f}), box_distance(same, {0.5, 0.25, 0.75}), tolerance);
    EXPECT_NEAR(sphere_distance(q, 0.75f), sphere_distance(same, 0.75), tolerance);
    EXPECT_NEAR(cylinder_distance(q, 0.5f, 0.75f), cylinder_distance(same, 0.5, 0.75), tolerance);
    EXPECT_NEAR(capsule_distance(q, 0.5f, 0.75f), capsule_distance(same, 0.5, 0.75), tolerance);
    EXPECT_NEAR(torus_distance(q, 0.75f, 0.25f), torus_distance(same, 0.75, 0.25), tolerance);
  }
}

TEST(Shape, PlacementMovesTheDistanceField) {
  std::mt19937_64 engine(5);
  const Vector3d position(0.3, -2, 1.5);
  const Matrix3d rotation = some_rotation();
  for (const auto& shape : all_cases()) {
    const Shape placed{shape.kind, position, rotation};
    for (int trial = 0; trial < 200; ++trial) {
      const Vector3d p = random_point(engine, 1.2);
      // Rounding of the placement, coordinates of order two.
      EXPECT_NEAR(signed_distance(placed, rotation * p + position), shape.evaluate(device(p)).distance, 3e-15)
          << shape.name;
    }
  }
}

TEST(Shape, PlaneIsAHalfSpaceBelowItsNormal) {
  const Vector3d normal = Vector3d(1, 2, 2) / 3;
  const Shape plane{Plane{normal, {0, 0, 0.5}}, {1, 0, 0}, Matrix3d::Identity()};
  const Vector3d on_plane(1, 0, 0.5);
  EXPECT_NEAR(signed_distance(plane, on_plane + 2 * normal), 2.0, 1e-15);
  EXPECT_NEAR(signed_distance(plane, on_plane - 2 * normal), -2.0, 1e-15);
  EXPECT_TRUE(contains(plane, on_plane + Vector3d(2, -1, 0)));
  EXPECT_FALSE(contains(plane, on_plane + 1e-9 * normal));
  EXPECT_TRUE(std::isinf(volume(plane)));
  EXPECT_TRUE(bounds(plane).contains(Vector3d(1e300, -1e300, 1e300)));
}

TEST(Shape, ContainsItsSurfaceDespiteRounding) {
  const Vector3d position(10.1, -3.3, 0.7);
  const Matrix3d rotation = some_rotation();
  for (const auto& shape : all_cases()) {
    const Shape placed{shape.kind, position, rotation};
    for (std::size_t k = 0; k < shape.surface.size(); k += 17) {
      EXPECT_TRUE(contains(placed, rotation * shape.surface[k] + position)) << shape.name;
      const Vector3d outside = shape.surface[k] + 1e-9 * host(shape.evaluate(device(shape.surface[k])).normal);
      EXPECT_FALSE(contains(placed, rotation * outside + position)) << shape.name;
    }
  }
}

TEST(Shape, BoundsTouchTheSurfaceOnEverySide) {
  const Vector3d position(0.3, -2, 1.5);
  for (const Matrix3d& rotation : {Matrix3d(Matrix3d::Identity()), some_rotation()})
    for (const auto& shape : all_cases()) {
      Eigen::AlignedBox3d sampled;
      for (const auto& p : shape.surface) sampled.extend(Vector3d(rotation * p + position));
      const auto box = bounds({shape.kind, position, rotation});
      // Never inside the samples (up to rounding), never farther than the gaps between them.
      EXPECT_LT((box.min() - sampled.min()).maxCoeff(), 1e-15) << shape.name;
      EXPECT_LT((sampled.max() - box.max()).maxCoeff(), 1e-15) << shape.name;
      EXPECT_LT((sampled.min() - box.min()).maxCoeff(), shape.resolution) << shape.name;
      EXPECT_LT((box.max() - sampled.max()).maxCoeff(), shape.resolution) << shape.name;
    }
}

TEST(Sampling, BoxIsFilledExactly) {
  const Shape beam{Box{{1.0, 0.2, 0.3}}, {0.5, 0, 0}, Matrix3d::Identity()};
  const auto samples = sample_lattice(beam, 0.1, 0, 0, 1);
  ASSERT_EQ(samples.positions.size(), 10u * 2 * 3);
  ASSERT_EQ(samples.volumes.size(), samples.positions.size());
  EXPECT_DOUBLE_EQ(estimate_count(beam, 0.1), 60.0);
  Eigen::AlignedBox3d box;
  for (const auto& p : samples.positions) box.extend(p);
  // Corner particles half a cell inside.
  EXPECT_LT((box.min() - Vector3d(0.05, -0.05, -0.1)).norm(), 1e-15);
  EXPECT_LT((box.max() - Vector3d(0.95, 0.05, 0.1)).norm(), 1e-15);
  // z fastest, then y, then x.
  EXPECT_LT((samples.positions[1] - samples.positions[0] - Vector3d(0, 0, 0.1)).norm(), 1e-15);
  EXPECT_LT((samples.positions[3] - samples.positions[0] - Vector3d(0, 0.1, -0.0)).norm(), 1e-15);
  EXPECT_LT((samples.positions[6] - samples.positions[0] - Vector3d(0.1, 0, 0)).norm(), 1e-15);
}

TEST(Sampling, BoxCellsStretchToItsSize) {
  for (double spacing : {0.07, 0.1, 0.13, 0.4, 1.2}) {
    const Shape box{Box{{1.0, 0.63, 0.22}}};
    const auto samples = sample_lattice(box, spacing, 0, 0, 1);
    double sum = 0;
    Eigen::AlignedBox3d occupied;
    for (double v : samples.volumes) sum += v;
    for (const auto& p : samples.positions) occupied.extend(p);
    // Rounding of a sum of up to a thousand equal terms.
    EXPECT_NEAR(sum / (1.0 * 0.63 * 0.22), 1.0, 1e-13) << spacing;
    EXPECT_LT(occupied.center().norm(), 1e-15);
    EXPECT_DOUBLE_EQ(estimate_count(box, spacing), static_cast<double>(samples.positions.size()));
  }
}

TEST(Sampling, VolumesAddUpToTheShape) {
  for (const auto& shape : all_cases())
    for (double spacing : {0.1, 0.05, 0.03}) {
      const auto samples = sample_lattice({shape.kind}, spacing, 0, 0, 1);
      double sum = 0;
      for (double v : samples.volumes) sum += v;
      // Rounding of a sum of up to 1e6 terms.
      EXPECT_NEAR(sum / shape.volume, 1.0, 1e-11) << shape.name << " " << spacing;
      EXPECT_NEAR(volume({shape.kind}) / shape.volume, 1.0, 1e-14) << shape.name;
      EXPECT_GE(estimate_count({shape.kind}, spacing), static_cast<double>(samples.positions.size())) << shape.name;
      for (const auto& p : samples.positions) ASSERT_LE(signed_distance({shape.kind}, p), 1e-9 * spacing) << shape.name;
    }
}

/// Lattice layers fill a cylinder's height exactly, for odd numbers of layers too.
TEST(Sampling, LayersMatchTheHeightOfACylinder) {
  for (int layers : {1, 2, 3, 4, 5}) {
    const double spacing = 0.9 / layers;
    const auto samples = sample_lattice({Cylinder{3.0, 0.9}}, spacing, 0, 0, 1);
    Eigen::AlignedBox3d box;
    for (const auto& p : samples.positions) box.extend(p);
    EXPECT_NEAR(box.sizes().z(), 0.9 - spacing, 1e-14) << layers;
  }
}

bool less(const Vector3d& a, const Vector3d& b) {
  return std::tuple(a.x(), a.y(), a.z()) < std::tuple(b.x(), b.y(), b.z());
}

TEST(Sampling, LatticeIsSymmetric) {
  for (const auto& shape : all_cases())
    for (double spacing : {0.1, 0.083})
      for (int axis = 0; axis < 3; ++axis) {
        auto positions = sample_lattice({shape.kind}, spacing, 0, 0, 1).positions;
        auto mirrored = positions;
        for (auto& p : mirrored) p[axis] = -p[axis] + 0.0;
        for (auto& p : positions) p[axis] += 0.0;
        std::sort(positions.begin(), positions.end(), less);
        std::sort(mirrored.begin(), mirrored.end(), less);
        EXPECT_EQ(positions, mirrored) << shape.name << " axis " << axis;
      }
}

TEST(Sampling, RoundingDropsNoPointOfTheSurface) {
  // 41 is the sum of the squares of (0,4,5), (1,2,6) and (3,4,4): 24 + 48 + 24 lattice points lie on this sphere.
  int on_surface = 0;
  for (const auto& p : sample_lattice({Sphere{0.1 * std::sqrt(41.0)}}, 0.1, 0, 0, 1).positions)
    on_surface += p.squaredNorm() > 0.405;
  EXPECT_EQ(on_surface, 96);
}

TEST(Sampling, FollowsThePlacement) {
  const Matrix3d rotation = some_rotation();
  const Vector3d position(3, -1, 0.5);
  for (const auto& shape : all_cases()) {
    const auto local = sample_lattice({shape.kind}, 0.1, 0.2, 0, 7);
    const auto world = sample_lattice({shape.kind, position, rotation}, 0.1, 0.2, 0, 7);
    ASSERT_EQ(local.positions.size(), world.positions.size());
    for (std::size_t k = 0; k < local.positions.size(); ++k)
      // Rounding of the placement, coordinates of order four.
      ASSERT_LT((world.positions[k] - (rotation * local.positions[k] + position)).norm(), 4e-15) << shape.name;
  }
}

TEST(Sampling, JitterIsBoundedUniformAndSeeded) {
  const Shape box{Box{{1, 1, 1}}};
  const double spacing = 0.05, jitter = 0.3;
  const auto still = sample_lattice(box, spacing, 0, 0, 1);
  const auto moved = sample_lattice(box, spacing, jitter, 0, 1);
  const auto again = sample_lattice(box, spacing, jitter, 0, 1);
  const auto other = sample_lattice(box, spacing, jitter, 0, 2);
  EXPECT_EQ(moved.positions, again.positions);
  // Rounding of 8000 terms.
  EXPECT_NEAR(std::accumulate(moved.volumes.begin(), moved.volumes.end(), 0.0), 1, 1e-12);
  Vector3d mean = Vector3d::Zero(), square = Vector3d::Zero(), product = Vector3d::Zero(), largest = Vector3d::Zero();
  std::size_t equal = 0;
  for (std::size_t k = 0; k < moved.positions.size(); ++k) {
    const Vector3d step = (moved.positions[k] - still.positions[k]) / (jitter * spacing);
    mean += step;
    square += step.cwiseProduct(step);
    product += step.cwiseProduct(Vector3d(step.y(), step.z(), step.x()));
    largest = largest.cwiseMax(step.cwiseAbs());
    equal += moved.positions[k] == other.positions[k];
  }
  const double n = static_cast<double>(moved.positions.size());
  EXPECT_EQ(equal, 0u);
  EXPECT_LE(largest.maxCoeff(), 1.0 + 1e-13);
  // 8000 uniform numbers on [-1,1): mean 0 +- 0.0065, mean square 1/3 +- 0.0033, mean product 0 +- 0.0037; five sigma.
  EXPECT_GT(largest.minCoeff(), 0.99);
  EXPECT_LT((mean / n).cwiseAbs().maxCoeff(), 5 * 0.0065);
  EXPECT_LT((square / n - Vector3d::Constant(1.0 / 3)).cwiseAbs().maxCoeff(), 5 * 0.0033);
  EXPECT_LT((product / n).cwiseAbs().maxCoeff(), 5 * 0.0037);
}

/// The formula in the header, evaluated with whole numbers in another language: every machine must give these bits.
TEST(Sampling, JitterIsTheSameOnEveryMachine) {
  const auto samples = sample_lattice({Box{{2, 1, 1}}}, 1.0, 0.25, 0, 42);
  ASSERT_EQ(samples.positions.size(), 2u);
  const Vector3d first(0x1.89b3f130a0638p-3, -0x1.5bc92d036a3cap-1, -0x1.559bd06717f94p-1),
      second(-0x1.ced2536c43f9ep-1, 0x1.ec5a81b94bb04p-1, -0x1.0f3c0e80abe5cp-1);
  EXPECT_EQ(samples.positions[0], Vector3d(-0.5, 0, 0) + 0.25 * first);
  EXPECT_EQ(samples.positions[1], Vector3d(0.5, 0, 0) + 0.25 * second);
}

/// A cell's centre of mass weighted by its volume is a partition of that of the shape.
TEST(Sampling, VoronoiCellsKeepTheCentreOfMass) {
  for (const auto& shape : all_cases()) {
    const double spacing = 0.1;
    const auto points = sample_lattice({shape.kind}, spacing, 0.2, 0, 3).positions;
    const auto cells = VoronoiCells(shape.kind, spacing).of(points);
    Vector3d centre = Vector3d::Zero();
    for (std::size_t i = 0; i < points.size(); ++i) centre += cells.volumes[i] * cells.centres[i] / shape.volume;
    // All shapes are symmetric about the origin, and so are the cubes that stand for them.
    EXPECT_LT(centre.norm(), 1e-12) << shape.name;
  }
}

TEST(Sampling, RelaxedSamplesAreIrregularButEven) {
  const Shape box{Box{{1, 1, 1}}};
  const double spacing = 0.1;
  const auto still = sample_lattice(box, spacing, 0, 0, 1), relaxed = sample_lattice(box, spacing, 0.3, 4, 1);
  const auto cells = VoronoiCells(box.kind, spacing).of(relaxed.positions);
  double off_lattice = 0, off_centre = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    off_lattice += (relaxed.positions[i] - still.positions[i]).squaredNorm() / 1000;
    off_centre += (relaxed.positions[i] - cells.centres[i]).squaredNorm() / 1000;
  }
  // Uniform jitter of 0.3 has 0.3 s in three dimensions; the large waves of it stay, the small ones go.
  EXPECT_GT(std::sqrt(off_lattice), 0.1 * spacing);
  EXPECT_LT(std::sqrt(off_centre), 0.05 * spacing);
}

std::string refusal(const Shape& shape, double spacing) {
  try {
    static_cast<void>(sample_lattice(shape, spacing, 0, 0, 1));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(Sampling, RefusesWhatGivesNoParticles) {
  EXPECT_NE(refusal({Sphere{0.1}}, 0.5).find("no particle"), std::string::npos);
  // The only lattice point is in the hole.
  EXPECT_NE(refusal({Torus{0.5, 0.1}}, 1.0).find("no particle"), std::string::npos);
  // Nothing along one axis, very many along another.
  EXPECT_NE(refusal({Cylinder{1e12, 1e-3}}, 1.0).find("no particle"), std::string::npos);
  // A box too, unless it is a sheet or a rod, whose cells are as thin as it.
  EXPECT_NE(refusal({Box{{1, 1, 1}}}, 1e9).find("no particle"), std::string::npos);
  EXPECT_EQ(refusal({Box{{1, 1, 0.01}}}, 0.1), "");
  EXPECT_EQ(refusal({Box{{1, 0.01, 0.01}}}, 0.1), "");
  EXPECT_NE(refusal({Plane{}}, 0.1).find("plane"), std::string::npos);
  EXPECT_NE(refusal({Box{}}, 1e-5).find("more than 2^32"), std::string::npos);
  EXPECT_NE(refusal({Box{}}, 0).find("positive"), std::string::npos);
  EXPECT_NE(refusal({Box{}}, std::nan("")).find("positive"), std::string::npos);
  EXPECT_EQ(refusal({Sphere{0.5}}, 0.5), "");
}

}  // namespace
}  // namespace ductile::geometry
