#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "runtime/device_array.hpp"
#include "runtime/launch.hpp"
#include "tests/kernels/material_kernels.hpp"

namespace ductile {
namespace {

constexpr double youngs_modulus = 1e4, poisson_ratio = 0.3;

template <class Real>
Lame<Real> lame() {
  return Lame<Real>::from(Real(youngs_modulus), Real(poisson_ratio));
}

template <class Real>
constexpr double roundoff = double(rounding_unit<Real>) / 2;

template <class Real>
Mat3<Real> matrix(const Eigen::Matrix3d& values) {
  Mat3<Real> result{};
  for (int k = 0; k < 9; ++k) result.m[k] = Real(values(k / 3, k % 3));
  return result;
}

/// Not inlined: GCC 12 for AVX-512 takes float(double) and back as if nothing were rounded, where it sees both at once.
template <class Real>
[[gnu::noinline]] Eigen::Matrix3d eigen(const Mat3<Real>& a) {
  Eigen::Matrix3d result;
  for (int k = 0; k < 9; ++k) result(k / 3, k % 3) = double(a.m[k]);
  return result;
}

Eigen::Matrix3d rotation(double x, double y, double z, double angle) {
  return Eigen::AngleAxisd(angle, Eigen::Vector3d(x, y, z).normalized()).toRotationMatrix();
}

/// Principal Hencky strains by an independent decomposition in double precision.
template <class Real>
Eigen::Vector3d hencky_strains(const Mat3<Real>& F) {
  return Eigen::JacobiSVD<Eigen::Matrix3d>(eigen(F)).singularValues().array().log();
}

double deviator_norm(const Eigen::Vector3d& v) { return (v.array() - v.mean()).matrix().norm(); }

/// Rotation times stretches times rotation; ln(stretch) normal with the given deviation.
std::vector<Eigen::Matrix3d> random_states(std::size_t count, double deviation) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> angle(0, 3);
  std::vector<Eigen::Matrix3d> states(count);
  const auto turn = [&] { return rotation(normal(random), normal(random), normal(random), angle(random)); };
  for (auto& F : states) {
    const Eigen::Vector3d strain(normal(random), normal(random), normal(random));
    F = turn() * Eigen::Vector3d((deviation * strain).array().exp()).asDiagonal() * turn();
  }
  return states;
}

/// Error of the Hencky strains of a mapped F: a dozen roundings of F' and of its decomposition, times the ratio of its
/// largest to its smallest stretch where it stays far from 1 (up to 5).
template <class Real>
constexpr double strain_error = 80 * roundoff<Real>;

template <class Real, class Model>
struct Outcome {
  std::vector<Mat3<Real>> trial;
  std::vector<Mapped<Real, typename Model::State>> first, second;
};

template <class Real, class Model>
std::vector<Mapped<Real, typename Model::State>> map_states(Queue& queue, const Model& model, double time_step,
                                                            const std::vector<Mat3<Real>>& F,
                                                            const std::vector<typename Model::State>& state) {
  const DeviceArray<Mat3<Real>> trial(queue, F);
  const DeviceArray<typename Model::State> start(queue, state);
  DeviceArray<Mapped<Real, typename Model::State>> mapped(queue, F.size());
  launch(queue, "test.return_mapping", F.size(),
         MapStates<Real, Model>{model, Real(time_step), trial.data(), start.data(), mapped.data()});
  return mapped.download();
}

/// 10^5 states, half within the range of the series and half far out.
const std::vector<Eigen::Matrix3d>& trial_states() {
  static const auto states = [] {
    auto all = random_states(50'000, 0.15);
    const auto large = random_states(50'000, 0.5);
    all.insert(all.end(), large.begin(), large.end());
    return all;
  }();
  return states;
}

/// Those states mapped on the device; then the results once more, with the state that the first mapping left behind or
/// with the one it started from (the surface has not moved then).
template <class Real, class Model>
Outcome<Real, Model> map_random_states(const Model& model, const typename Model::State& state, bool carry_state,
                                       double time_step = 0) {
  Outcome<Real, Model> outcome;
  for (const auto& F : trial_states()) outcome.trial.push_back(matrix<Real>(F));
  Queue queue;
  std::vector<typename Model::State> states(outcome.trial.size(), state);
  outcome.first = map_states<Real>(queue, model, time_step, outcome.trial, states);
  std::vector<Mat3<Real>> again;
  for (std::size_t i = 0; i < states.size(); ++i) {
    again.push_back(outcome.first[i].F);
    if (carry_state) states[i] = outcome.first[i].state;
  }
  outcome.second = map_states<Real>(queue, model, time_step, again, states);
  return outcome;
}

/// Largest value over all states of worst(trial, first, second).
template <class Real, class Model, class Measure>
double largest(const Outcome<Real, Model>& outcome, const Measure& measure) {
  double worst = 0;
  for (std::size_t i = 0; i < outcome.trial.size(); ++i) {
    const double value = measure(outcome.trial[i], outcome.first[i], outcome.second[i]);
    if (std::isnan(value)) return value;
    worst = std::max(worst, value);
  }
  return worst;
}

/// |F'' - F'|/|F'|: rounding of F' moves the strains by roundoff times the condition number, which the mapping hands
/// on.
template <class Real, class Model>
double idempotence(const Outcome<Real, Model>& outcome) {
  return largest(outcome, [](const auto&, const auto& first, const auto& second) {
    return double(norm(second.F - first.F) / norm(first.F));
  });
}

/// |tau - P(F') F'^T| and the energy, against the law at the mapped F in double precision, over E.
template <class Real, class Model, class LawAt>
double inconsistency(const Outcome<Real, Model>& outcome, const LawAt& law_at) {
  return largest(outcome, [&](const auto&, const auto& first, const auto&) {
    const auto F = matrix<double>(eigen(first.F));
    const Response<double> response = law_at(first).response(F);
    const double tau = norm(matrix<double>(eigen(first.kirchhoff)) - times_transpose(response.stress, F));
    return std::max(tau, std::abs(double(first.energy) - response.energy)) / youngs_modulus;
  });
}

const auto hencky = [](const auto&) { return Hencky<double>{lame<double>().mu, lame<double>().lambda}; };

template <class Outcomes>
std::size_t count(const Outcomes& outcome, Yield yield) {
  return std::size_t(std::count_if(outcome.first.begin(), outcome.first.end(),
                                   [yield](const auto& mapped) { return mapped.yield == yield; }));
}

// ---- golden values ----

nlohmann::json golden() { return nlohmann::json::parse(std::ifstream(DUCTILE_TEST_DATA "/golden_maps.json")); }

std::vector<double> numbers(const nlohmann::json& list) { return list.get<std::vector<double>>(); }

template <class Real>
Mat3<Real> matrix(const std::vector<double>& values) {
  Mat3<Real> result{};
  for (std::size_t k = 0; k < 9; ++k) result.m[k] = Real(values.at(k));
  return result;
}

/// 12 digits of the table, or ten roundings of stretches near 1 (single precision), the hardening of state included.
template <class Real>
constexpr double golden_bound = sizeof(Real) == 4 ? 1.5e-6 : 1e-11;

template <class Real, class Model, class StateValue>
void expect_golden_map(const std::string& table, const std::string& value_key, const Model& model,
                       const typename Model::State& start, double time_step, const StateValue& value,
                       const std::vector<std::string>& states = {"1_small", "2_shear", "3_compr", "4_expand",
                                                                 "5_mixed"}) {
  const auto all = golden();
  for (const auto& state : states) {
    const nlohmann::json expected = all.at(table).at(state);
    const auto mapped = model.project(matrix<Real>(numbers(all.at("F").at(state))), start, Real(time_step));
    const auto F = matrix<double>(numbers(expected.is_array() ? expected : expected.at("F")));
    EXPECT_LT((eigen(mapped.F) - eigen(F)).norm(), golden_bound<Real>) << table << " " << state;
    if (!value_key.empty()) {
      EXPECT_NEAR(double(value(mapped.state)), double(expected.at(value_key)), golden_bound<Real>)
          << table << " " << state;
    }
    if (expected.contains("case") && table.substr(0, 4) == "nacc") {
      EXPECT_EQ(int(mapped.yield), int(expected.at("case"))) << table << " " << state;
    }
  }
}

template <class Real>
void expect_golden_maps() {
  const auto moduli = lame<Real>();
  const auto mu = moduli.mu, lambda = moduli.lambda;
  const auto none = [](const auto&) { return 0.0; };
  expect_golden_map<Real>("von_mises", "", VonMises<Real>{{mu, lambda, Real(0)}}, {Real(200)}, 0, none);

  const Real alpha = DruckerPragerRule<Real>::friction_from_angle(pi<Real> / 6);
  EXPECT_NEAR(double(alpha), 0.326598632371, sizeof(Real) == 4 ? 1e-7 : 1e-12);
  const auto vc = [](const auto& state) { return state.volume_correction; };
  const auto sand = [=](double c0, bool correct) {
    return DruckerPrager<Real>{{mu, lambda, alpha, Real(c0), correct}};
  };
  // det F = 1 without cohesion and correction lies on the edge of two branches: not a value to compare.
  const std::vector<std::string> without_shear = {"1_small", "3_compr", "4_expand", "5_mixed"};
  expect_golden_map<Real>("dp_phi30_c0=0_vc=0", "vc", sand(0, true), {Real(0)}, 0, vc, without_shear);
  expect_golden_map<Real>("dp_phi30_c0=0.0007_vc=0", "vc", sand(0.0007, true), {Real(0)}, 0, vc);
  expect_golden_map<Real>("dp_phi30_c0=0_vc=0.02", "vc", sand(0, true), {Real(0.02)}, 0, vc);
  expect_golden_map<Real>("dp_phi30_c0=0.01_vc=0.02", "vc", sand(0.01, true), {Real(0.02)}, 0, vc);
  expect_golden_map<Real>("dp_phi30_novol", "", sand(0, false), {Real(0)}, 0, none, without_shear);

  const auto volume = [](const auto& state) { return state.log_volume; };
  const CamClaySurface<Real> candy{Real(2.36), Real(0.5), Real(1)}, snow{Real(1.85), Real(0.05), Real(30)};
  const IsochoricNeoHookean<Real> neo{mu, Lame<Real>{mu, lambda}.bulk_modulus()};
  expect_golden_map<Real>("nacc_hencky_candy", "alpha", CamClay<Real>{{mu, lambda, candy}}, {Real(-0.02)}, 0, volume);
  expect_golden_map<Real>("nacc_hencky_snow", "alpha", CamClay<Real>{{mu, lambda, snow}}, {Real(-0.005)}, 0, volume);
  expect_golden_map<Real>("nacc_nhfix_candy", "alpha", NeoHookeanCamClay<Real>{neo, candy}, {Real(-0.02)}, 0, volume);
  expect_golden_map<Real>("nacc_nhfix_snow", "alpha", NeoHookeanCamClay<Real>{neo, snow}, {Real(-0.005)}, 0, volume);

  for (const auto& [table, power] : {std::pair{"hb_h0.3", 0.3}, {"hb_h1.0", 1.0}, {"hb_h3.0", 3.0}})
    expect_golden_map<Real>(table, "", HerschelBulkley<Real>{{mu, lambda, Real(50), Real(10), Real(power)}}, {}, 1e-4,
                            none);

  const Snow<Real> powder{mu, lambda, Real(0.025), Real(0.0075), Real(10)};
  expect_golden_map<Real>("snow", "JP", powder, {Real(1)}, 0, [](const auto& s) { return s.plastic_volume_ratio; });
  const auto table = golden().at("snow");
  for (const auto& state : {"2_shear", "3_compr", "4_expand", "5_mixed"}) {
    const double ratio = table.at(state).at("JP"), hard = table.at(state).at("hard");
    // The last of 12 digits of J_P, times the hardening 10.
    EXPECT_NEAR(double(powder.elastic({Real(ratio)}).mu / mu) / hard, 1, 20 * roundoff<Real> + 1e-10) << state;
  }
}

TEST(ReturnMapping, GoldenValuesInDoublePrecision) { expect_golden_maps<double>(); }
TEST(ReturnMapping, GoldenValuesInSinglePrecision) { expect_golden_maps<float>(); }

// ---- von Mises ----

template <class Real>
void expect_von_mises(double hardening) {
  const auto [mu, lambda] = lame<Real>();
  const VonMises<Real> model{{mu, lambda, Real(hardening)}};
  const auto outcome = map_random_states<Real>(model, {Real(200)}, true);
  EXPECT_GT(count(outcome, Yield::shear), 90'000u);
  EXPECT_GT(count(outcome, Yield::none), 100u);
  const double two_mu = 2 * double(mu);
  const double strain = strain_error<Real>;
  EXPECT_LT(largest(outcome,
                    [&](const auto&, const auto& first, const auto&) {
                      const double excess =
                          two_mu * deviator_norm(hencky_strains(first.F)) - double(first.state.yield_stress);
                      return first.yield == Yield::none ? std::max(excess, 0.0) : std::abs(excess);
                    }),
            two_mu * strain);
  EXPECT_LT(largest(outcome,
                    [](const auto& trial, const auto& first, const auto&) {
                      return std::abs(eigen(first.F).determinant() / eigen(trial).determinant() - 1);
                    }),
            strain);
  EXPECT_LT(idempotence(outcome), strain / 2);
  EXPECT_LT(inconsistency(outcome, hencky), 3 * strain);
  // The stress on the surface is known better than F': it comes from the strain before it is put back into F.
  if (hardening == 0) {
    EXPECT_LT(largest(outcome,
                      [](const auto&, const auto& first, const auto&) {
                        const Eigen::Matrix3d tau = eigen(first.kirchhoff);
                        const Eigen::Matrix3d dev = tau - tau.trace() / 3 * Eigen::Matrix3d::Identity();
                        return first.yield == Yield::none ? 0 : std::abs(dev.norm() / 200 - 1);
                      }),
              youngs_modulus / 200 * strain);
  }
}

TEST(ReturnMapping, VonMisesEndsOnItsSurface) {
  expect_von_mises<double>(0);
  expect_von_mises<float>(0);
}

TEST(ReturnMapping, VonMisesHardens) {
  expect_von_mises<double>(0.1);
  expect_von_mises<float>(0.1);
  // By hand: radius r = sigma/(2 mu); |eps| = r + 0.022, H = 0.1: plastic 0.02, sigma + 2 mu 0.002.
  const auto [mu, lambda] = lame<double>();
  const VonMises<double> model{{mu, lambda, 0.1}};
  const double size = 200 / (2 * mu) + 0.022;
  const auto mapped = model.project_strain({size / std::sqrt(2), -size / std::sqrt(2), 0}, {200});
  EXPECT_NEAR(mapped.state.yield_stress, 200 + 2 * mu * 0.002, 1e-12);
  EXPECT_NEAR(norm(mapped.strain), size - 0.02, 1e-16);
}

// ---- Drucker-Prager ----

template <class Real>
void expect_drucker_prager(double cohesion, bool correct, double stored) {
  const auto [mu, lambda] = lame<Real>();
  const Real alpha = DruckerPragerRule<Real>::friction_from_angle(pi<Real> / 6);
  const DruckerPrager<Real> model{{mu, lambda, alpha, Real(cohesion), correct}};
  const auto outcome = map_random_states<Real>(model, {Real(stored)}, true);
  for (const Yield yield : {correct && stored != 0 ? Yield::volume : Yield::none, Yield::tension, Yield::shear})
    EXPECT_GT(count(outcome, yield), 1000u) << int(yield);
  const double two_mu = 2 * double(mu), slope = double(alpha) * (3 * double(lambda) + two_mu);
  const double strain = strain_error<Real>;
  EXPECT_LT(largest(outcome,
                    [&](const auto&, const auto& first, const auto&) {
                      const Eigen::Vector3d e = hencky_strains(first.F);
                      const double excess = two_mu * deviator_norm(e) + slope * (e.sum() - 3 * cohesion);
                      return first.yield == Yield::shear ? std::abs(excess) : std::max(excess, 0.0);
                    }),
            (two_mu + 2 * slope) * strain);
  EXPECT_LT(idempotence(outcome), strain / 2);
  EXPECT_LT(inconsistency(outcome, hencky), 3 * strain);
  if (correct) {
    EXPECT_LT(largest(outcome,
                      [&](const auto& trial, const auto& first, const auto&) {
                        return std::abs(std::log(eigen(trial).determinant()) + stored -
                                        std::log(eigen(first.F).determinant()) - double(first.state.volume_correction));
                      }),
              strain);
  }
}

TEST(ReturnMapping, DruckerPragerEndsInItsConeAndKeepsTheBooksOfVolume) {
  expect_drucker_prager<double>(0, false, 0);
  expect_drucker_prager<float>(0, false, 0);
  expect_drucker_prager<double>(0.002, true, 0.02);
  expect_drucker_prager<float>(0.002, true, 0.02);
}

// ---- cam-clay ----

struct Ellipse {
  double M, beta, p0;
  /// ((1 + 2 beta) q^2 + M^2 (p + beta p0)(p - p0))/(M p0)^2
  [[nodiscard]] double excess(double p, double q) const {
    return ((1 + 2 * beta) * q * q + M * M * (p + beta * p0) * (p - p0)) / (M * M * p0 * p0);
  }
};

template <class Outcomes>
void expect_all_branches(const Outcomes& outcome) {
  for (const Yield yield : {Yield::none, Yield::compression, Yield::tension, Yield::shear})
    EXPECT_GT(count(outcome, yield), 50u) << int(yield);
}

template <class Real>
void expect_cam_clay() {
  const auto moduli = lame<Real>();
  const auto mu = moduli.mu, lambda = moduli.lambda;
  const double kappa = lame<double>().bulk_modulus();
  const double log_volume = -0.3;
  const CamClay<Real> model{{mu, lambda, {Real(1.85), Real(0.5), Real(1)}}};
  const Ellipse ellipse{1.85, 0.5, kappa * (1e-5 + std::sinh(0.3))};
  const auto outcome = map_random_states<Real>(model, {Real(log_volume)}, false);
  expect_all_branches(outcome);
  const double strain = strain_error<Real>;
  // d(excess) <= 2 kappa dp/p0 and 2 (1 + 2 beta) 2 mu dq/(M p0), both below 10 per strain here.
  EXPECT_LT(largest(outcome,
                    [&](const auto&, const auto& first, const auto&) {
                      const Eigen::Vector3d e = hencky_strains(first.F);
                      const double excess =
                          ellipse.excess(-kappa * e.sum(), std::sqrt(1.5) * 2 * double(mu) * deviator_norm(e));
                      return first.yield == Yield::none ? std::max(excess, 0.0) : std::abs(excess);
                    }),
            10 * strain);
  // Near a tip the surface is steep: the closest of these states is some 1e-5 of the half-width away, where the slope
  // is M sqrt(1e5/2) and multiplies ten roundings of the pressure.
  EXPECT_LT(idempotence(outcome), 1.85 * std::sqrt(1e5 / 2) * 10 * roundoff<Real>);
  EXPECT_LT(inconsistency(outcome, hencky), 3 * strain);
  // Volume is kept in shear; at the tips alpha takes up what F gives away.
  EXPECT_LT(largest(outcome,
                    [&](const auto& trial, const auto& first, const auto&) {
                      const double given =
                          std::log(eigen(trial).determinant()) - std::log(eigen(first.F).determinant());
                      const bool tip = first.yield == Yield::compression || first.yield == Yield::tension;
                      return std::abs(given - (tip ? double(first.state.log_volume) - log_volume : 0.0));
                    }),
            2 * strain);
}

TEST(ReturnMapping, CamClayEndsOnItsSurface) {
  expect_cam_clay<double>();
  expect_cam_clay<float>();
}

template <class Real>
void expect_neo_hookean_cam_clay() {
  const Real mu = lame<Real>().mu;
  const double kappa = lame<double>().bulk_modulus();
  const double log_volume = -0.3;
  const NeoHookeanCamClay<Real> model{{mu, Real(kappa)}, {Real(1.85), Real(0.5), Real(1)}};
  const Ellipse ellipse{1.85, 0.5, kappa * (1e-5 + std::sinh(0.3))};
  const auto outcome = map_random_states<Real>(model, {Real(log_volume)}, false);
  expect_all_branches(outcome);
  const double strain = strain_error<Real>;
  EXPECT_LT(largest(outcome,
                    [&](const auto&, const auto& first, const auto&) {
                      const Eigen::Vector3d e = hencky_strains(first.F);
                      const Eigen::Vector3d b = (2 * e).array().exp();
                      const double J = std::exp(e.sum());
                      const double q = std::sqrt(1.5) * double(mu) * std::pow(J, -2.0 / 3) * deviator_norm(b);
                      const double excess = ellipse.excess(-kappa / 2 * (J * J - 1), q);
                      return first.yield == Yield::none ? std::max(excess, 0.0) : std::abs(excess);
                    }),
            10 * strain);
  // Near a tip the surface is steep: the closest of these states is some 1e-5 of the half-width away, where the slope
  // is M sqrt(1e5/2) and multiplies ten roundings of the pressure.
  EXPECT_LT(idempotence(outcome), 1.85 * std::sqrt(1e5 / 2) * 10 * roundoff<Real>);
  EXPECT_LT(largest(outcome,
                    [&](const auto& trial, const auto& first, const auto&) {
                      const double given =
                          std::log(eigen(trial).determinant()) - std::log(eigen(first.F).determinant());
                      const bool tip = first.yield == Yield::compression || first.yield == Yield::tension;
                      return std::abs(given - (tip ? double(first.state.log_volume) - log_volume : 0.0));
                    }),
            2 * strain);
  EXPECT_LT(inconsistency(outcome,
                          [&](const auto&) {
                            return IsochoricNeoHookean<double>{lame<double>().mu, kappa};
                          }),
            3 * strain);
}

TEST(ReturnMapping, NeoHookeanCamClayEndsOnItsSurfaceAtFixedVolume) {
  expect_neo_hookean_cam_clay<double>();
  expect_neo_hookean_cam_clay<float>();
}

TEST(ReturnMapping, IsochoricNeoHookeanIsSoundNearRestInSinglePrecision) {
  const IsochoricNeoHookean<float> law{400, 800};
  const IsochoricNeoHookean<double> exact{400, 800};
  for (const double strain : {1e-1, 1e-3, 1e-5}) {
    const auto F = matrix<float>(
        Eigen::Matrix3d(Eigen::Matrix3d::Identity() + strain * rotation(1, 2, 3, 0.5) * rotation(1, 0, 3, 0.7)));
    const auto expected = exact.response(matrix<double>(eigen(F)));
    // Roundings only, none amplified.
    EXPECT_NEAR(law.energy(F) / expected.energy, 1, 25 * 6e-8) << strain;
    EXPECT_LT((eigen(law.stress(F)) - eigen(expected.stress)).norm() / norm(expected.stress), 25 * 6e-8) << strain;
  }
}

// ---- Herschel-Bulkley ----

template <class Real>
void expect_overstress_solves_its_equation(double decades) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> range(-decades, decades), eta_exponent(-3, 4);
  const double powers[] = {0.2, 0.3, 0.5, 1, 2, 3, 4};
  for (int n = 0; n < 20'000; ++n) {
    const Real excess = Real(std::pow(10, range(random))), k = Real(std::pow(10, range(random)));
    const Real eta = Real(std::pow(10, eta_exponent(random))), h = Real(powers[n % 7]);
    const double x = double(herschel_bulkley_overstress(excess, k, eta, h));
    const double viscous = double(k) * std::pow(x / double(eta), 1 / double(h));
    // x = excess e^w: w, up to 150, is rounded, and the exponent 1/h <= 5 multiplies that.
    EXPECT_NEAR((x + viscous) / double(excess), 1, 1000 * roundoff<Real>)
        << excess << " " << k << " " << eta << " " << h;
  }
}

TEST(ReturnMapping, HerschelBulkleySolvesItsRateEquation) {
  expect_overstress_solves_its_equation<double>(6);
  expect_overstress_solves_its_equation<float>(3);  // so that x does not underflow
}

template <class Real>
void expect_herschel_bulkley(double power) {
  const auto [mu, lambda] = lame<Real>();
  const HerschelBulkley<Real> model{{mu, lambda, Real(50), Real(10), Real(power)}};
  const double dt = 1e-3, two_mu = 2 * double(mu), yield = std::sqrt(2.0 / 3) * 50;
  const auto outcome = map_random_states<Real>(model, {}, false, dt);
  EXPECT_GT(count(outcome, Yield::shear), 90'000u);
  const double strain = strain_error<Real>;
  EXPECT_LT(largest(outcome,
                    [](const auto& trial, const auto& first, const auto&) {
                      return std::abs(eigen(first.F).determinant() / eigen(trial).determinant() - 1);
                    }),
            strain);
  // s' + 2 mu dt ((s' - s_Y)/eta)^(1/h) = s_tr: the error of the strains, times the slope of the viscous term.
  EXPECT_LT(largest(outcome,
                    [&](const auto& trial, const auto& first, const auto&) {
                      const double before = two_mu * deviator_norm(hencky_strains(trial));
                      const double after = two_mu * deviator_norm(hencky_strains(first.F));
                      if (first.yield == Yield::none) return std::max(before / yield - 1, 0.0);
                      const double over = std::max(after - yield, 0.0);
                      const double rate = std::pow(over / 10, 1 / power);
                      const double slope = 1 + two_mu * dt * rate / (power * std::max(over, 1e-3 * yield));
                      return std::abs(after + two_mu * dt * rate - before) / (slope * two_mu);
                    }),
            2 * strain);
  EXPECT_LT(inconsistency(outcome, hencky), 3 * strain);
}

TEST(ReturnMapping, HerschelBulkleyFlowsAtItsRateAndKeepsTheVolume) {
  expect_herschel_bulkley<double>(0.5);
  expect_herschel_bulkley<float>(2.0);
}

TEST(ReturnMapping, HerschelBulkleyHasTheRightLimits) {
  const auto [mu, lambda] = lame<double>();
  const auto F = matrix<double>(Eigen::Matrix3d(Eigen::Vector3d(1.1, 0.98, 0.93).asDiagonal()));
  const double yield = std::sqrt(2.0 / 3) * 50;
  for (const double power : {0.3, 1.0, 3.0}) {
    const HerschelBulkley<double> model{{mu, lambda, 50, 10, power}};
    EXPECT_EQ(model.project(F, {}, 0.0).yield, Yield::none);
    // A long step ends at the yield stress: ((x/10)^(1/h) 2 mu dt = excess, dt = 1e6: x = 10 (1e-7)^h at most).
    const auto rested = model.project(F, {}, 1e6);
    EXPECT_NEAR(2 * mu * deviator_norm(hencky_strains(rested.F)), yield, 20 * std::pow(1e-7, power) + 1e-9) << power;
  }
  const HerschelBulkley<double> plastic{{mu, lambda, 50, 0, 1}};  // no viscosity: von Mises
  EXPECT_NEAR(2 * mu * deviator_norm(hencky_strains(plastic.project(F, {}, 1e-3).F)), yield, 1e-9);
}

// ---- snow ----

template <class Real>
void expect_snow() {
  const auto [mu, lambda] = lame<Real>();
  const Snow<Real> model{mu, lambda, Real(0.1), Real(0.08), Real(3)};
  const auto outcome = map_random_states<Real>(model, {Real(1)}, true);
  EXPECT_GT(count(outcome, Yield::none), 1000u);
  const double strain = strain_error<Real>;
  EXPECT_LT(largest(outcome,
                    [](const auto&, const auto& first, const auto&) {
                      const Eigen::Vector3d s = hencky_strains(first.F).array().exp();
                      return std::max(s.maxCoeff() - 1.08, 0.9 - s.minCoeff());
                    }),
            strain / 2);
  EXPECT_LT(idempotence(outcome), strain / 2);
  EXPECT_LT(largest(outcome,
                    [](const auto& trial, const auto& first, const auto&) {
                      const double ratio = double(first.state.plastic_volume_ratio);
                      const double kept = eigen(first.F).determinant() * ratio / eigen(trial).determinant();
                      const bool bounded = ratio <= double(0.6f) || ratio >= 20;
                      return bounded ? 0.0 : std::abs(kept - 1);
                    }),
            strain);
  EXPECT_LT(inconsistency(outcome,
                          [&](const auto&) {
                            return FixedCorotated<double>{lame<double>().mu, lame<double>().lambda};
                          }),
            strain);
}

TEST(ReturnMapping, SnowStaysWithinItsStretchesAndKeepsTheBooksOfVolume) {
  expect_snow<double>();
  expect_snow<float>();
}

// ---- flat and inverted trial states ----

template <class Real>
void expect_recovery_from_inversion() {
  const auto [mu, lambda] = lame<Real>();
  const Real alpha = DruckerPragerRule<Real>::friction_from_angle(pi<Real> / 6);
  const auto finite = [](const auto& mapped) {
    EXPECT_TRUE(std::isfinite(norm(mapped.F)));
    EXPECT_TRUE(std::isfinite(norm(mapped.kirchhoff)));
    EXPECT_GT(eigen(mapped.F).determinant(), 0);
  };
  for (const Eigen::Vector3d& s : {Eigen::Vector3d(1.1, 0.9, -0.4), Eigen::Vector3d(1, 1, 0), Eigen::Vector3d(1, 0, 0),
                                   Eigen::Vector3d(1e-3, 1e-4, -1e-5)}) {
    const auto F = matrix<Real>(Eigen::Matrix3d(rotation(1, 2, 3, 1) * s.asDiagonal() * rotation(3, 1, 0, 2)));
    finite(VonMises<Real>{{mu, lambda, Real(0)}}.map(F, {Real(200)}));
    finite(DruckerPrager<Real>{{mu, lambda, alpha, Real(0), true}}.map(F, {Real(0)}));
    finite(CamClay<Real>{{mu, lambda, {Real(1.85), Real(0.5), Real(1)}}}.map(F, {Real(-0.1)}));
    finite(NeoHookeanCamClay<Real>{{mu, lambda}, {Real(1.85), Real(0.5), Real(1)}}.map(F, {Real(-0.1)}));
    finite(HerschelBulkley<Real>{{mu, lambda, Real(50), Real(10), Real(1)}}.map(F, {}, Real(1e-3)));
    finite(Snow<Real>{mu, lambda, Real(0.025), Real(0.0075), Real(10)}.map(F, {Real(1)}));
  }
}

/// A state that was flattened to the least stretch bears the stress that the mapping gave it, whichever side of the
/// limit rounding has put it on.
TEST(ReturnMapping, FlattenedStatesKeepTheirStress) {
  const auto [mu, lambda] = lame<double>();
  const VonMises<double> model{{mu, lambda, 0}};
  for (int k = 0; k < 50; ++k) {
    const auto F = matrix<double>(
        Eigen::Matrix3d(rotation(1, k, 3, 1) * Eigen::Vector3d(1.1, 0.9, -0.1).asDiagonal() * rotation(3, 1, k, 2)));
    const auto mapped = model.map(F, {1e9});  // it does not yield
    const auto again = model.kirchhoff(mapped.F, {1e9});
    // Rounding of F, 1e-16, of a stretch of 1e-4.
    EXPECT_LT(norm(again - mapped.kirchhoff), 1e-10 * norm(mapped.kirchhoff)) << k;
  }
}

TEST(ReturnMapping, InvertedTrialStatesComeBack) {
  expect_recovery_from_inversion<double>();
  expect_recovery_from_inversion<float>();
}

}  // namespace
}  // namespace ductile
