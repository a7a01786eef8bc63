// The library as a program that links it sees it.

#include <gtest/gtest.h>

#include <exception>
#include <thread>

#include "ductile/simulation.hpp"

namespace {

using ductile::Simulation;

const char* const scene = R"(
title = "block on a grip"
[solver]
method = "total-lagrangian"
time_step = 1e-3
end_time = 0.1
iterations = 5
[materials.rubber]
density = 1000.0
elastic = { model = "neo-hookean", youngs_modulus = 1e5, poisson_ratio = 0.3 }
[[bodies]]
name = "block"
material = "rubber"
spacing = 0.1
shape = { type = "box", size = [0.4, 0.3, 0.5] }
[[fixtures]]
name = "grip"
body = "block"
region = { type = "box", size = [9, 9, 0.2], position = [0, 0, 0.25] }
release_at = 0.01
[[probes]]
name = "middle"
body = "block"
)";

/// What a call throws; empty if it doesn't.
template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const ductile::InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Api, ThreadsOnOneSimulationWaitForOneAnother) {
  const Simulation::Options fine{{"bodies[0].spacing=0.025"}, "", 0};  // steps long enough to meet in
  Simulation alone = Simulation::parse(scene, fine), shared = Simulation::parse(scene, fine);
  alone.advance(60);
  std::exception_ptr failed[3];
  std::vector<std::thread> threads;
  for (auto& failure : failed)
    threads.emplace_back([&] {
      try {
        for (int k = 0; k < 10; ++k) {
          // Between two calls others may step, within one not.
          EXPECT_EQ(std::get<std::vector<float>>(shared.field("position").values).size(), 3 * shared.particles());
          const auto state = shared.advance(2);
          EXPECT_NEAR(state.time, double(state.step) * shared.time_step(), 1e-12);
          EXPECT_EQ(shared.probes().size(), 1u);
        }
      } catch (...) {
        failure = std::current_exception();
      }
    });
  for (auto& thread : threads) thread.join();
  for (const auto& failure : failed) EXPECT_EQ(failure, nullptr);
  EXPECT_EQ(shared.step(), 60);
  for (const char* field : {"position", "velocity"}) EXPECT_EQ(shared.field(field).values, alone.field(field).values);
}

TEST(Api, FieldsHaveTheTypesOfTheFiles) {
  Simulation simulation = Simulation::parse(scene);
  const auto ids = std::get<std::vector<std::int64_t>>(simulation.field("id").values);
  ASSERT_EQ(ids.size(), simulation.particles());
  for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ids[i], std::int64_t(i));
  EXPECT_EQ(std::get<std::vector<std::int32_t>>(simulation.field("body").values), simulation.bodies());
  EXPECT_EQ(std::get<std::vector<std::int32_t>>(simulation.field("piece").values), simulation.bodies());
  EXPECT_NE(refusal([&] { (void)simulation.field("speed"); }).find("position, id, body, velocity"), std::string::npos);
}

TEST(Api, ReleasedFixturesAreNotMoved) {
  Simulation simulation = Simulation::parse(scene);
  simulation.move_fixture("grip", {{1, 0, 0}, {}, {}});
  simulation.advance(10);  // released by the scene
  EXPECT_NE(refusal([&] { simulation.move_fixture("grip", {}); }).find("released at 0.01 s"), std::string::npos);
}

TEST(Api, ThreadsHaveBounds) {
  for (const int threads : {-1, 4097})
    EXPECT_NE(refusal([&] {
                (void)Simulation::parse(scene, {{}, "", threads});
              }).find("expected 1 to 4096"),
              std::string::npos);
}

}  // namespace
