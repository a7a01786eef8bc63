#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/checkpoint.hpp"
#include "io/csv.hpp"
#include "io/files.hpp"
#include "scene/scene.hpp"
#include "solvers/solver.hpp"

namespace ductile::app {

/// What a run leaves: particles.pvd and its frames, history.csv, probes.csv, run.json, checkpoint.bin. Each file is
/// whole at every moment, and a checkpoint never knows more than the tables on disk.
class ResultFolder {
 public:
  enum class Existing { refuse, resume, replace };

  /// Touches nothing yet, but throws InputError if the folder holds a result already, or one that is not to be resumed,
  /// or if another run is writing there.
  /// `overrides` are those that the scene was read with.
  ResultFolder(std::filesystem::path folder, const scene::Scene& scene, const std::vector<std::string>& overrides,
               Existing existing);

  /// Makes the folder ready, or throws InputError: it has come into use meanwhile or can't be written.
  void open();

  [[nodiscard]] const std::filesystem::path& path() const { return folder_; }
  [[nodiscard]] bool has_checkpoint() const { return checkpoint_.has_value(); }
  /// A run can be resumed from what is on disk.
  [[nodiscard]] bool is_saved() const { return std::filesystem::exists(checkpoint_file()); }
  /// Puts the solver, and the tables with it, where the checkpoint was written; returns the seconds spent until then.
  double restore(Solver& solver);

  void record(long long step, double time, const StepReport& report, const std::vector<double>& probes);
  void write_frame(Solver& solver, double time);
  void write_checkpoint(Solver& solver, double wall_seconds);
  void write_tables();
  void write_run_record(const nlohmann::ordered_json& record);
  /// For a run that was killed after its last checkpoint and before it could say so in run.json.
  void finish_record(long long steps, double wall_seconds);
  [[nodiscard]] std::size_t frames() const { return frames_.size(); }
  [[nodiscard]] double last_frame_time() const { return frames_.back().first; }
  /// The next frame takes its place.
  void drop_last_frame();

 private:
  [[nodiscard]] std::filesystem::path checkpoint_file() const { return folder_ / "checkpoint.bin"; }
  void check_existing() const;
  /// A run without a checkpoint starts again and removes what is there: that must be its own, and unfinished.
  void check_restart() const;
  [[nodiscard]] bool holds_result() const;
  /// run.json, an empty object where it is missing or damaged.
  [[nodiscard]] nlohmann::ordered_json read_record() const;
  /// In which way a result with another digest is not one of this scene.
  [[nodiscard]] std::string how_it_differs() const;
  void clear();
  void read_checkpoint();

  std::filesystem::path folder_;
  Existing existing_;
  const scene::Scene& scene_;
  const std::vector<std::string>& overrides_;
  std::optional<io::FolderLock> lock_;
  std::optional<io::Checkpoint> checkpoint_;
  io::CsvFile history_, probes_;
  std::vector<std::pair<double, std::string>> frames_;
};

}  // namespace ductile::app
