#pragma once

#include <filesystem>
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

  /// Touches nothing yet, but throws InputError if the folder holds a result already or one of another scene.
  ResultFolder(std::filesystem::path folder, const scene::Scene& scene, Existing existing);

  /// Takes hold of the folder and makes it ready, or throws InputError: it is in use or can't be written.
  void open();

  [[nodiscard]] const std::filesystem::path& path() const { return folder_; }
  [[nodiscard]] bool has_checkpoint() const { return checkpoint_.has_value(); }
  /// Puts the solver, and the tables with it, where the checkpoint was written; returns the seconds spent until then.
  double restore(Solver& solver);

  void record(long long step, double time, const StepReport& report, const std::vector<double>& probes);
  void write_frame(Solver& solver, double time);
  void write_checkpoint(Solver& solver, double wall_seconds);
  void write_tables();
  void write_run_record(const std::string& json);
  [[nodiscard]] std::size_t frames() const { return frames_.size(); }
  [[nodiscard]] double last_frame_time() const { return frames_.back().first; }
  /// The next frame takes its place.
  void drop_last_frame();

 private:
  void check_existing() const;
  void clear();
  void read_checkpoint();

  std::filesystem::path folder_;
  Existing existing_;
  const scene::Scene& scene_;
  std::optional<io::FolderLock> lock_;
  std::optional<io::Checkpoint> checkpoint_;
  io::CsvFile history_, probes_;
  std::vector<std::pair<double, std::string>> frames_;
};

}  // namespace ductile::app
