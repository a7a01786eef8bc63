#include "solvers/particles.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>

#include "common/error.hpp"
#include "geometry/sampling.hpp"
#include "kernels/materials/strain.hpp"
#include "runtime/queue.hpp"
#include "solvers/blocks.hpp"

namespace ductile {

namespace {

/// Places particles in rows, rows in layers: walking along a row, the neighbours of the next particle follow those of
/// the last in memory, which the processor fetches ahead (along a Morton curve gathers took twice as long). Layers are
/// stacked along the body's longest extent, so that the few that a particle reaches stay in the cache. Where space is
/// swept block by block, the same in tiles of about a block (`tile` cells wide; 0: all is one tile): a sweep then reads
/// memory in a row, a fifth faster.
class RowOrder {
 public:
  RowOrder(const Eigen::AlignedBox3d& bounds, double cell, std::uint64_t tile)
      : corner_(bounds.min()), cell_(cell), tile_(tile == 0 ? most_cells + 1 : tile) {
    std::array<int, 3> axis = {0, 1, 2};
    const auto cells = [&](int a) { return std::llround(bounds.sizes()[a] / cell); };
    std::stable_sort(axis.begin(), axis.end(), [&](int a, int b) { return cells(a) > cells(b); });
    layer_ = axis[0];
    along_ = axis[1];
    row_ = axis[2];
  }
  /// Tile, and place in it.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> operator()(const Eigen::Vector3d& point) const {
    const auto cell = [&](int axis) {
      return std::uint64_t(std::clamp((point[axis] - corner_[axis]) / cell_, 0.0, double(most_cells)));
    };
    const std::array<std::uint64_t, 3> at = {cell(layer_), cell(row_), cell(along_)};
    return {place(at[0] / tile_, at[1] / tile_, at[2] / tile_), place(at[0] % tile_, at[1] % tile_, at[2] % tile_)};
  }

 private:
  static constexpr std::uint64_t most_cells = (1u << 21) - 1;

  static std::uint64_t place(std::uint64_t layer, std::uint64_t row, std::uint64_t along) {
    return layer << 42 | row << 21 | along;
  }

  Eigen::Vector3d corner_;
  double cell_;
  std::uint64_t tile_;
  int layer_, row_, along_;
};

/// Width in spacings of the parts that blocks are swept in; 0: none.
std::uint64_t tile_width(const scene::Scene& scene) {
  return scene.solver.method == scene::Method::xpbi ? std::uint64_t(std::ceil(2 * scene.solver.smoothing.support)) : 0;
}

/// What is wrong with bodies, for one report. Of copies, which share their place, one is named and the rest counted.
class BodyProblems {
 public:
  explicit BodyProblems(const scene::Scene& scene) : scene_(scene), bad_(scene.bodies.size(), false) {}

  [[nodiscard]] bool has(std::size_t body) const { return bad_[body]; }
  [[nodiscard]] std::string place_of(std::size_t body) const {
    const auto& place = scene_.bodies[body].place;
    return place.empty() ? scene_.file.string() : place;
  }
  void add(std::size_t body, const std::string& what) {
    bad_[body] = true;
    const auto& place = scene_.bodies[body].place;
    const auto same = std::find_if(problems_.begin(), problems_.end(), [&](const Problem& earlier) {
      return !place.empty() && scene_.bodies[earlier.body].place == place;
    });
    if (same != problems_.end())
      ++same->copies;
    else
      problems_.push_back({body, what, 0});
  }
  void throw_if_any() const {
    std::string text;
    for (const auto& [body, what, copies] : problems_)
      text += fmt::format("{}{}: body \"{}\"{}: {}", text.empty() ? "" : "\n", place_of(body), scene_.bodies[body].name,
                          copies == 0 ? "" : fmt::format(" and {} more of its block", copies), what);
    if (!text.empty()) throw InputError(text);
  }

 private:
  struct Problem {
    std::size_t body;
    std::string what;
    int copies;
  };
  const scene::Scene& scene_;
  std::vector<bool> bad_;
  std::vector<Problem> problems_;
};

void refuse_if_too_large(const scene::Scene& scene, const DeviceDescription* device, const BodyProblems& problems) {
  double particles = 0, most = 0;
  std::size_t largest = 0;
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    const double count = geometry::estimate_count(scene.bodies[b].shape, scene.bodies[b].spacing);
    particles += count;
    if (count > most) most = count, largest = b;
  }
  const double needed = estimate_memory(scene, particles);
  const double room = device != nullptr ? available_memory(*device) : available_memory();
  const bool of_device = device != nullptr && room == double(device->memory_bytes);
  if (particles > 4e9 || needed > room)
    throw InputError(fmt::format(
        "{}: the bodies would have about {:.3g} particles, which need {:.3g} GB; {:.3g} GB are {}\n    use a larger "
        "spacing (twice the spacing needs an eighth of the memory) or smaller bodies{}",
        problems.place_of(largest), particles, needed / 1e9, room / 1e9,
        of_device ? fmt::format("on the device \"{}\"", device->name) : "free",
        scene.bodies.size() == 1 ? "" : fmt::format("; body \"{}\" is the largest", scene.bodies[largest].name)));
}

/// Positions that are rounded by a good part of the spacing are no positions.
void find_too_far(const scene::Scene& scene, BodyProblems& problems) {
  const bool is_double = scene.solver.precision == scene::Precision::double_precision;
  const double rounding =
      is_double ? std::numeric_limits<double>::epsilon() : double(std::numeric_limits<float>::epsilon());
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    const auto& body = scene.bodies[b];
    const auto box = geometry::bounds(body.shape);
    const double far = std::max(box.min().cwiseAbs().maxCoeff(), box.max().cwiseAbs().maxCoeff());
    const auto too_far = [&](double unit) { return far * unit > 0.1 * body.spacing; };
    const bool double_helps = !is_double && !too_far(std::numeric_limits<double>::epsilon());
    if (too_far(rounding))
      problems.add(b, fmt::format("it reaches {:.3g} m from the origin, where {} precision rounds positions by {:.2g} "
                                  "m and its spacing is {:g} m\n    move the scene to the origin{}",
                                  far, is_double ? "double" : "single", far * rounding, body.spacing,
                                  double_helps ? ", or use solver.precision = \"double\"" : ""));
  }
}

/// What a number in a file says, or nothing; "max" is no number.
double number_in(const char* file) {
  double value = 0;
  return std::ifstream(file) >> value ? value : std::numeric_limits<double>::infinity();
}

}  // namespace

double available_memory() {
  double machine = 8e9;
  std::ifstream file("/proc/meminfo");
  for (std::string key; file >> key;) {
    double kilobytes = 0;
    if (key == "MemAvailable:" && file >> kilobytes) machine = 1024 * kilobytes;
    file.ignore(256, '\n');
  }
  // A container, or a job of a batch system, may have less than the machine: beyond it the kernel kills.
  const double limit = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
  const double container = std::isfinite(limit) && std::isfinite(used) ? std::max(0.0, limit - used) : machine;
  rlimit own{};
  const bool limited = getrlimit(RLIMIT_AS, &own) == 0 && own.rlim_cur != RLIM_INFINITY;
  return std::min({machine, container, limited ? double(own.rlim_cur) : machine});
}

double available_memory(const DeviceDescription& device) {
  const double machine = available_memory();
  // A CPU's memory is the machine's, of which others have their part.
  return device.kind == "cpu" ? machine : std::min(machine, double(device.memory_bytes));
}

double estimate_memory(const scene::Scene& scene, double particles) {
  const double real = scene.solver.precision == scene::Precision::double_precision ? 8 : 4;
  const double reached = 4.0 / 3.0 * std::numbers::pi * std::pow(scene.solver.smoothing.support, 3);
  const double neighbours = std::min(reached, particles);  // small bodies end before a wide kernel does
  // As measured: numbers of a particle on the device, bytes of it on the host while it is sampled or written, and what
  // a pair has. A test compares the sum with what runs take.
  struct Bytes {
    double reals, host, pair;
  };
  const auto bytes = [&]() -> Bytes {
    if (scene.solver.method == scene::Method::total_lagrangian) return {160, 170, 4 + 2 * real};
    if (scene.solver.reference == scene::Reference::current) return {200, 30, 9 + real};
    // A vector and its weight, twice while particles choose new neighbours.
    const double tensor = scene.solver.multiplier == scene::Multiplier::tensor ? 4 * real : 0;
    return {150, 310, 2 * (4 + 4 * real) + tensor};
  }();
  const double cuts = scene.cuts.empty() ? 0 : neighbours + double(scene.cuts.size()) + 8;
  constexpr double program = 2e7;
  return program + particles * (bytes.reals * real + bytes.host + neighbours * bytes.pair + cuts);
}

Particles sample(const scene::Scene& scene, const DeviceDescription* device) {
  BodyProblems problems(scene);
  refuse_if_too_large(scene, device, problems);
  find_too_far(scene, problems);
  std::vector<Eigen::Vector3d> rest;
  std::vector<double> volume;
  std::vector<std::uint32_t> body;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> code;
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    const auto& source = scene.bodies[b];
    if (problems.has(b)) continue;
    const auto samples = [&]() -> geometry::Samples {
      try {
        return geometry::sample_lattice(source.shape, source.spacing, source.jitter, source.relax, b);
      } catch (const InputError& error) {
        problems.add(b, error.what());
        return {};
      }
    }();
    const RowOrder order_of(geometry::bounds(source.shape), source.spacing, tile_width(scene));
    for (std::size_t i = 0; i < samples.positions.size(); ++i) {
      rest.push_back(samples.positions[i]);
      volume.push_back(samples.volumes[i]);
      body.push_back(std::uint32_t(b));
      code.push_back(order_of(samples.positions[i]));
    }
  }
  problems.throw_if_any();
  std::vector<std::uint32_t> order(rest.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t i) { return std::tuple(scene.bodies[body[i]].material, body[i], code[i], i); };
    return key(a) < key(b);
  });
  Particles result;
  result.of_material.resize(scene.materials.size());
  for (const std::uint32_t i : order) {
    Range& range = result.of_material[scene.bodies[body[i]].material];
    if (range.count++ == 0) range.first = result.size();
    result.rest.push_back(rest[i]);
    result.volume.push_back(volume[i]);
    result.body.push_back(body[i]);
    result.id.push_back(i);
  }
  return result;
}

double contact_distance(const scene::Body& body, double depth, bool flows) {
  const double half = body.spacing / 2;
  return flows ? std::clamp(depth, half / 2, half) : depth < body.spacing ? std::max(depth, 0.0) : half;
}

Eigen::Vector3d fiber_direction(const scene::Fiber& fiber, const geometry::Shape& shape, const Eigen::Vector3d& point) {
  using Field = scene::Fiber::Field;
  if (fiber.field == Field::constant) return fiber.direction;
  const Eigen::Vector3d axis = shape.rotation.col(2);
  if (fiber.field == Field::axis) return axis;
  const Eigen::Vector3d arm = point - shape.position;
  Eigen::Vector3d radial = arm - arm.dot(axis) * axis;
  const double length = radial.norm();
  radial =
      length > 1e-12 * (1 + arm.norm()) ? Eigen::Vector3d(radial / length) : Eigen::Vector3d(shape.rotation.col(0));
  return fiber.field == Field::radial ? radial : Eigen::Vector3d(axis.cross(radial));
}

double wave_speed(const scene::Material& material) {
  const auto lame = Lame<double>::from(material.elastic.youngs_modulus, material.elastic.poisson_ratio);
  double stiffness = lame.lambda + 2 * lame.mu;
  for (const auto& fiber : material.fibers) stiffness += 2 * fiber.stiffness;
  return std::sqrt(stiffness / material.density);
}

double finest_spacing(const scene::Scene& scene) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& body : scene.bodies) least = std::min(least, body.spacing);
  return least;
}

Eigen::Vector3d initial_position(const scene::Body& body, const Eigen::Vector3d& rest, std::uint32_t id) {
  constexpr std::uint64_t seed = 0x5eed;
  const auto& [stretch, scramble] = body.initial;
  Eigen::Vector3d x = rest;
  if (stretch != Eigen::Vector3d::Ones()) {
    const Eigen::Vector3d local = body.shape.rotation.transpose() * (rest - body.shape.position);
    x = body.shape.rotation * stretch.cwiseProduct(local) + body.shape.position;
  }
  for (int axis = 0; axis < 3 && scramble > 0; ++axis)
    x[axis] += scramble * geometry::random_number(seed, id, std::uint64_t(axis));
  return x;
}

std::vector<std::uint32_t> select(const Particles& particles, std::size_t body, const geometry::Shape* region) {
  std::vector<std::uint32_t> result;
  for (std::size_t i = 0; i < particles.size(); ++i)
    if (particles.body[i] == body && (region == nullptr || geometry::contains(*region, particles.rest[i])))
      result.push_back(std::uint32_t(i));
  return result;
}

void refuse_empty_regions(const scene::Scene& scene, const Particles& particles) {
  std::string problems;
  const auto check = [&](const char* kind, const auto& source, const geometry::Shape& region) {
    if (!select(particles, source.body, &region).empty()) return;
    problems += fmt::format(
        "{}{}: {} \"{}\": its region holds no particle of body \"{}\"\n    regions are in world coordinates at rest; "
        "particles sit half a spacing inside the body",
        problems.empty() ? "" : "\n", source.place.empty() ? scene.file.string() : source.place, kind, source.name,
        scene.bodies[source.body].name);
  };
  for (const auto& fixture : scene.fixtures) check("fixture", fixture, fixture.region);
  for (const auto& probe : scene.probes)
    if (probe.region) check("probe", probe, *probe.region);
  if (!problems.empty()) throw InputError(problems);
}

}  // namespace ductile
