#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "runtime/device_array.hpp"
#include "runtime/launch.hpp"
#include "tests/kernels/material_kernels.hpp"

namespace ductile {
namespace {

constexpr double youngs_modulus = 1000, poisson_ratio = 0.3;
constexpr double critical = 0.57735026918962576;

template <class Real>
Mat3<Real> matrix(const std::vector<double>& values) {
  Mat3<Real> result{};
  for (std::size_t k = 0; k < 9; ++k) result.m[k] = Real(values.at(k));
  return result;
}

template <class Real>
Mat3<Real> matrix(const Eigen::Matrix3d& values) {
  Mat3<Real> result{};
  for (int k = 0; k < 9; ++k) result.m[k] = Real(values(k / 3, k % 3));
  return result;
}

template <class To, class From>
Mat3<To> convert(const Mat3<From>& from) {
  Mat3<To> result{};
  for (int k = 0; k < 9; ++k) result.m[k] = To(from.m[k]);
  return result;
}

template <class Real>
double distance(const Mat3<Real>& a, const Mat3<double>& b) {
  return norm(convert<double>(a) - b);
}

Eigen::Matrix3d rotation(double x, double y, double z, double angle) {
  return Eigen::AngleAxisd(angle, Eigen::Vector3d(x, y, z).normalized()).toRotationMatrix();
}

/// Rotation times diagonal stretches times rotation.
Eigen::Matrix3d stretched(double a, double b, double c) {
  return rotation(1, 2, 0, 0.4) * Eigen::Vector3d(a, b, c).asDiagonal() * rotation(0, 1, 1, 0.8);
}

std::vector<double> numbers(const nlohmann::json& list) { return list.get<std::vector<double>>(); }

nlohmann::json golden_laws() { return nlohmann::json::parse(std::ifstream(DUCTILE_TEST_DATA "/golden_laws.json")); }

template <class Real>
using Law = std::function<Response<Real>(const Mat3<Real>&)>;

/// Every law by its name in the golden table.
template <class Real>
std::map<std::string, Law<Real>> all_laws() {
  const auto [mu, lambda] = Lame<Real>::from(Real(youngs_modulus), Real(poisson_ratio));
  const Real kappa = Lame<Real>{mu, lambda}.bulk_modulus();
  const auto of = [](auto law) { return [law](const Mat3<Real>& F) { return law.response(F); }; };
  const Creep<Real> creep{{{mu, lambda}, Real(0)}, Real(0.05), Real(0), Real(1), false};
  const typename Creep<Real>::State strained{{Real(0.02), Real(-0.03), Real(0.01), Real(0.01), Real(0), Real(0.005)}};
  const Real diagonal = Real(std::sqrt(0.5));
  const auto orthotropic = [diagonal](const Mat3<Real>& F) {
    Response<Real> sum = FiberFamily<Real>{{diagonal, diagonal, Real(0)}, Real(200)}.response(F);
    sum += FiberFamily<Real>{{-diagonal, diagonal, Real(0)}, Real(50)}.response(F);
    sum += FiberFamily<Real>{{Real(0), Real(0), Real(1)}, Real(10)}.response(F);
    return sum;
  };
  return {{"linear", of(Linear<Real>{mu, lambda})},
          {"corot", of(Corotated<Real>{mu, lambda})},
          {"fixed_corot", of(FixedCorotated<Real>{mu, lambda})},
          {"stvk", of(StVK<Real>{mu, lambda})},
          {"stvk_plastic", [creep, strained](const Mat3<Real>& F) { return creep.response(F, strained); }},
          {"neo", of(NeoHookean<Real>{mu, lambda})},
          {"ortho", orthotropic},
          {"hencky", of(Hencky<Real>{mu, lambda})},
          {"nh_borden", of(IsochoricNeoHookean<Real>{mu, kappa})},
          {"stvk_ext", of(InversionSafe<StVK<Real>>{{mu, lambda}, Real(critical)})},
          {"neo_ext", of(InversionSafe<NeoHookean<Real>>{{mu, lambda}, Real(critical)})}};
}

/// dEnergy/dF by differences of fourth order, evaluated where the stress is.
template <class Real>
Mat3<double> numerical_stress(const Law<Real>& law, const Mat3<Real>& F, Real h) {
  Mat3<double> result{};
  for (int k = 0; k < 9; ++k) {
    const auto energy = [&](Real step) {
      Mat3<Real> moved = F;
      moved.m[k] += step;
      return double(law(moved).energy);
    };
    result.m[k] = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * double(h));
  }
  return result;
}

template <class Real>
void expect_golden(double energy_bound, double stress_bound) {
  const auto golden = golden_laws();
  int compared = 0;
  for (const auto& [name, law] : all_laws<Real>())
    for (const auto& [state, expected] : golden.at("laws").at(name).items()) {
      const auto F = matrix<Real>(numbers(golden.at("F").at(state)));
      const auto response = law(F);
      EXPECT_NEAR(double(response.energy), double(expected.at("psi")), energy_bound) << name << " " << state;
      EXPECT_LT(distance(response.stress, matrix<double>(numbers(expected.at("P")))), stress_bound)
          << name << " " << state;
      ++compared;
    }
  EXPECT_EQ(compared, 41);
}

TEST(Materials, GoldenValuesInDoublePrecision) {
  // The table gives F and its results to 12 digits: |dF| <= 3 * 5e-13, times a tangent of at most 20 E (Neo-Hookean at
  // the stretch 0.4) for the stress and a stress of 3 E for the energy.
  expect_golden<double>(1e-8, 4e-8);
}

TEST(Materials, GoldenValuesInSinglePrecision) {
  // |dF| <= |F| 6e-8 with |F| < 2.1, tangent and stress as above; the arithmetic adds a few roundings of the result.
  expect_golden<float>(1e-3, 5e-3);
}

TEST(Materials, StressIsTheDerivativeOfTheEnergy) {
  for (const auto& F : {stretched(1.1, 0.95, 1.05), stretched(1.4, 0.8, 0.9), stretched(1.9, 1.2, 0.7)}) {
    for (const auto& [name, law] : all_laws<double>()) {
      const auto response = law(matrix<double>(F));
      // Fourth order, step 1e-3: truncation 1e-12/30 times a fifth derivative below 1e5 E; rounding 1e-16 E/1e-3.
      EXPECT_LT(distance(numerical_stress<double>(law, matrix<double>(F), 1e-3), response.stress), 1e-6) << name;
    }
    for (const auto& [name, law] : all_laws<float>()) {
      const float h = 0x1p-7f;
      const auto response = law(matrix<float>(F));
      // Rounding of the energy (about 8 units, |energy| and the terms it is made of up to 500 Pa) over the step.
      const double rounding = 8 * 6e-8 * std::max(50.0, double(response.energy)) / double(h);
      EXPECT_LT(norm(numerical_stress<float>(law, matrix<float>(F), h) - convert<double>(response.stress)),
                9 * rounding)
          << name;
    }
  }
}

TEST(Materials, RestStoresNothing) {
  for (const auto& [name, law] : all_laws<float>()) {
    if (name == "stvk_plastic") continue;  // its rest shape is another one
    const auto response = law(Mat3<float>::identity());
    EXPECT_EQ(response.energy, 0.0f) << name;
    EXPECT_EQ(norm(response.stress), 0.0f) << name;
  }
}

template <class Real>
void expect_no_energy_in_rotations() {
  const double roundoff = double(rounding_unit<Real>) / 2;
  for (const auto& [name, law] : all_laws<Real>()) {
    if (name == "stvk_plastic" || name == "linear") continue;
    for (const double degrees : {15.0, 45.0, 90.0, 180.0})
      for (const auto& Q : {rotation(1, 2, 3, degrees * M_PI / 180), rotation(0, 0, 1, degrees * M_PI / 180)}) {
        const auto response = law(matrix<Real>(Q));
        // Rounding Q makes a strain of up to 2 roundoff, forming H^T H (entries up to 4) up to 8 more.
        const double strain = 10 * roundoff;
        EXPECT_LT(double(response.energy), 3 * youngs_modulus * strain * strain) << name << degrees;
        EXPECT_GE(double(response.energy), -3 * youngs_modulus * strain * strain) << name << degrees;
        EXPECT_LT(double(norm(response.stress)), 6 * youngs_modulus * strain) << name << degrees;
      }
  }
}

TEST(Materials, RigidRotationsStoreNoEnergy) {
  expect_no_energy_in_rotations<double>();
  expect_no_energy_in_rotations<float>();
}

TEST(Materials, FrameInvarianceAndIsotropy) {
  const Eigen::Matrix3d Q = rotation(1, -2, 0.5, 1.9), F = stretched(1.3, 0.9, 0.75);
  for (const auto& [name, law] : all_laws<double>()) {
    if (name == "linear") continue;
    const auto response = law(matrix<double>(F)), turned = law(matrix<double>(Eigen::Matrix3d(Q * F)));
    // Rounding of F and of products: 1e-15 times a tangent below 20 E.
    EXPECT_NEAR(turned.energy, response.energy, 1e-10) << name;
    EXPECT_LT(distance(matrix<double>(Q) * response.stress, turned.stress), 1e-10) << name;
    const auto tau = times_transpose(response.stress, matrix<double>(F));
    EXPECT_LT(norm(tau - transpose(tau)), 1e-10) << name;
    if (name == "stvk_plastic" || name == "ortho") continue;
    const auto material = law(matrix<double>(Eigen::Matrix3d(F * Q)));
    EXPECT_NEAR(material.energy, response.energy, 1e-10) << name;
    EXPECT_LT(distance(response.stress * matrix<double>(Q), material.stress), 1e-10) << name;
  }
}

/// Largest relative error in units of the roundoff of Real against long arithmetic (double for float).
struct WorstErrors {
  double energy = 0, stress = 0;
};

template <template <class> class LawOf>
WorstErrors single_precision_errors(double strain, const Eigen::Matrix3d& Q) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::vector<Mat3<float>> F(2000);
  for (auto& f : F) {
    Eigen::Matrix3d H;
    for (int k = 0; k < 9; ++k) H(k / 3, k % 3) = strain * normal(random) / 3;
    f = matrix<float>(Eigen::Matrix3d(Q + Q * H));
  }
  const auto single = Lame<float>::from(1000, 0.3f);
  const auto exact = Lame<double>{single.mu, single.lambda};
  Queue queue;
  const DeviceArray<Mat3<float>> input(queue, F);
  DeviceArray<Response<float>> output(queue, F.size());
  launch(queue, "test.law", F.size(),
         EvaluateLaw<float, LawOf<float>>{{single.mu, single.lambda}, input.data(), output.data()});
  const auto responses = output.download();
  WorstErrors worst;
  for (std::size_t i = 0; i < F.size(); ++i) {
    const auto expected = LawOf<double>{exact.mu, exact.lambda}.response(convert<double>(F[i]));
    worst.energy = std::max(worst.energy, std::abs(responses[i].energy / expected.energy - 1) / 0x1p-24);
    worst.stress =
        std::max(worst.stress, distance(responses[i].stress, expected.stress) / norm(expected.stress) / 0x1p-24);
  }
  return worst;
}

template <template <class> class LawOf>
void expect_accuracy_near_rest() {
  for (const double strain : {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6}) {
    const auto worst = single_precision_errors<LawOf>(strain, Eigen::Matrix3d::Identity());
    // Some twenty roundings in a row, none amplified: first-order terms are never subtracted from each other.
    EXPECT_LT(worst.energy, 25) << strain;
    EXPECT_LT(worst.stress, 25) << strain;
  }
  // Turned by 2 rad the strain itself is only known to the roundoff of 1, times a few for the products of F^T F and det
  // F.
  for (const double strain : {1e-1, 1e-2, 1e-3}) {
    const auto worst = single_precision_errors<LawOf>(strain, rotation(1, 2, 3, 2.0));
    EXPECT_LT(worst.energy, 25 + 20 / strain) << strain;
    EXPECT_LT(worst.stress, 25 + 20 / strain) << strain;
  }
}

TEST(Materials, SinglePrecisionIsSoundNearRestStVK) { expect_accuracy_near_rest<StVK>(); }
TEST(Materials, SinglePrecisionIsSoundNearRestNeoHookean) { expect_accuracy_near_rest<NeoHookean>(); }
TEST(Materials, SinglePrecisionIsSoundNearRestHencky) { expect_accuracy_near_rest<Hencky>(); }
TEST(Materials, SinglePrecisionIsSoundNearRestCorotated) { expect_accuracy_near_rest<Corotated>(); }
TEST(Materials, SinglePrecisionIsSoundNearRestFixedCorotated) { expect_accuracy_near_rest<FixedCorotated>(); }
TEST(Materials, SinglePrecisionIsSoundNearRestLinear) {
  for (const double strain : {1e-1, 1e-4, 1e-6}) {
    const auto worst = single_precision_errors<Linear>(strain, Eigen::Matrix3d::Identity());
    EXPECT_LT(worst.energy, 10) << strain;
    EXPECT_LT(worst.stress, 10) << strain;
  }
}

template <class Real>
void expect_accurate_logarithms() {
  const double roundoff = double(rounding_unit<Real>) / 2;
  for (double exponent = -10; exponent < 3; exponent += 0.01)
    for (const double sign : {-1.0, 1.0}) {
      const Real x = Real(sign * std::pow(10.0, exponent));
      if (x <= Real(-0.99)) continue;
      const long double y = x;
      long double excess = std::log1p(y) - y, term = -y * y;
      if (std::abs(y) < 0.01L) {
        excess = 0;
        for (int k = 2; k < 30; ++k, term *= -y) excess += term / k;
      }
      const auto log = log1p_parts(x);
      EXPECT_NEAR(double(log.value / std::log1p(y)), 1, 4 * roundoff) << x;
      // Beyond 0.29 it is k ln 2 + f - x, with terms up to 14 times larger.
      EXPECT_NEAR(double(log.excess / excess), 1, (std::abs(y) < 0.29L ? 4 : 40) * roundoff) << x;
    }
  EXPECT_TRUE(std::isnan(log1p_parts(Real(-1)).value));
  EXPECT_TRUE(std::isnan(log1p_parts(Real(-3)).excess));
  EXPECT_EQ(log1p_parts(Real(0)).value, Real(0));
}

TEST(Materials, LogarithmsKeepTheirRelativeAccuracy) {
  expect_accurate_logarithms<float>();
  expect_accurate_logarithms<double>();
  for (const double x : {1e-8, 1e-3, -0.2, 0.49, 0.51, -2.0}) {
    const long double exact = std::abs(x) < 0.01
                                  ? x * x / 2.0L * (1 + x / 3.0L * (1 + x / 4.0L * (1 + x / 5.0L * (1 + x / 6.0L))))
                                  : std::expm1((long double)x) - x;
    EXPECT_NEAR(double(expm1_minus_x(x) / exact), 1, 2e-15) << x;
  }
}

/// The series of stretch.hpp against the decomposition, over their whole range and beyond.
template <class Real, template <class> class LawOf>
void expect_series_agrees_with_decomposition() {
  const auto [mu, lambda] = Lame<Real>::from(Real(1000), Real(0.3));
  const LawOf<Real> law{mu, lambda};
  std::mt19937 random(3);
  std::uniform_real_distribution<double> stretch(0.55, 1.8), angle(-3, 3);
  int inside = 0, outside = 0;
  for (int n = 0; n < 3000; ++n) {
    const Eigen::Matrix3d F = rotation(1, 2, angle(random), angle(random)) *
                              Eigen::Vector3d(stretch(random), stretch(random), stretch(random)).asDiagonal() *
                              rotation(angle(random), 2, -1, angle(random));
    const auto fast = law.fast_response(displacement_gradient(matrix<Real>(F)));
    (fast.valid ? inside : outside) += 1;
    if (!fast.valid) continue;
    const auto slow = principal_response(law, matrix<Real>(F));
    // Both are off by some ten roundings of stretches up to 1.8, times a tangent below 6 E.
    const double bound = 60 * double(rounding_unit<Real>) * youngs_modulus;
    EXPECT_NEAR(double(fast.response.energy), double(slow.energy), bound);
    EXPECT_LT(double(norm(fast.response.stress - slow.stress)), 2 * bound);
  }
  EXPECT_GT(inside, 500);
  EXPECT_GT(outside, 500);
  // A reflection has the same F^T F as a stretch.
  EXPECT_FALSE(law.fast_response(displacement_gradient(matrix<Real>(stretched(1.1, 0.9, -0.95)))).valid);
}

TEST(Materials, SeriesAgreeWithTheDecomposition) {
  expect_series_agrees_with_decomposition<float, Hencky>();
  expect_series_agrees_with_decomposition<double, Hencky>();
  expect_series_agrees_with_decomposition<float, Corotated>();
  expect_series_agrees_with_decomposition<double, Corotated>();
  expect_series_agrees_with_decomposition<float, FixedCorotated>();
  expect_series_agrees_with_decomposition<double, FixedCorotated>();
}

template <class AnyLaw>
void expect_principal_derivatives(const AnyLaw& law, const Vec3<double>& s) {
  const double h = 1e-5;
  for (int i = 0; i < 3; ++i) {
    Vec3<double> up = s, down = s;
    up[i] += h;
    down[i] -= h;
    // Second order, step 1e-5: truncation 1e-10/6 times a third derivative below 1e3 E.
    EXPECT_NEAR((law.principal_energy(up) - law.principal_energy(down)) / (2 * h), law.principal_gradient(s)[i], 2e-4);
    const Vec3<double> column = (law.principal_gradient(up) - law.principal_gradient(down)) / (2 * h);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(column[k], law.principal_hessian(s)(k, i), 2e-4);
  }
  const auto response = law.response(Mat3<double>::diagonal(s));
  EXPECT_NEAR(response.energy, law.principal_energy(s), 1e-10);
  EXPECT_LT(norm(response.stress - Mat3<double>::diagonal(law.principal_gradient(s))), 1e-10);
}

TEST(Materials, PrincipalFormsAreDerivativesOfEachOther) {
  const auto [mu, lambda] = Lame<double>::from(youngs_modulus, poisson_ratio);
  for (const Vec3<double>& s : {Vec3<double>{1.2, 0.9, 0.7}, Vec3<double>{1.8, 1.5, 0.4}}) {
    expect_principal_derivatives(StVK<double>{mu, lambda}, s);
    expect_principal_derivatives(NeoHookean<double>{mu, lambda}, s);
    expect_principal_derivatives(Hencky<double>{mu, lambda}, s);
    expect_principal_derivatives(Corotated<double>{mu, lambda}, s);
    expect_principal_derivatives(FixedCorotated<double>{mu, lambda}, s);
  }
}

/// The extension, with one, two or three stretches below the critical one, the last of them negative or not.
template <class Real, template <class> class LawOf>
void expect_extension_is_smooth() {
  const auto [mu, lambda] = Lame<Real>::from(Real(1000), Real(0.3));
  const InversionSafe<LawOf<Real>> law{{mu, lambda}, Real(critical)};
  const Law<Real> response = [law](const Mat3<Real>& F) { return law.response(F); };
  const double h = sizeof(Real) == 4 ? 0x1p-7 : 1e-3;
  for (const auto& F : {stretched(1.1, 0.9, 0.4), stretched(1.1, 0.5, 0.4), stretched(0.5, 0.45, 0.2),
                        stretched(1.1, 0.9, -0.3), stretched(1.2, 0.5, -0.3), stretched(0.5, 0.4, -0.3)}) {
    const auto at = response(matrix<Real>(F));
    const auto numerical = numerical_stress<Real>(response, matrix<Real>(F), Real(h));
    // Single: rounding of an energy up to 4 E, some ten units, over the step, in nine entries. Double: truncation
    // h^4/30 times a fifth derivative below 3e8 Pa (5! E/s^5 for the logarithms).
    const double bound = sizeof(Real) == 4 ? 9 * 10 * 6e-8 * 4000 / h : 1e-5;
    EXPECT_LT(norm(numerical - convert<double>(at.stress)), bound);
  }
  // Across the threshold, by a step d, nothing may change by more than a tangent (10 E) times 2 d, and rounding.
  const double d = sizeof(Real) == 4 ? 1e-4 : 1e-9;
  for (const double others : {1.0, 0.5, -1.0}) {
    const double second = others < 0 ? critical * 0.9 : others, first = others < 0 ? critical * 0.95 : 1.1;
    const auto above = law.response(matrix<Real>(stretched(first, second, critical + d)));
    const auto below = law.response(matrix<Real>(stretched(first, second, critical - d)));
    const double rounding = 60 * double(rounding_unit<Real>) * youngs_modulus;
    EXPECT_NEAR(double(above.energy), double(below.energy), 20 * d * youngs_modulus + rounding);
    EXPECT_LT(double(norm(above.stress - below.stress)), 20 * d * youngs_modulus + rounding);
  }
}

TEST(Materials, ExtensionIsTheDerivativeOfAContinuousEnergy) {
  expect_extension_is_smooth<double, StVK>();
  expect_extension_is_smooth<double, NeoHookean>();
  expect_extension_is_smooth<double, Hencky>();
  expect_extension_is_smooth<float, StVK>();
  expect_extension_is_smooth<float, NeoHookean>();
  expect_extension_is_smooth<float, Hencky>();
}

/// Whatever the stretches, the body gains nothing by staying away from its rest shape.
template <template <class> class LawOf>
void expect_extension_has_no_negative_energy() {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> wide(std::log(0.05), std::log(20.0)), part(-20.0, 1.0);
  for (const double nu : {0.0, 0.3, 0.4, 0.45, 0.49, 0.4999})
    for (const double s_c : {0.2, 0.4, critical, 0.8}) {
      const auto lame = Lame<double>::from(1, nu);
      const InversionSafe<LawOf<double>> law{{lame.mu, lame.lambda}, s_c};
      for (int k = 0; k < 20000; ++k) {
        Vec3<double> s{std::exp(wide(random)), std::exp(wide(random)), s_c * part(random)};
        if (k % 3 == 0) s.y = s_c * part(random) / (1 + k % 50);
        // Sums of squares beside terms of the energy's size in each stretch: rounding.
        const double size = (lame.mu + lame.lambda) * (1 + dot(s, s)) / (s_c * s_c);
        EXPECT_GT(law.principal_energy(s), -1e-13 * size)
            << nu << ", " << s_c << ": " << s.x << " " << s.y << " " << s.z;
      }
    }
}

TEST(Materials, ExtensionHasNoNegativeEnergy) {
  expect_extension_has_no_negative_energy<StVK>();
  expect_extension_has_no_negative_energy<NeoHookean>();
  expect_extension_has_no_negative_energy<Hencky>();
}

TEST(Materials, ExtensionResistsMoreTheFurtherItIsPushed) {
  const auto [mu, lambda] = Lame<double>::from(youngs_modulus, poisson_ratio);
  const InversionSafe<StVK<double>> extended{{mu, lambda}, critical};
  const StVK<double> plain{mu, lambda};
  double last = 0;
  for (double s = 0.9; s > -0.95; s -= 0.05) {  // beyond -1 another axis counts as the inverted one
    const double stress = extended.stress(Mat3<double>::diagonal({1.0, 1.0, s})).m[8];
    EXPECT_LT(stress, last) << s;
    last = stress;
  }
  // The plain law gives in: weaker at 0.3 than at 0.5.
  EXPECT_GT(plain.stress(Mat3<double>::diagonal({1.0, 1.0, 0.3})).m[8],
            plain.stress(Mat3<double>::diagonal({1.0, 1.0, 0.5})).m[8]);
}

TEST(Materials, HardSwitchJumpsAsPrinted) {
  const auto [mu, lambda] = Lame<double>::from(youngs_modulus, poisson_ratio);
  const InversionSafe<StVK<double>> stvk{{mu, lambda}, critical, Extension::hard_switch};
  const InversionSafe<NeoHookean<double>> neo{{mu, lambda}, critical, Extension::hard_switch};
  const auto P = [](const auto& law, double s) { return law.stress(Mat3<double>::diagonal({1.0, 1.0, s})).m[8]; };
  // Values of the closed forms at s_c, five digits.
  EXPECT_NEAR(P(stvk, critical + 1e-9), -259.07, 0.01);
  EXPECT_NEAR(P(neo, critical + 1e-9), -993.0, 0.1);
  EXPECT_NEAR(P(stvk, critical - 1e-9), -568.95, 0.01);
  EXPECT_NEAR(P(neo, critical - 1e-9), -568.95, 0.01);
}

TEST(Materials, WithoutExtensionTheLawIsLeftAlone) {
  const auto [mu, lambda] = Lame<double>::from(youngs_modulus, poisson_ratio);
  const auto F = matrix<double>(stretched(1.2, 0.5, 0.3));
  EXPECT_EQ((InversionSafe<NeoHookean<double>>{{mu, lambda}, 0.0}.energy(F)),
            (NeoHookean<double>{mu, lambda}.energy(F)));
  EXPECT_TRUE(std::isnan(NeoHookean<double>{mu, lambda}.energy(matrix<double>(stretched(1, 1, -0.5)))));
  // Hencky is limited, not undefined.
  EXPECT_TRUE(std::isfinite(Hencky<double>{mu, lambda}.energy(matrix<double>(stretched(1, 1, -0.5)))));
}

TEST(Materials, HenckyStressIsTheDerivativeOfItsLimitedEnergy) {
  const auto [mu, lambda] = Lame<double>::from(youngs_modulus, poisson_ratio);
  const Hencky<double> law{mu, lambda};
  const Law<double> response = [law](const Mat3<double>& F) { return law.response(F); };
  const double h = 1e-5;  // stays on one side of the limit, 1e-4
  for (const auto& F : {stretched(1.2, 0.9, 2e-5), stretched(1.2, 0.9, -0.5), stretched(1.2, 3e-5, -2e-5),
                        stretched(1.2, 0.9, 0), stretched(3e-5, 2e-5, -1e-5)}) {
    const auto P = law.stress(matrix<double>(F));
    EXPECT_TRUE(std::isfinite(norm(P)));
    // Rounding of an energy of up to 200 E over the step; the law itself has tangents of 1e2 E here, so that
    // truncation, h^4/30 times a fifth derivative, is far below.
    EXPECT_LT(norm(numerical_stress<double>(response, matrix<double>(F), h) - P), 9 * 2e-16 * 2e5 / h);
  }
  // Along a limited stretch nothing resists; the others keep their stress, tau_i/s_i with the limited strain.
  const auto P = law.stress(Mat3<double>::diagonal({1.2, 0.9, -0.5}));
  EXPECT_NEAR(P.m[8], 0, 1e-12);
  EXPECT_NEAR(P.m[0], (2 * mu * std::log(1.2) + lambda * std::log(1.2 * 0.9 * 1e-4)) / 1.2, 1e-9);
  for (const double s : {0.0, 5e-5, -1e-3, -0.9}) {
    EXPECT_NEAR((InversionSafe<Hencky<double>>{{mu, lambda}, 0.0}.stress(Mat3<double>::diagonal({1.0, 1.0, s})).m[8]),
                0, 1e-12);
    EXPECT_NEAR(law.principal_hessian({1.0, 1.0, s})(2, 2), 0, 1e-12);
  }
}

TEST(Materials, FlatAndInvertedStatesHaveFiniteStressInSinglePrecision) {
  const auto [mu, lambda] = Lame<float>::from(1000, 0.3f);
  for (const auto& F : {stretched(1, 1, 0), stretched(1, 0, 0), stretched(0, 0, 0), stretched(1, 1, -1),
                        stretched(3, 1e-3, -1e-5), stretched(1e-20, 1e-21, 0)}) {
    const auto f = matrix<float>(F);
    EXPECT_TRUE(std::isfinite(norm(InversionSafe<NeoHookean<float>>{{mu, lambda}}.stress(f))));
    EXPECT_TRUE(std::isfinite(norm(InversionSafe<StVK<float>>{{mu, lambda}}.stress(f))));
    EXPECT_TRUE(std::isfinite(norm(InversionSafe<Hencky<float>>{{mu, lambda}}.stress(f))));
    EXPECT_TRUE(std::isfinite(norm(Hencky<float>{mu, lambda}.stress(f))));
    EXPECT_TRUE(std::isfinite(norm(Corotated<float>{mu, lambda}.stress(f))));
    EXPECT_TRUE(std::isfinite(norm(FixedCorotated<float>{mu, lambda}.stress(f))));
  }
}

TEST(Fibers, AreBoundedAndConsistentWhenCrushed) {
  const FiberFamily<double> fiber{{0.6, 0.0, 0.8}, 300};
  const Law<double> law = [fiber](const Mat3<double>& F) { return fiber.response(F); };
  const auto crushed = [](double xi) {
    Eigen::Vector3d b(0.6, 0, 0.8);
    return matrix<double>(
        Eigen::Matrix3d(rotation(1, 1, 0, 0.3) * (Eigen::Matrix3d::Identity() - (1 - xi) * b * b.transpose())));
  };
  for (const double xi : {0.08, 0.05, 0.03}) {
    // Fourth order, step 1e-3: truncation 1e-12/30 times a fifth derivative of the direction, below 300/xi^4.
    EXPECT_LT(distance(numerical_stress<double>(law, crushed(xi), 1e-3), law(crushed(xi)).stress), 1e-3) << xi;
  }
  // Continuous where the parabola takes over: slope 10 beta, curvature 101 beta at 0.1.
  const auto above = fiber.response(crushed(0.1 + 1e-9)), below = fiber.response(crushed(0.1 - 1e-9));
  EXPECT_NEAR(above.energy, below.energy, 20 * 300 * 1e-9);
  EXPECT_LT(norm(above.stress - below.stress), 202 * 300 * 1e-9);
  for (const double xi : {1e-3, 1e-9, 1e-30, 0.0}) {
    EXPECT_LE(norm(fiber.stress(crushed(xi))), 10.2 * 300) << xi;  // |w'(0)| = beta (0.1 - 10 - 0.2)
    EXPECT_LE(norm(FiberFamily<float>{{0.6f, 0.0f, 0.8f}, 300}.stress(convert<float>(crushed(xi)))), 10.3 * 300) << xi;
  }
}

TEST(Fibers, SinglePrecisionIsSoundNearRest) {
  const FiberFamily<float> fiber{{0.6f, 0.0f, 0.8f}, 300};
  const FiberFamily<double> exact{{double(0.6f), 0.0, double(0.8f)}, 300};
  for (const double strain : {1e-1, 1e-3, 1e-5}) {
    const auto F = matrix<float>(Eigen::Matrix3d(Eigen::Matrix3d::Identity() + strain * stretched(0.6, -0.3, 0.4)));
    const auto expected = exact.response(convert<double>(F));
    // The direction is a unit vector to roundoff only; the energy is taken about |b| = 1, the rest are roundings.
    EXPECT_NEAR(fiber.energy(F) / expected.energy, 1, 20 * 6e-8) << strain;
    EXPECT_LT(distance(fiber.stress(F), expected.stress) / norm(expected.stress), 20 * 6e-8) << strain;
  }
}

template <class Real>
Creep<Real> creeping(bool deviatoric) {
  const auto [mu, lambda] = Lame<Real>::from(Real(1e4), Real(0.3));
  return {{{mu, lambda}, Real(critical)}, Real(0.05), Real(20), Real(0.2), deviatoric};
}

TEST(Creeping, GoldenValues) {
  const auto golden = nlohmann::json::parse(std::ifstream(DUCTILE_TEST_DATA "/golden_maps.json"));
  for (const auto& state : {"1_small", "2_shear", "3_compr", "4_expand", "5_mixed"}) {
    const auto F = numbers(golden.at("F").at(state));
    const auto expected = matrix<double>(numbers(golden.at("bender").at(state)));
    const auto exact = creeping<double>(false).update(matrix<double>(F), {Sym3<double>::zero()}, 1.0 / 240);
    EXPECT_LT(norm(exact.plastic_strain.full() - expected), 1e-12) << state;  // 12 digits of F
    const auto single = creeping<float>(false).update(matrix<float>(F), {Sym3<float>::zero()}, 1.0f / 240);
    EXPECT_LT(distance(single.plastic_strain.full(), expected), 1e-7) << state;  // 10 roundings times dt rate = 1/12
  }
}

TEST(Creeping, RelaxesToTheYieldStrainAndStopsAtTheLargest) {
  const auto F = matrix<double>(stretched(1.1, 1.0, 0.93));
  for (const bool deviatoric : {false, true}) {
    const auto law = creeping<double>(deviatoric);
    const auto measure = [&](const Creep<double>::State& state) {
      const auto elastic = green_strain(displacement_gradient(F)) - state.plastic_strain;
      return std::sqrt(squared_norm(deviatoric ? deviator(elastic) : elastic));
    };
    Creep<double>::State state{Sym3<double>::zero()};
    ASSERT_GT(measure(state), 0.05);
    for (int step = 0; step < 4000; ++step) state = law.update(F, state, 1.0 / 240);
    // It stops in the first step below: at most one step of 1/12 of the strain too far.
    EXPECT_LE(measure(state), 0.05);
    EXPECT_GT(measure(state), 0.05 * 11 / 12);
    if (deviatoric) {
      EXPECT_NEAR(trace(state.plastic_strain), 0, 1e-15);
    }
  }
  auto capped = creeping<double>(false);
  capped.max_strain = 0.03;
  Creep<double>::State state{Sym3<double>::zero()};
  for (int step = 0; step < 100; ++step) state = capped.update(F, state, 1.0 / 240);
  EXPECT_NEAR(std::sqrt(squared_norm(state.plastic_strain)), 0.03, 1e-15);
}

TEST(Creeping, StressIsTheDerivativeOfTheEnergyInsideTheExtensionToo) {
  const auto creep = creeping<double>(false);
  const Creep<double>::State state{{0.02, -0.03, 0.01, 0.01, 0.0, 0.005}};
  const Law<double> law = [&](const Mat3<double>& F) { return creep.response(F, state); };
  for (const auto& F : {stretched(1.2, 0.9, 0.8), stretched(1.1, 0.9, 0.4), stretched(1.1, 0.5, -0.3)})
    // As for the other laws, with ten times their modulus.
    EXPECT_LT(distance(numerical_stress<double>(law, matrix<double>(F), 1e-3), law(matrix<double>(F)).stress), 1e-5);
  const auto above = law(matrix<double>(stretched(1.1, 1.0, critical + 1e-9)));
  const auto below = law(matrix<double>(stretched(1.1, 1.0, critical - 1e-9)));
  EXPECT_NEAR(above.energy, below.energy, 20e-9 * 1e4);
  EXPECT_LT(norm(above.stress - below.stress), 20e-9 * 1e4);
}

}  // namespace
}  // namespace ductile
