#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "kernels/smoothing/kernels.hpp"
#include "runtime/device_array.hpp"
#include "runtime/launch.hpp"
#include "tests/kernels/math_kernels.hpp"

namespace ductile::test {
namespace {

// One row per kernel: its name in the golden table and its support in units of that table's h.
struct Poly6Case {
  template <class Real, int Dim>
  using Kernel = Poly6<Real, Dim>;
  static constexpr const char* golden = "poly6";
  static constexpr bool smooth_at_centre = true;
};
struct WendlandCase {
  template <class Real, int Dim>
  using Kernel = Wendland<Real, Dim>;
  static constexpr const char* golden = "wendlandC2_support2r";
  static constexpr bool smooth_at_centre = true;
};
struct SpikyCase {
  template <class Real, int Dim>
  using Kernel = Spiky<Real, Dim>;
  static constexpr const char* golden = "desbrun_spiky";
  static constexpr bool smooth_at_centre = false;
};
struct CubicSplineCase {
  template <class Real, int Dim>
  using Kernel = CubicSpline<Real, Dim>;
  static constexpr const char* golden = "cubic_spline";
  static constexpr bool smooth_at_centre = true;
};
struct CosineCase {
  template <class Real, int Dim>
  using Kernel = Cosine<Real, Dim>;
  static constexpr const char* golden = "cosine_SSP07";
  static constexpr bool smooth_at_centre = false;
};

constexpr double supports[] = {2.0, 0.37, 1e-3};

template <class Case>
class SmoothingKernel : public testing::Test {
 protected:
  /// W, W' and W'/r at the distances, computed on the device; empty without double precision there.
  template <class Real, int Dim>
  std::vector<Vec3<Real>> evaluate(double support, const std::vector<Real>& distances) {
    using Kernel = typename Case::template Kernel<Real, Dim>;
    const DeviceArray<Real> r(queue, distances);
    DeviceArray<Vec3<Real>> results(queue, distances.size());
    launch(queue, "test.smoothing", distances.size(),
           EvaluateSmoothing<Real, Kernel>{Kernel(static_cast<Real>(support)), r.data(), results.data()});
    return results.download();
  }
  void SetUp() override {
    if (!queue.device().double_precision) GTEST_SKIP() << "no double precision";
  }
  Queue queue;
};
using Cases = testing::Types<Poly6Case, WendlandCase, SpikyCase, CubicSplineCase, CosineCase>;
TYPED_TEST_SUITE(SmoothingKernel, Cases);

TYPED_TEST(SmoothingKernel, AgreesWithTheGoldenTable) {
  std::ifstream file(std::string(DUCTILE_TEST_DATA) + "/golden_kernels.json");
  ASSERT_TRUE(file) << "tests/data/golden_kernels.json is missing";
  const auto golden = nlohmann::json::parse(file).at(TypeParam::golden);
  const double support = golden.at("h=1 support");
  const auto space = this->template evaluate<double, 3>(support, {0.0, 0.5, 0.9 * support});
  const auto plane = this->template evaluate<double, 2>(support, {0.5});
  // Both sides are rounded after some ten operations; the argument 0.9 H near the rim is rounded too, and the value
  // falls there with up to the fourth power of the distance to it.
  const auto near = [](double found, double expected) { EXPECT_NEAR(found, expected, 1e-13 * std::abs(expected)); };
  for (std::size_t i = 0; i < 3; ++i) near(space[i].x, golden.at("W3(0),W3(.5),W3(.9H)").at(i));
  near(space[1].y, golden.at("dW3(.5)"));
  near(plane[0].x, golden.at("W2(.5)"));
  near(plane[0].y, golden.at("dW2(.5)"));
}

/// Integral of f(r, W, W') times the surface of the sphere or circle of radius r by Simpson's rule with 4000
/// intervals, whose error is below 1e-12 for these piecewise smooth functions: the knot of the spline is a node.
template <class Values, class Integrand>
double integrate(int dim, double support, const Values& values, const Integrand& f) {
  const std::size_t intervals = values.size() - 1;
  double sum = 0;
  for (std::size_t i = 0; i <= intervals; ++i) {
    const double r = support * double(i) / double(intervals);
    const double weight = i == 0 || i == intervals ? 1 : i % 2 == 1 ? 4 : 2;
    const double surface = (dim == 3 ? 4 * r : 2) * std::numbers::pi * r;
    sum += weight * surface * f(r, double(values[i].x), double(values[i].y));
  }
  return sum * support / double(intervals) / 3;
}

template <class Real>
std::vector<Real> nodes(double support) {
  constexpr std::size_t intervals = 4000;
  std::vector<Real> r(intervals + 1);
  for (std::size_t i = 0; i <= intervals; ++i) r[i] = static_cast<Real>(support * double(i) / double(intervals));
  return r;
}

template <class Values>
void expect_moments(int dim, double support, const Values& values, double tolerance) {
  const auto w = [](double, double value, double) { return value; };
  const auto r_grad_w = [](double r, double, double derivative) { return r * derivative; };
  EXPECT_NEAR(integrate(dim, support, values, w), 1, tolerance) << dim << "D, support " << support;
  EXPECT_NEAR(integrate(dim, support, values, r_grad_w), -dim, dim * tolerance) << dim << "D, support " << support;
}

TYPED_TEST(SmoothingKernel, IntegratesToOneAndItsGradientToMinusTheDimension) {
  for (const double support : supports) {
    expect_moments(3, support, this->template evaluate<double, 3>(support, nodes<double>(support)), 1e-11);
    expect_moments(2, support, this->template evaluate<double, 2>(support, nodes<double>(support)), 1e-11);
    // Single precision: the normalising constant is off by a few units, as are all values in the same direction.
    const double tolerance = 4 * std::numeric_limits<float>::epsilon();
    expect_moments(3, support, this->template evaluate<float, 3>(support, nodes<float>(support)), tolerance);
    expect_moments(2, support, this->template evaluate<float, 2>(support, nodes<float>(support)), tolerance);
  }
}

/// `evaluate` gives W, W' and W'/r at a list of distances.
template <class Evaluate>
void expect_slopes(double support, const Evaluate& evaluate) {
  const double step = 1e-5 * support;
  std::vector<double> at, before, after;
  for (int i = 1; i < 200; ++i) {
    const double r = support * i / 200.0 + 2 * step;  // off the knot of the spline
    at.push_back(r);
    before.push_back(r - step);
    after.push_back(r + step);
  }
  const auto here = evaluate(at), low = evaluate(before), high = evaluate(after);
  const double scale = evaluate({0.0})[0].x / support;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double slope = (high[i].x - low[i].x) / (2 * step);
    // Truncation: step^2/6 W''' of order 1e-10 * 50; rounding: 1e-16/1e-5 of W.
    EXPECT_NEAR(here[i].y, slope, 2e-8 * scale) << "r/H = " << at[i] / support;
    EXPECT_NEAR(here[i].z * at[i], here[i].y, 1e-14 * scale);
    EXPECT_LE(here[i].y, 0);
  }
}

TYPED_TEST(SmoothingKernel, DerivativeIsTheSlope) {
  for (const double support : supports) {
    expect_slopes(support,
                  [&](const std::vector<double>& r) { return this->template evaluate<double, 3>(support, r); });
    expect_slopes(support,
                  [&](const std::vector<double>& r) { return this->template evaluate<double, 2>(support, r); });
  }
}

TYPED_TEST(SmoothingKernel, VanishesExactlyAtAndBeyondTheSupport) {
  const auto expect_zero = [](const auto& results) {
    for (const auto& w : results) {
      EXPECT_EQ(w.x, 0);
      EXPECT_EQ(w.y, 0);
      EXPECT_EQ(w.z, 0);
    }
  };
  for (const double support : supports) {
    const auto rim = static_cast<float>(support);
    expect_zero(this->template evaluate<double, 3>(support, {support, std::nextafter(support, 9.0), 3 * support}));
    expect_zero(this->template evaluate<double, 2>(support, {support, std::nextafter(support, 9.0), 3 * support}));
    expect_zero(this->template evaluate<float, 3>(support, {rim, std::nextafter(rim, 9.0f), 3 * rim}));
    expect_zero(this->template evaluate<float, 2>(support, {rim, std::nextafter(rim, 9.0f), 3 * rim}));
    EXPECT_GT((this->template evaluate<float, 3>(support, {0.99f * rim})[0].x), 0);
  }
}

TYPED_TEST(SmoothingKernel, GradientFactorIsFiniteForCoincidentParticles) {
  for (const double support : supports) {
    const auto centre = this->template evaluate<float, 3>(support, {0.0f, 1e-30f, 1e-20f});
    for (const auto& w : centre) EXPECT_TRUE(std::isfinite(w.z));
    // Where W'/r has a limit it is taken; where it is singular, coincident particles do not push each other.
    if (TypeParam::smooth_at_centre) {
      EXPECT_LT(centre[0].z, 0);
      EXPECT_FLOAT_EQ(centre[0].z, centre[2].z);
    } else {
      EXPECT_EQ(centre[0].z, 0);
      EXPECT_FLOAT_EQ(centre[2].z * 1e-20f, centre[0].y);
    }
  }
}

TYPED_TEST(SmoothingKernel, SinglePrecisionLosesNothingButRounding) {
  for (const double support : supports) {
    const auto r = nodes<float>(support);
    const std::vector<double> same(r.begin(), r.end());
    const auto single = this->template evaluate<float, 3>(support, r);
    const auto reference = this->template evaluate<double, 3>(double(static_cast<float>(support)), same);
    for (std::size_t i = 0; i < r.size(); ++i) {
      // Some ten roundings; the distance to the rim is exact there (Sterbenz), so that small values keep their digits.
      const double relative = 12 * std::numeric_limits<float>::epsilon();
      ASSERT_NEAR(single[i].x, reference[i].x, relative * reference[i].x) << r[i];
      ASSERT_NEAR(single[i].y, reference[i].y, relative * std::abs(reference[i].y)) << r[i];
      ASSERT_NEAR(single[i].z, reference[i].z, relative * std::abs(reference[i].z)) << r[i];
    }
  }
}

}  // namespace
}  // namespace ductile::test
