#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <exception>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "validation/fem/cases.hpp"

namespace {

using namespace ductile;
using Json = nlohmann::ordered_json;

struct Options {
  fem::Beam beam;
  std::vector<int> elements{20, 4, 4};
  std::vector<double> size{1, 0.2, 0.2};
  bool whole = false;
  int load_steps = 4;
  double time_step = 1e-3, end_time = 1.2;
  std::string scheme = "trapezoidal";
};

Json to_json(const Eigen::Vector3d& v) { return Json::array({v.x(), v.y(), v.z()}); }

fem::Beam beam_of(const Options& options) {
  fem::Beam beam = options.beam;
  beam.half = !options.whole;
  beam.size = {options.size[0], options.size[1], options.size[2]};
  beam.elements = {options.elements[0], options.elements[1], options.elements[2]};
  return beam;
}

Json describe(const Options& options, const fem::Solid& solid) {
  const fem::Beam beam = beam_of(options);
  return {{"law", beam.law.model},
          {"youngs_modulus", beam.law.youngs_modulus},
          {"poisson_ratio", beam.law.poisson_ratio},
          {"inversion_below", beam.law.inversion_below},
          {"density", beam.density},
          {"size", options.size},
          {"elements", options.elements},
          {"half", beam.half},
          {"nodes", solid.mesh().nodes.size()}};
}

Json settled(const Options& options) {
  fem::Solid solid = fem::make_beam(beam_of(options));
  const auto solve = solid.equilibrate(options.load_steps);
  Json json = describe(options, solid);
  json["tip"] = to_json(solid.end_displacement());
  json["energy"] = solid.energy(solid.position());
  json["newton_iterations"] = solve.iterations;
  json["residual"] = solve.residual;
  return json;
}

Json released(const Options& options) {
  const auto scheme =
      options.scheme == "backward-euler" ? fem::Solid::Scheme::backward_euler : fem::Solid::Scheme::trapezoidal;
  fem::Solid solid = fem::make_beam(beam_of(options));
  Json json = describe(options, solid), history = Json::array();
  const int steps = int(std::lround(options.end_time / options.time_step));
  for (int step = 1; step <= steps; ++step) {
    solid.advance(options.time_step, scheme);
    const Eigen::Vector3d tip = solid.end_displacement();
    history.push_back({step * options.time_step, tip.x(), tip.y(), tip.z()});
  }
  json["scheme"] = options.scheme;
  json["time_step"] = options.time_step;
  json["history"] = history;
  return json;
}

Json proofs() {
  Json patch, order = Json::array();
  for (const char* law : {"linear", "corotated", "fixed-corotated", "stvk", "neo-hookean", "hencky"})
    patch[law] = fem::patch_error({law, 1e5, 0.3, 0});
  for (const int count : {1, 2, 4, 8}) order.push_back({{"elements", count}, {"error", fem::smooth_error(count)}});
  return {{"patch_error", patch}, {"smooth_error", order}};
}

void add_beam_options(CLI::App& command, Options& options) {
  command.add_option("--elements", options.elements, "elements along x, y and z")->delimiter(',')->expected(3);
  command.add_option("--size", options.size, "m")->delimiter(',')->expected(3);
  command.add_option("--grading", options.beam.grading, "exponent by which elements shrink towards the clamp")
      ->check(CLI::Range(1.0, 4.0))
      ->capture_default_str();
  command.add_flag("--whole", options.whole, "mesh both halves (default: one, with its plane of symmetry)");
  command.add_option("--law", options.beam.law.model, "elastic.model of a scene")->capture_default_str();
  command.add_option("--youngs-modulus", options.beam.law.youngs_modulus, "Pa")->capture_default_str();
  command.add_option("--poisson-ratio", options.beam.law.poisson_ratio, "")->capture_default_str();
  command.add_option("--inversion-below", options.beam.law.inversion_below, "elastic.inversion_below of a scene")
      ->capture_default_str();
  command.add_option("--density", options.beam.density, "kg/m^3")->capture_default_str();
}

int execute(int argc, char** argv) {
  CLI::App program(
      "Finite-element reference: 27-node hexahedra, Newton's method, the material laws of Ductile. Prints JSON.",
      "ductile_fem");
  program.require_subcommand(1);
  Options options;
  Json result;
  auto* beam = program.add_subcommand("beam", "a clamped beam at rest under its weight: displacement of its end face");
  add_beam_options(*beam, options);
  beam->add_option("--load-steps", options.load_steps, "parts in which the weight is applied")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  auto* release = program.add_subcommand("release", "the same beam let go: displacement of its end face over time");
  add_beam_options(*release, options);
  release->add_option("--time-step", options.time_step, "s")->check(CLI::PositiveNumber)->capture_default_str();
  release->add_option("--end-time", options.end_time, "s")->check(CLI::PositiveNumber)->capture_default_str();
  release->add_option("--scheme", options.scheme, "trapezoidal or backward-euler")
      ->check(CLI::IsMember({"trapezoidal", "backward-euler"}))
      ->capture_default_str();
  program.add_subcommand("proofs", "patch tests, and the error of a smooth solution on finer and finer meshes");
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : 2;
  }
  const auto start = std::chrono::steady_clock::now();
  if (beam->parsed()) result = settled(options);
  if (release->parsed()) result = released(options);
  if (program.got_subcommand("proofs")) result = proofs();
  result["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("{}\n", result.dump());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return execute(argc, argv);
  } catch (const InputError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
