#include "app/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/bench_case.hpp"
#include "app/bench_total_lagrangian.hpp"
#include "app/bench_xpbi.hpp"
#include "app/text.hpp"
#include "common/error.hpp"
#include "io/files.hpp"
#include "kernels/bench/triad.hpp"
#include "runtime/device_array.hpp"
#include "runtime/launch.hpp"
#include "solvers/neighbors.hpp"
#include "solvers/particles.hpp"

namespace ductile::app {

namespace {

/// GB/s of a triad over arrays far larger than the caches, counting two reads and one write.
double triad_bandwidth(Queue& queue) {
  const std::size_t size = std::size_t(1) << 24;
  DeviceArray<float> a(queue, size), b(queue, size), c(queue, size);
  a.fill(0);
  b.fill(1);
  c.fill(2);
  const double seconds = best_timing(queue, [&] {
                           launch(queue, "triad", size, Triad<float>{b.data(), c.data(), 3.0F, a.data()});
                         }).seconds;
  return 3.0 * double(size * sizeof(float)) / seconds * 1e-9;
}

template <class Real>
BenchResult bench_neighbors(Queue& queue, const BenchOptions& options) {
  const auto scene = cube_scene(options);
  const auto particles = sample(scene);
  std::vector<Vec4<Real>> host(particles.size());
  for (std::size_t i = 0; i < host.size(); ++i)
    host[i] = padded(Vec3<Real>{Real(particles.rest[i].x()), Real(particles.rest[i].y()), Real(particles.rest[i].z())});
  const DeviceArray<Vec4<Real>> position(queue, host);
  NeighborLists lists;
  BenchResult result{"neighbors", host.size(), 0, 1, "grid, lists of all pairs within 2.01 spacings", {}};
  result.timing =
      best_timing(queue, [&] { lists = find_neighbors<Real>(queue, position, Real(2.01 * scene.bodies[0].spacing)); });
  result.mean_neighbours = lists.mean();
  return result;
}

template <class Real>
BenchResult bench_svd(Queue& queue, const BenchOptions& options) {
  const auto count = std::size_t(options.particles);
  DeviceArray<Vec3<Real>> stretches(queue, count);
  BenchResult result{"svd", count, 0, 1, "3x3 decompositions, entries within 0.5 of the identity", {}};
  result.timing = best_timing(queue, [&] {
    launch(queue, "svd", count, DecomposeMany<Real>{Real(0.5), stretches.data()});
  });
  return result;
}

template <class Real>
BenchResult run_case(Queue& queue, const BenchOptions& options, const std::string& name) {
  if (name.starts_with("xpbi")) return bench_xpbi<Real>(queue, options, name);
  if (name == "neighbors") return bench_neighbors<Real>(queue, options);
  if (name == "svd") return bench_svd<Real>(queue, options);
  return bench_total_lagrangian<Real>(queue, options, name);
}

nlohmann::ordered_json to_json(const BenchResult& result, const std::string& precision) {
  nlohmann::ordered_json phases;
  for (const auto& phase : result.timing.phases)
    phases[phase.name] = {{"seconds", phase.seconds}, {"launches", phase.launches}};
  return {{"name", result.name},
          {"precision", precision},
          {"particles", result.particles},
          {"mean_neighbours", result.mean_neighbours},
          {"iterations", result.iterations},
          {"bytes_per_particle", result.bytes_per_particle},
          {"seconds", result.timing.seconds},
          {"particle_iterations_per_second", result.rate()},
          {"note", result.note},
          {"phases", phases}};
}

std::vector<std::string> chosen_cases(const BenchOptions& options) {
  std::vector<std::string> known;
  for (const auto& [name, text] : bench_cases()) known.push_back(name);
  for (const auto& name : options.cases)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw InputError(fmt::format("There is no bench case \"{}\"; known are {}.", name, fmt::join(known, ", ")));
  return options.cases.empty() ? known : options.cases;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> bench_cases() {
  BenchCases cases{{"neighbors", "neighbour search of a lattice, 31 neighbours"},
                   {"svd", "rotation-variant 3x3 singular value decompositions"}};
  for (const auto& more : {total_lagrangian_bench_cases(), xpbi_bench_cases()})
    cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

int bench(const BenchOptions& options) {
  const auto cases = chosen_cases(options);
  if (options.precision != "single" && options.precision != "double")
    throw InputError(fmt::format("--precision {} is neither single nor double.", options.precision));
  if (!(options.particles >= 8 && options.particles <= 1e9))
    throw InputError("--particles takes a number from 8 to 1e9.");
  // Minutes of measuring must not end at a name that was wrong from the start.
  if (!options.json.empty()) {
    const auto folder = std::filesystem::absolute(options.json).parent_path();
    if (!std::filesystem::is_directory(folder))
      throw InputError(fmt::format("--json {}: there is no folder {}.", options.json.string(), folder.string()));
    if (std::filesystem::is_directory(options.json))
      throw InputError(fmt::format("--json {}: it is a folder. Give the name of a file in it.", options.json.string()));
  }
  Queue queue({options.device, options.threads});
  if (options.precision == "double" && !queue.device().double_precision)
    throw DeviceError(fmt::format("The device \"{}\" has no double precision.", queue.device().name));
  const double bandwidth = triad_bandwidth(queue);
  fmt::print("{} on {}, {} thread{}, triad {:.1f} GB/s\n", backend_name(), queue.device().name, queue.threads(),
             queue.threads() == 1 ? "" : "s", bandwidth);
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  std::vector<std::vector<std::string>> rows{
      {"case", "precision", "particles", "neighbours", "M/s", "M/s per GB/s", "ns each", "bytes each"}};
  for (const auto& name : cases) {
    const BenchResult result =
        options.precision == "double" ? run_case<double>(queue, options, name) : run_case<float>(queue, options, name);
    results.push_back(to_json(result, options.precision));
    rows.push_back({name, options.precision, std::to_string(result.particles),
                    fmt::format("{:.1f}", result.mean_neighbours), fmt::format("{:.2f}", result.rate() * 1e-6),
                    fmt::format("{:.3f}", result.rate() * 1e-6 / bandwidth), fmt::format("{:.1f}", 1e9 / result.rate()),
                    result.bytes_per_particle > 0 ? fmt::format("{:.0f}", result.bytes_per_particle) : ""});
  }
  fmt::print(
      "{}  M/s: million particle-iterations per second; best of several repetitions. Bytes: device memory per "
      "particle\n",
      format_table(rows));
  if (!options.json.empty()) {
    const nlohmann::ordered_json json{{"backend", backend_name()},       {"device", queue.device().name},
                                      {"compiler", backend_compiler()},  {"threads", queue.threads()},
                                      {"bandwidth_gb_per_s", bandwidth}, {"cases", results}};
    std::fflush(stdout);  // the table first, should both go to one place (--json /dev/stdout)
    io::write_whole(options.json, json.dump(2) + "\n");
  }
  return 0;
}

}  // namespace ductile::app
