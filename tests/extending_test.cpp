// What docs/extending.md walks through, done: a material and a solver that Ductile does not have.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "runtime/device_array.hpp"
#include "runtime/launch.hpp"
#include "tests/dust_solver.hpp"
#include "tests/kernels/fung.hpp"
#include "tests/kernels/material_kernels.hpp"

namespace ductile {
namespace {

std::string read(const std::string& file) {
  std::ifstream stream(std::string(DUCTILE_SOURCE_DIR) + "/" + file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

TEST(Extending, TheWalkthroughShowsTheFilesThatAreTested) {
  const std::string page = read("docs/extending.md");
  for (const char* file : {"tests/kernels/fung.hpp", "tests/kernels/dust.hpp", "tests/dust_solver.hpp"})
    EXPECT_NE(page.find("```cpp\n" + read(file) + "```"), std::string::npos) << file << " is not shown as it is";
}

constexpr double mu = 400, lambda = 600, stiffening = 0.01;

template <class Real>
Fung<Real> fung() {
  return {{Real(mu), Real(lambda)}, Real(stiffening)};
}

TEST(Extending, StressIsTheDerivativeOfTheEnergy) {
  const Mat3<double> F{{1.2, 0.1, 0.05, -0.1, 0.9, 0.2, 0.0, 0.3, 1.1}};
  const Response<double> at = fung<double>().response(F);
  const double step = 1e-6;
  for (int k = 0; k < 9; ++k) {
    Mat3<double> more = F, less = F;
    more.m[k] += step;
    less.m[k] -= step;
    const double slope = (fung<double>().response(more).energy - fung<double>().response(less).energy) / (2 * step);
    // Central differences: step^2 times the third derivative, about 1e5 Pa here.
    EXPECT_NEAR(at.stress.m[k], slope, 1e-6 * std::abs(at.energy) + 1e-5) << k;
  }
}

TEST(Extending, ANewLawRunsOnTheDevice) {
  Queue queue({"", 0});
  std::vector<Mat3<float>> F;
  for (int k = 0; k < 100; ++k) F.push_back(Mat3<float>::identity() * (1 + 0.002F * float(k)));
  const DeviceArray<Mat3<float>> gradients(queue, F);
  DeviceArray<Response<float>> responses(queue, F.size());
  launch(queue, "fung", F.size(), EvaluateLaw<float, Fung<float>>{fung<float>(), gradients.data(), responses.data()});
  const auto found = responses.download();
  for (std::size_t k = 0; k < F.size(); ++k) {
    // Psi of a dilation by s, with e = (s^2 - 1)/2 I; single precision keeps six digits.
    const double s = double(F[k].m[0]), e = (s * s - 1) / 2, q = (3 * mu + 4.5 * lambda) * e * e;
    EXPECT_NEAR(double(found[k].energy), std::expm1(stiffening * q) / stiffening,
                2e-6 * (1 + std::expm1(stiffening * q) / stiffening))
        << k;
  }
}

scene::Scene falling_dust() {
  return scene::parse_scene(R"(
[solver]
method = "total-lagrangian"
time_step = 1e-3
end_time = 1
precision = "double"
[materials.grain]
density = 1000.0
elastic = { youngs_modulus = 1e5, poisson_ratio = 0.3 }
[[bodies]]
name = "cloud"
material = "grain"
spacing = 0.1
shape = { type = "box", size = [0.3, 0.3, 0.3] }
position = [0, 0, 2]
[[colliders]]
shape = { type = "plane", normal = [0, 0, 1], point = [0, 0, 0] }
)",
                            "dust.toml", {});
}

TEST(Extending, ANewSolverFallsWithDrag) {
  Queue queue({"", 0});
  if (!queue.device().double_precision) GTEST_SKIP() << "no double precision";
  const double drag = 5, g = 9.81, dt = 1e-3;
  Dust<double> dust(falling_dust(), queue, drag);
  StepReport report = dust.measure();
  EXPECT_EQ(dust.particles(), 27u);
  for (int k = 0; k < 200; ++k) report = dust.advance();
  // Implicit Euler of v' = -g - drag v: v_n = -(g/drag) (1 - (1 + drag dt)^-n); double precision rounds the rest.
  EXPECT_NEAR(report.max_speed, g / drag * (1 - std::pow(1 + drag * dt, -200)), 1e-9);
  const auto kept = dust.save();
  report = dust.advance();
  Dust<double> resumed(falling_dust(), queue, drag);
  resumed.restore(200, kept);
  EXPECT_EQ(resumed.advance().momentum.z(), report.momentum.z());
  for (int k = 0; k < 3000; ++k) (void)dust.advance();
  const ParticleField positions = dust.positions();
  // All lie on the ground, half a spacing above it.
  for (std::size_t i = 2; i < 81; i += 3) EXPECT_NEAR(std::get<std::vector<double>>(positions.values)[i], 0.05, 1e-6);
}

}  // namespace
}  // namespace ductile
