#include "ductile/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scene/scene.hpp"
#include "scene/text.hpp"
#include "scene/words.hpp"
#include "solvers/motion.hpp"
#include "solvers/solver.hpp"

namespace ductile {

struct Simulation::Parts {
  Parts(scene::Scene read, const Options& options)
      : scene(std::move(read)), queue({options.device, options.threads}), solver(make_solver(scene, queue)) {}

  [[nodiscard]] double time() const { return double(solver->step()) * scene.solver.time_step; }
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
  std::vector<std::string_view> known{"position"};
  const auto& words = scene::Words<scene::Field>::all;
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (words[k] == name) return static_cast<scene::Field>(k);
    known.push_back(words[k]);
  }
  throw InputError(fmt::format("There is no field \"{}\": known are {}.", name, fmt::join(known, ", ")));
}

}  // namespace

Simulation::Simulation(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;
Simulation::~Simulation() = default;

Simulation Simulation::load(const std::filesystem::path& file) { return load(file, {}); }
Simulation Simulation::load(const std::filesystem::path& file, const Options& options) {
  return Simulation(std::make_unique<Parts>(scene::read_scene(file, options.overrides), options));
}
Simulation Simulation::parse(const std::string& text) { return parse(text, {}); }
Simulation Simulation::parse(const std::string& text, const Options& options, const std::filesystem::path& folder) {
  return Simulation(std::make_unique<Parts>(scene::parse_scene(text, folder / "scene", options.overrides), options));
}

const std::string& Simulation::title() const { return parts_->scene.title; }
std::size_t Simulation::particles() const { return parts_->solver->particles(); }
const std::vector<std::int32_t>& Simulation::bodies() const { return parts_->solver->body_of_particle(); }
long long Simulation::step() const { return parts_->solver->step(); }
double Simulation::time() const { return parts_->time(); }
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
  if (steps == 0) return state();
  StepReport report;
  for (long long k = 0; k < steps; ++k) report = parts_->solver->advance();
  return to_state(report, step(), time());
}

Simulation::State Simulation::state() { return to_state(parts_->solver->measure(), step(), time()); }

Simulation::Field Simulation::field(std::string_view name) {
  ParticleField found = name == "position" ? parts_->solver->positions() : parts_->solver->field(field_of(name));
  return {std::move(found.name), found.components, std::move(found.values)};
}

std::vector<std::pair<std::string, Simulation::Vector>> Simulation::probes() {
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
  const std::size_t index = parts_->fixture(name);
  auto& fixture = parts_->scene.fixtures[index];
  std::optional<Eigen::Vector3d> about;
  if (motion.about) about = to_vector(*motion.about);
  fixture.motion =
      changed(fixture.motion, time(), to_vector(motion.velocity), to_vector(motion.angular_velocity), about);
  parts_->solver->change_fixture(index, fixture);
}

void Simulation::release_fixture(std::string_view name) {
  const std::size_t index = parts_->fixture(name);
  auto& fixture = parts_->scene.fixtures[index];
  fixture.release_at = time();
  parts_->solver->change_fixture(index, fixture);
}

std::string version() { return DUCTILE_VERSION; }

std::vector<std::string> devices() {
  std::vector<std::string> names;
  for (const auto& device : list_devices()) names.push_back(device.name);
  return names;
}

}  // namespace ductile
