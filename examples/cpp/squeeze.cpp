// A block between two plates that close, stop and open again: how tall it is and how hard it pushes back.

#include <algorithm>
#include <cstdio>
#include <ductile/simulation.hpp>

namespace {

const char* const scene = R"(
title = "Block between two plates"

[solver]
method = "total-lagrangian"
time_step = 1e-3
end_time = 0.6
damping = 5.0

[world]
gravity = [0, 0, 0]

[materials.rubber]
density = 1000.0
elastic = { model = "neo-hookean", youngs_modulus = 1e5, poisson_ratio = 0.3 }

[[bodies]]
name = "block"
material = "rubber"
spacing = 0.05
shape = { type = "box", size = [0.3, 0.3, 0.5] }

[[fixtures]]
name = "bottom"
body = "block"
region = { type = "box", size = [1, 1, 0.1], position = [0, 0, -0.25] }

[[fixtures]]
name = "top"
body = "block"
region = { type = "box", size = [1, 1, 0.1], position = [0, 0, 0.25] }

[[probes]]
name = "force"
quantity = "reaction"
fixture = "top"
)";

double height_of(const ductile::Simulation::Field& position) {
  const auto& values = std::get<std::vector<float>>(position.values);  // float: the scene's precision is single
  float low = values[2], high = values[2];
  for (std::size_t k = 2; k < values.size(); k += 3) {
    low = std::min(low, values[k]);
    high = std::max(high, values[k]);
  }
  return double(high - low);
}

}  // namespace

int main() try {
  auto simulation = ductile::Simulation::parse(scene);
  std::printf("%s: %zu particles\n  time   height   force\n", simulation.title().c_str(), simulation.particles());
  const auto watch = [&](double until) {
    while (simulation.time() < until - 1e-9) {
      simulation.advance(50);
      std::printf("%6.3f  %6.4f  %6.1f\n", simulation.time(), height_of(simulation.field("position")),
                  simulation.probes().front().second[2]);
    }
  };
  simulation.move_fixture("top", {.velocity = {0, 0, -0.5}});
  watch(0.2);
  simulation.move_fixture("top", {});
  watch(0.4);
  simulation.release_fixture("top");
  watch(simulation.end_time());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
