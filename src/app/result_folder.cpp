#include "app/result_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/error.hpp"
#include "io/vtk.hpp"

namespace ductile::app {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> history_columns(const scene::Scene& scene) {
  std::vector<std::string> columns{"step",
                                   "time",
                                   "kinetic_energy",
                                   "elastic_energy",
                                   "gravity_energy",
                                   "momentum_x",
                                   "momentum_y",
                                   "momentum_z",
                                   "angular_momentum_x",
                                   "angular_momentum_y",
                                   "angular_momentum_z",
                                   "max_speed",
                                   "min_volume_ratio",
                                   "residual",
                                   "iterations"};
  if (scene.solver.primal_residual) columns.emplace_back("primal_residual");
  return columns;
}

std::vector<std::string> probe_columns(const scene::Scene& scene) {
  std::vector<std::string> columns{"time"};
  for (const auto& probe : scene.probes)
    for (const char* axis : {"x", "y", "z"}) columns.push_back(probe.name + "." + axis);
  return columns;
}

const std::vector<std::string>& result_names() {
  static const std::vector<std::string> names{"particles",  "particles.pvd", "history.csv",
                                              "probes.csv", "run.json",      "checkpoint.bin"};
  return names;
}

constexpr const char* bookkeeping = "run";
constexpr const char* frame_folder = "particles";

/// particles_NNNNNN.vtp
bool is_frame_name(std::string_view name) {
  constexpr std::string_view head = "particles_", tail = ".vtp";
  if (!name.starts_with(head) || !name.ends_with(tail) || name.size() < head.size() + 6 + tail.size()) return false;
  name.remove_prefix(head.size());
  name.remove_suffix(tail.size());
  return name.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Unit of a field, "1" for plain numbers; empty where it depends on the material, as for plastic state.
std::string unit_of(std::string_view field) {
  static const std::map<std::string_view, std::string> units{
      {"position", "m"},          {"velocity", "m/s"},           {"cauchy_stress", "Pa"},
      {"von_mises_stress", "Pa"}, {"deformation_gradient", "1"}, {"volume_ratio", "1"}};
  const auto found = units.find(field);
  return found == units.end() ? "" : found->second;
}

/// Empty where the record has no such text.
std::string text_in(const nlohmann::ordered_json& record, const char* key) {
  const auto found = record.find(key);
  return found != record.end() && found->is_string() ? found->get<std::string>() : "";
}

std::vector<std::string> texts_in(const nlohmann::ordered_json& list) {
  std::vector<std::string> texts;
  for (const auto& entry : list)
    if (entry.is_string()) texts.push_back(entry.get<std::string>());
  return texts;
}

/// The changes that decide a result: a longer run continues a shorter one.
std::vector<std::string> without_end_time(std::vector<std::string> overrides) {
  std::erase_if(overrides, [](const std::string& change) { return change.starts_with("solver.end_time"); });
  std::ranges::sort(overrides);
  return overrides;
}

/// Meshes and cutting surfaces come from files of their own.
bool names_files(const scene::Scene& scene) {
  const auto is_mesh = [](const geometry::Shape& shape) { return std::holds_alternative<geometry::Mesh>(shape.kind); };
  return !scene.cuts.empty() ||
         std::ranges::any_of(scene.bodies, [&](const auto& body) { return is_mesh(body.shape); }) ||
         std::ranges::any_of(scene.colliders, [&](const auto& collider) { return is_mesh(collider.shape); }) ||
         std::ranges::any_of(scene.fixtures, [&](const auto& fixture) { return is_mesh(fixture.region); }) ||
         std::ranges::any_of(scene.probes, [&](const auto& probe) { return probe.region && is_mesh(*probe.region); });
}

}  // namespace

ResultFolder::ResultFolder(fs::path folder, const scene::Scene& scene, const std::vector<std::string>& overrides,
                           Existing existing)
    : folder_(std::move(folder)),
      existing_(existing),
      scene_(scene),
      overrides_(overrides),
      history_(folder_ / "history.csv", history_columns(scene)),
      probes_(folder_ / "probes.csv", probe_columns(scene)) {
  // What is judged here must stay as it is until the run writes.
  if (std::error_code error; fs::is_directory(folder_, error)) lock_.emplace(folder_);
  check_existing();
  if (existing_ != Existing::resume) return;
  read_checkpoint();
  if (!checkpoint_) check_restart();
}

void ResultFolder::open() {
  const auto make = [](const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
      throw InputError(fmt::format("The output folder {} can't be made: {}. Choose another with -o.", folder.string(),
                                   error.message()));
  };
  make(folder_);
  if (!lock_) {
    lock_.emplace(folder_);
    check_existing();  // another run may have made it
  }
  make(folder_ / frame_folder);
  io::remove_stale_temporaries(folder_);
  io::remove_stale_temporaries(folder_ / frame_folder);
  // A run that was killed before its first checkpoint starts again.
  if (existing_ == Existing::replace || (existing_ == Existing::resume && !checkpoint_)) clear();
}

void ResultFolder::check_existing() const {
  std::error_code error;
  if (fs::exists(folder_, error) && !fs::is_directory(folder_, error))
    throw InputError(fmt::format("The output folder {} is a file. Choose another with -o.", folder_.string()));
  const bool used = std::any_of(result_names().begin(), result_names().end(),
                                [&](const auto& name) { return fs::exists(folder_ / name, error); });
  if (existing_ == Existing::refuse && used)
    throw InputError(
        fmt::format("The output folder {} holds a result already. Go on with it by --resume, replace it by "
                    "--force, or choose another folder with -o.",
                    folder_.string()));
  if (existing_ == Existing::refuse && !used && fs::is_directory(folder_, error) && !fs::is_empty(folder_, error))
    throw InputError(
        fmt::format("The output folder {} is not empty and holds no result of Ductile. Choose another with -o, or put "
                    "the result beside what is there by --force.",
                    folder_.string()));
  if (existing_ == Existing::resume && !used)
    throw InputError(
        fmt::format("There is nothing to resume in {}: it holds no result. Start without --resume.", folder_.string()));
}

nlohmann::ordered_json ResultFolder::read_record() const {
  const fs::path file = folder_ / "run.json";
  if (!fs::is_regular_file(file)) return nlohmann::ordered_json::object();
  auto record = nlohmann::ordered_json::parse(io::read_whole(file), nullptr, false);
  return record.is_object() ? record : nlohmann::ordered_json::object();
}

bool ResultFolder::holds_result() const {
  std::error_code error;
  for (const auto& name : result_names())
    if (name != frame_folder && fs::exists(folder_ / name, error)) return true;
  for (const auto& entry : fs::directory_iterator(folder_ / frame_folder, error))
    if (is_frame_name(entry.path().filename().string())) return true;
  return false;
}

void ResultFolder::check_restart() const {
  if (!holds_result()) return;  // killed before it wrote anything
  const auto record = read_record();
  constexpr const char* ways = "It is kept as it is: use another folder (-o), or replace it by --force.";
  if (text_in(record, "scene_digest").empty())
    throw InputError(
        fmt::format("{} holds a result without a checkpoint, and no run.json that says which run it is of. {}",
                    folder_.string(), ways));
  if (text_in(record, "scene_digest") != scene_.digest)
    throw InputError(fmt::format("{} {} It has no checkpoint either. {}", folder_.string(), how_it_differs(), ways));
  if (text_in(record, "status") == "finished")
    throw InputError(
        fmt::format("{} holds the complete result of this scene, without a checkpoint: there is nothing "
                    "to resume. {}",
                    folder_.string(), ways));
}

std::string ResultFolder::how_it_differs() const {
  const auto record = read_record();
  if (text_in(record, "scene_sha256") != scene_.sha256)
    return "was written for another scene: a result can only be resumed with the same scene and --set values "
           "(solver.end_time may differ).";
  const auto found = record.find("overrides");
  const bool known = found != record.end() && found->is_array();
  const auto earlier = without_end_time(known ? texts_in(*found) : std::vector<std::string>{});
  const auto now = without_end_time(overrides_);
  const auto listed = [](const std::vector<std::string>& changes) {
    return changes.empty() ? "none" : fmt::format("{}", fmt::join(changes, ", "));
  };
  if (earlier != now)
    return fmt::format("was written with other --set values: {}{}; now {}.", listed(earlier),
                       known ? "" : " that it knows of", listed(now));
  return fmt::format("was written for the same scene file by an earlier version of Ductile, whose defaults differ{}{}.",
                     names_files(scene_) ? ", or a file that the scene names has changed since" : "",
                     known ? "" : ", or with --set values that it does not tell");
}

void ResultFolder::clear() {
  const auto remove = [](const fs::path& file) {
    std::error_code error;
    if (fs::remove(file, error); error)
      throw InputError(fmt::format("The old result {} can't be removed: {}. Choose another folder with -o.",
                                   file.string(), error.message()));
  };
  // Frames first: what else is in their folder is not ours.
  std::vector<fs::path> frames;
  for (const auto& entry : fs::directory_iterator(folder_ / frame_folder))
    if (is_frame_name(entry.path().filename().string())) frames.push_back(entry.path());
  for (const auto& frame : frames) remove(frame);
  for (const auto& name : result_names())
    if (name != frame_folder) remove(folder_ / name);
}

void ResultFolder::read_checkpoint() {
  const fs::path file = checkpoint_file();
  if (!fs::exists(file)) return;
  auto checkpoint = io::read_checkpoint(file);
  if (checkpoint.scene_digest != scene_.digest)
    throw InputError(
        fmt::format("{} {} Use another folder (-o), or start again with --force.", file.string(), how_it_differs()));
  if (checkpoint.backend != backend_name())
    throw InputError(
        fmt::format("{} was written by the {} back end and this is {}: resume it with the same one, so that "
                    "the result stays reproducible.",
                    file.string(), checkpoint.backend, backend_name()));
  checkpoint_ = std::move(checkpoint);
}

double ResultFolder::restore(Solver& solver) {
  const auto block = std::find_if(checkpoint_->blocks.begin(), checkpoint_->blocks.end(),
                                  [](const auto& b) { return b.name == bookkeeping; });
  if (block == checkpoint_->blocks.end())
    throw InputError(
        fmt::format("{} lacks its bookkeeping. Start the run again with --force.", checkpoint_file().string()));
  const auto json = nlohmann::json::parse(reinterpret_cast<const char*>(block->bytes.data()),
                                          reinterpret_cast<const char*>(block->bytes.data()) + block->bytes.size());
  std::vector<StateBlock> blocks;
  for (auto& b : checkpoint_->blocks) blocks.push_back({b.name, std::move(b.bytes)});
  history_.go_on(json.at("history_rows").get<std::size_t>());
  if (!scene_.probes.empty())
    probes_.go_on(json.at("probe_rows").get<std::size_t>());
  else  // the times alone, which the history has too: earlier versions wrote no such file
    for (const double time : io::CsvTable::read(history_.path()).column("time"))
      if (probes_.rows() < history_.rows()) probes_.add({time});
  frames_.clear();
  for (const auto& frame : json.at("frames")) {
    frames_.emplace_back(frame.at(0).get<double>(), frame.at(1).get<std::string>());
    if (const fs::path file = folder_ / frames_.back().second; !fs::is_regular_file(file))
      throw InputError(
          fmt::format("{} is missing, so this result can't be made whole. Put it back, or start the run "
                      "again with --force.",
                      file.string()));
  }
  solver.restore(json.at("step").get<long long>(), blocks);
  checkpoint_.reset();
  return json.at("wall_seconds").get<double>();
}

void ResultFolder::record(long long step, double time, const StepReport& r, const std::vector<double>& probes) {
  std::vector<double> row{double(step),           time,
                          r.kinetic_energy,       r.elastic_energy,
                          r.gravity_energy,       r.momentum.x(),
                          r.momentum.y(),         r.momentum.z(),
                          r.angular_momentum.x(), r.angular_momentum.y(),
                          r.angular_momentum.z(), r.max_speed,
                          r.min_volume_ratio,     r.residual,
                          double(r.iterations)};
  if (scene_.solver.primal_residual) row.push_back(r.primal_residual);
  history_.add(row);
  row = {time};
  row.insert(row.end(), probes.begin(), probes.end());
  probes_.add(row);
}

void ResultFolder::write_frame(Solver& solver, double time) {
  const auto to_point_data = [](ParticleField&& field) {
    io::PointData data{std::move(field.name), field.components, {}};
    data.unit = unit_of(data.name);
    std::visit([&](auto& values) { data.values = std::move(values); }, field.values);
    return data;
  };
  std::vector<io::PointData> data;
  std::vector<std::int64_t> id(solver.particles());
  for (std::size_t i = 0; i < id.size(); ++i) id[i] = std::int64_t(i);
  data.push_back({"id", 1, std::move(id)});
  data.push_back({"body", 1, solver.body_of_particle()});
  for (const auto field : scene_.output.fields) data.push_back(to_point_data(solver.field(field)));
  const std::string name = fmt::format("particles/particles_{:06}.vtp", frames_.size());
  io::write_particles(folder_ / name, to_point_data(solver.positions()), data, time);
  frames_.emplace_back(time, name);
  io::write_collection(folder_ / "particles.pvd", frames_);
}

void ResultFolder::drop_last_frame() {
  frames_.pop_back();
  // The file stays until the next frame takes its name: the checkpoint on disk still counts it.
  io::write_collection(folder_ / "particles.pvd", frames_);
}

void ResultFolder::write_tables() {
  history_.write();
  probes_.write();
}

void ResultFolder::write_checkpoint(Solver& solver, double wall_seconds) {
  write_tables();
  nlohmann::json json{{"step", solver.step()},
                      {"history_rows", history_.rows()},
                      {"probe_rows", probes_.rows()},
                      {"wall_seconds", wall_seconds},
                      {"frames", frames_}};
  const std::string text = json.dump();
  io::Checkpoint checkpoint{scene_.digest, backend_name(), {}};
  checkpoint.blocks.push_back({bookkeeping, std::vector<std::byte>(text.size())});
  std::memcpy(checkpoint.blocks.back().bytes.data(), text.data(), text.size());
  for (auto& block : solver.save()) checkpoint.blocks.push_back({std::move(block.name), std::move(block.bytes)});
  io::write_checkpoint(checkpoint_file(), checkpoint);
}

void ResultFolder::write_run_record(const nlohmann::ordered_json& record) {
  // Names of files need not be UTF-8, JSON must.
  io::write_whole(folder_ / "run.json",
                  record.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void ResultFolder::finish_record(long long steps, double wall_seconds) {
  auto record = read_record();
  if (text_in(record, "status") == "finished") return;
  record["steps"] = steps;
  record["wall_seconds"] = wall_seconds;
  record["status"] = "finished";
  write_run_record(record);
}

}  // namespace ductile::app
