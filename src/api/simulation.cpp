#include "ductile/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <numeric>

#include "scene/scene.hpp"
#include "scene/text.hpp"
#include "scene/words.hpp"
#include "solvers/motion.hpp"
#include "solvers/solver.hpp"

namespace ductile {

/// What public functions read or change in the solver or in the fixtures they do under the mutex; the rest stays as it
/// was read.
struct Simulation::Parts {
  Parts(scene::Scene read, const Options& options)
      : scene(std::move(read)), queue({options.device, options.threads}), solver(make_solver(scene, queue)) {}

  [[nodiscard]] double time() const { return double(solver->step()) * scene.solver.time_step; }
  [[nodiscard]] StepReport steps(long long count) {
    StepReport report;
    for (long long k = 0; k < count; ++k) report = solver->advance();
    return report;
  }
  [[nodiscard]] std::size_t fixture(std::string_view name) const {
    std::vector<std::string_view> known;
    for (std::size_t f = 0; f < scene.fixtures.size(); ++f) {
      if (scene.fixtures[f].name == name) return f;
      known.push_back(scene.fixtures[f].name);
    }
    throw InputError(fmt::format("The scene has no fixture \"{}\"{}", name, scene::suggestion(name, known)));
  }

  scene::Scene scene;
  Queue queue;
  std::unique_ptr<Solver> solver;
  mutable std::mutex mutex;
};

namespace {

Simulation::Vector to_array(const Eigen::Vector3d& v) { return {v.x(), v.y(), v.z()}; }
Eigen::Vector3d to_vector(const Simulation::Vector& v) { return {v[0], v[1], v[2]}; }

Simulation::State to_state(const StepReport& report, long long step, double time) {
  Simulation::State state;
  state.step = step;
  state.time = time;
  state.kinetic_energy = report.kinetic_energy;
  state.elastic_energy = report.elastic_energy;
  state.gravity_energy = report.gravity_energy;
  state.momentum = to_array(report.momentum);
  state.angular_momentum = to_array(report.angular_momentum);
  state.max_speed = report.max_speed;
  state.min_volume_ratio = report.min_volume_ratio;
  state.residual = report.residual;
  state.iterations = report.iterations;
  return state;
}

scene::Field field_of(std::string_view name) {
  std::vector<std::string_view> known{"position", "id", "body"};
  const auto& words = scene::Words<scene::Field>::all;
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (words[k] == name) return static_cast<scene::Field>(k);
    known.push_back(words[k]);
  }
  throw InputError(fmt::format("There is no field \"{}\": known are {}.", name, fmt::join(known, ", ")));
}

const Simulation::Options& checked(const Simulation::Options& options) {
  if (options.threads < 0 || options.threads > most_threads)
    throw InputError(
        fmt::format("threads = {}: expected 1 to {}, or 0 for all of the machine.", options.threads, most_threads));
  return options;
}

}  // namespace

Simulation::Simulation(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;
Simulation::~Simulation() = default;

Simulation Simulation::load(const std::filesystem::path& file) { return load(file, {}); }
Simulation Simulation::load(const std::filesystem::path& file, const Options& options) {
  return Simulation(std::make_unique<Parts>(scene::read_scene(file, checked(options).overrides), options));
}
Simulation Simulation::parse(const std::string& text) { return parse(text, {}); }
Simulation Simulation::parse(const std::string& text, const Options& options, const std::filesystem::path& folder) {
  return Simulation(
      std::make_unique<Parts>(scene::parse_scene(text, folder / "scene", checked(options).overrides), options));
}

const std::string& Simulation::title() const { return parts_->scene.title; }
std::size_t Simulation::particles() const { return parts_->solver->particles(); }
const std::vector<std::int32_t>& Simulation::bodies() const { return parts_->solver->body_of_particle(); }
long long Simulation::step() const {
  const std::lock_guard alone(parts_->mutex);
  return parts_->solver->step();
}
double Simulation::time() const {
  const std::lock_guard alone(parts_->mutex);
  return parts_->time();
}
double Simulation::time_step() const { return parts_->scene.solver.time_step; }
double Simulation::end_time() const { return parts_->scene.solver.end_time; }

std::vector<std::string> Simulation::body_names() const {
  std::vector<std::string> names;
  for (const auto& body : parts_->scene.bodies) names.push_back(body.name);
  return names;
}
std::vector<std::string> Simulation::fixture_names() const {
  std::vector<std::string> names;
  for (const auto& fixture : parts_->scene.fixtures) names.push_back(fixture.name);
  return names;
}

Simulation::State Simulation::advance(long long steps) {
  if (steps < 0) throw InputError(fmt::format("advance({}): time runs forward only.", steps));
  const std::lock_guard alone(parts_->mutex);
  const StepReport report = steps == 0 ? parts_->solver->measure() : parts_->steps(steps);
  return to_state(report, parts_->solver->step(), parts_->time());
}

Simulation::State Simulation::state() { return advance(0); }

Simulation::Field Simulation::field(std::string_view name) {
  const std::lock_guard alone(parts_->mutex);
  Solver& solver = *parts_->solver;
  if (name == "body") return {"body", 1, solver.body_of_particle()};
  if (name == "id") {
    std::vector<std::int64_t> ids(solver.particles());
    std::iota(ids.begin(), ids.end(), 0);
    return {"id", 1, std::move(ids)};
  }
  ParticleField found = name == "position" ? solver.positions() : solver.field(field_of(name));
  Field field{std::move(found.name), found.components, {}};
  std::visit([&](auto& values) { field.values = std::move(values); }, found.values);
  return field;
}

std::vector<std::pair<std::string, Simulation::Vector>> Simulation::probes() {
  const std::lock_guard alone(parts_->mutex);
  const auto values = parts_->solver->probe();
  std::vector<std::pair<std::string, Vector>> named;
  for (std::size_t p = 0; p < parts_->scene.probes.size(); ++p)
    named.emplace_back(parts_->scene.probes[p].name, Vector{values[3 * p], values[3 * p + 1], values[3 * p + 2]});
  return named;
}

void Simulation::move_fixture(std::string_view name, const Motion& motion) {
  for (const Vector& v : {motion.velocity, motion.angular_velocity, motion.about.value_or(Vector{})})
    if (!to_vector(v).allFinite())
      throw InputError(fmt::format("The motion of fixture \"{}\" must be made of finite numbers.", name));
  const std::lock_guard alone(parts_->mutex);
  const std::size_t index = parts_->fixture(name);
  auto& fixture = parts_->scene.fixtures[index];
  const double now = parts_->time();
  // Half a step of slack, as where it is released.
  if (fixture.release_at && now >= *fixture.release_at - 0.5 * parts_->scene.solver.time_step)
    throw InputError(fmt::format("Fixture \"{}\" can't be moved: it was released at {:g} s and holds no particles.",
                                 name, *fixture.release_at));
  std::optional<Eigen::Vector3d> about;
  if (motion.about) about = to_vector(*motion.about);
  fixture.motion = changed(fixture.motion, now, to_vector(motion.velocity), to_vector(motion.angular_velocity), about);
  parts_->solver->change_fixture(index, fixture);
}

void Simulation::release_fixture(std::string_view name) {
  const std::lock_guard alone(parts_->mutex);
  const std::size_t index = parts_->fixture(name);
  auto& fixture = parts_->scene.fixtures[index];
  fixture.release_at = parts_->time();
  parts_->solver->change_fixture(index, fixture);
}

std::string version() { return DUCTILE_VERSION; }

std::vector<std::string> devices() {
  std::vector<std::string> names;
  for (const auto& device : list_devices()) names.push_back(device.name);
  return names;
}

}  // namespace ductile
