#include "app/run.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>

#include "app/advice.hpp"
#include "app/progress.hpp"
#include "app/result_folder.hpp"
#include "app/text.hpp"
#include "app/version.hpp"
#include "common/error.hpp"

namespace ductile::app {

namespace {

/// How soon to stop: 0 not at all, 1 after the next frame, 2 after the present step.
volatile std::sig_atomic_t stop_level = 0;

/// The first Ctrl-C lets the frame be finished, the second the step; the third ends the program at once, which harms no
/// file either.
void interrupt(int) {
  stop_level = stop_level + 1;
  if (stop_level >= 2) std::signal(SIGINT, SIG_DFL);
}
/// Batch systems send SIGTERM a short while before they kill, a terminal that is closed SIGHUP.
void terminate(int) { stop_level = 2; }

/// A signal and what is done about it. What the caller had ignored stays ignored: `nohup` does that to SIGHUP, a script
/// to SIGINT of its background jobs. To be made before a back end sets handlers of its own.
struct Answer {
  int signal;
  void (*handler)(int);

  Answer(int signal_number, void (*usual)(int)) : signal(signal_number), handler(usual) {
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) handler = SIG_IGN;
  }
  void give() const { std::signal(signal, handler); }
};

/// As one word for a shell.
std::string quoted(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_-+=./,:@%") == std::string::npos;
  if (plain) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

double peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * double(usage.ru_maxrss);
}

/// Steps in a time, at least one; far beyond any run, times are alike.
long long steps_in(double time, double time_step) {
  return std::max(1LL, std::llround(std::min(time / time_step, 1e15)));
}

/// When frames and checkpoints are due.
struct Schedule {
  long long last_step, checkpoint_steps;
  double frame_steps;

  explicit Schedule(const scene::Scene& scene)
      : last_step(steps_in(scene.solver.end_time, scene.solver.time_step)),
        checkpoint_steps(steps_in(scene.output.checkpoint_interval, scene.solver.time_step)),
        frame_steps(std::max(1.0, scene.output.interval / scene.solver.time_step)) {}
  [[nodiscard]] bool frame_due(long long step, std::size_t frames) const { return step >= frame_step(frames); }
  /// The step that ends the frame after these.
  [[nodiscard]] long long frame_step(std::size_t frames) const {
    return std::llround(std::min(double(last_step), double(frames) * frame_steps));
  }
};

/// One run: the solver, its folder, and the clock.
class Run {
 public:
  Run(const scene::Scene& scene, const RunOptions& options, ResultFolder& folder)
      : scene_(scene),
        options_(options),
        folder_(folder),
        schedule_(scene),
        queue_({options.device, options.threads}),
        solver_(make_solver(scene, queue_)) {
    queue_.wait();
    setup_seconds_ = seconds_since(start_);
    folder_.open();
  }

  int execute() {
    if (folder_.has_checkpoint()) {
      earlier_seconds_ = folder_.restore(*solver_);
      if (solver_->step() > schedule_.last_step) {
        say(fmt::format("{} has {} steps already, beyond the {} that end at {:g} s: the longer result is kept.\n",
                        folder_.path().string(), solver_->step(), schedule_.last_step, scene_.solver.end_time));
        return 0;
      }
      if (solver_->step() == schedule_.last_step) {
        folder_.finish_record(solver_->step(), earlier_seconds_);
        say(fmt::format("{} is complete already ({} steps).\n", folder_.path().string(), solver_->step()));
        return 0;
      }
      say(fmt::format("resuming at step {} (t = {:.4g} s)\n", solver_->step(), time()));
      drop_early_end();
    } else if (options_.resume) {
      say(fmt::format("there is no checkpoint in {} yet: the run starts again\n", folder_.path().string()));
    }
    greet();
    write_record("running");
    first_step_ = solver_->step();
    try {
      return loop();
    } catch (const std::exception&) {
      try {
        folder_.write_tables();
        write_record("failed");
      } catch (const std::exception&) {  // the disk may be the reason; what it holds is still whole
      }
      throw;
    }
  }

  [[nodiscard]] std::string how_to_go_on() const {
    if (!folder_.is_saved())
      return fmt::format("There was no checkpoint in {} yet; start again with:\n  {}", folder_.path().string(),
                         resume_command());
    return fmt::format("The result up to the last checkpoint is whole in {}; go on with:\n  {}",
                       folder_.path().string(), resume_command());
  }

 private:
  using Clock = std::chrono::steady_clock;
  /// What the user types to go on; DUCTILE_COMMAND is how a script around this program is called.
  [[nodiscard]] std::string resume_command() const {
    const char* script = std::getenv("DUCTILE_COMMAND");
    std::string command = fmt::format("{} run {} -o {}", script != nullptr ? script : quoted(options_.program),
                                      quoted(options_.scene.string()), quoted(folder_.path().string()));
    for (const auto& change : options_.overrides) command += " --set " + quoted(change);
    if (options_.threads > 0) command += fmt::format(" --threads {}", options_.threads);
    if (!options_.device.empty()) command += " --device " + quoted(options_.device);
    return command + (options_.quiet ? " --quiet --resume" : " --resume");
  }
  static double seconds_since(Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  }
  [[nodiscard]] double time() const { return double(solver_->step()) * scene_.solver.time_step; }
  [[nodiscard]] double wall_seconds() const { return earlier_seconds_ + seconds_since(start_); }
  /// Particle-iterations of the steps made here, as they reported them: `tolerance` ends some earlier.
  [[nodiscard]] double work() const { return double(solver_->particles()) * double(iterations_); }
  void say(const std::string& text) const {
    if (!options_.quiet) tell(text);
  }

  /// A run that is made longer has no frame where the shorter one ended, unless one is due there.
  void drop_early_end() {
    if (folder_.frames() < 2) return;
    const long long last = std::llround(folder_.last_frame_time() / scene_.solver.time_step);
    if (last < schedule_.frame_step(folder_.frames() - 1)) folder_.drop_last_frame();
  }

  /// What makes a step fail comes again after a resume, and only end_time may change there.
  StepReport advance() {
    try {
      return solver_->advance();
    } catch (const DivergenceError&) {
      throw;
    } catch (const SimulationError& error) {
      throw DivergenceError(fmt::format(
          "{} --resume can't change the step: start again with a shorter one, --set solver.time_step=SECONDS "
          "--force.",
          error.what()));
    }
  }

  int loop() {
    Progress progress(solver_->step(), schedule_.last_step, scene_.solver.time_step, options_.quiet);
    if (solver_->step() == 0) {
      folder_.record(0, 0, solver_->measure(), solver_->probe());
      folder_.write_frame(*solver_, 0);
    }
    while (solver_->step() < schedule_.last_step) {
      const auto step_start = Clock::now();
      const StepReport report = advance();
      step_seconds_ += seconds_since(step_start);
      iterations_ += report.iterations;
      folder_.record(solver_->step(), time(), report, solver_->probe());
      const bool frame = schedule_.frame_due(solver_->step(), folder_.frames());
      if (frame) folder_.write_frame(*solver_, time());
      const bool stop = stop_level >= 2 || (stop_level == 1 && frame);
      if (stop || solver_->step() % schedule_.checkpoint_steps == 0 || solver_->step() == schedule_.last_step)
        folder_.write_checkpoint(*solver_, wall_seconds());
      progress.update(solver_->step(), work(), report.min_volume_ratio);
      if (report.min_volume_ratio < worst_volume_ratio_) {
        worst_volume_ratio_ = report.min_volume_ratio;
        worst_step_ = solver_->step();
      }
      if (report.min_volume_ratio > widest_volume_ratio_) {
        widest_volume_ratio_ = report.min_volume_ratio;
        widest_step_ = solver_->step();
      }
      if (stop && solver_->step() < schedule_.last_step) {
        progress.finish();
        write_record("interrupted");
        tell(fmt::format("Interrupted after step {} (t = {:.4g} s); all is saved. Go on with:\n  {}\n", solver_->step(),
                         time(), resume_command()));
        return 130;
      }
      if (stop_level == 1 && !told_) tell_of_stopping(progress);
    }
    progress.finish();
    write_record("finished");
    farewell();
    warn_of_inversion();
    warn_of_explosion();
    return 0;
  }

  /// Bodies that start scrambled or flattened are inside out on purpose.
  [[nodiscard]] bool starts_at_rest() const {
    return std::all_of(scene_.bodies.begin(), scene_.bodies.end(),
                       [](const auto& body) { return body.initial.at_rest(); });
  }

  /// Solids that fly apart below the stretch at which a run ends. What flows may come apart.
  void warn_of_explosion() const {
    constexpr double beyond_solids = 10;
    const bool elastic = std::all_of(scene_.materials.begin(), scene_.materials.end(), [](const auto& material) {
      return std::holds_alternative<std::monostate>(material.plastic);
    });
    if (!(widest_volume_ratio_ > beyond_solids) || !elastic || !starts_at_rest()) return;
    say(fmt::format(
        "  warning: in step {} (t = {:.4g} s) every particle had at least {:.3g} times its volume: the bodies flew "
        "apart. Look at velocities and loads; then try a shorter step, more iterations or a stiffer material.\n",
        widest_step_, double(widest_step_) * scene_.solver.time_step, widest_volume_ratio_));
  }

  void warn_of_inversion() const {
    if (!(worst_volume_ratio_ <= 0) || !starts_at_rest()) return;
    say(fmt::format(
        "  warning: in step {} (t = {:.4g} s) matter was turned inside out (volume ratio {:.3g}): a load or impact "
        "beyond what the material and this step bear. Try a shorter step, more iterations or a stiffer material.\n",
        worst_step_, double(worst_step_) * scene_.solver.time_step, worst_volume_ratio_));
  }

  void tell_of_stopping(Progress& progress) {
    told_ = true;
    progress.finish();
    const long long steps = schedule_.frame_step(folder_.frames()) - solver_->step();
    const double seconds = double(steps) * step_seconds_ / double(std::max(1LL, solver_->step() - first_step_));
    tell(fmt::format("Finishing the frame (about {}); Ctrl-C again stops after the present step.\n",
                     format_seconds(seconds)));
  }

  void greet() const {
    say(
        fmt::format("{}\n  {} particles, {:.1f} neighbours each, {} steps of {:g} s, {} iterations\n  {} on {}, {} "
                    "precision, {} thread{}\n",
                    scene_.title, solver_->particles(), solver_->mean_neighbours(), schedule_.last_step,
                    scene_.solver.time_step, scene_.solver.iterations, backend_name(), queue_.device().name,
                    precision_name(), queue_.threads(), queue_.threads() == 1 ? "" : "s"));
    for (const auto& warning : solver_warnings(scene_)) say(fmt::format("  warning: {}\n", warning));
    if (options_.quiet || scene_.colliders.empty() || solver_->step() > 0) return;
    std::vector<Eigen::Vector3d> position;
    std::visit(
        [&](const auto& x) {
          for (std::size_t i = 0; i < x.size(); i += 3)
            position.emplace_back(double(x[i]), double(x[i + 1]), double(x[i + 2]));
        },
        solver_->positions().values);
    for (const auto& warning : start_warnings(scene_, position, solver_->body_of_particle()))
      say(fmt::format("  warning: {}\n", warning));
  }

  void farewell() {
    if (options_.quiet) return;
    double total = 0;
    auto phases = queue_.timers().phases();
    std::sort(phases.begin(), phases.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
    for (const auto& phase : phases) total += phase.seconds;
    const double wall = seconds_since(start_);
    std::vector<std::vector<std::string>> rows{{"phase", "time", "share", "launches"}};
    const auto share = [&](double seconds) { return fmt::format("{:.1f} %", 100 * seconds / wall); };
    for (const auto& phase : phases)
      rows.push_back({phase.name, format_seconds(phase.seconds), share(phase.seconds), std::to_string(phase.launches)});
    rows.push_back({"set-up, output and host", format_seconds(wall - total), share(wall - total), ""});
    fmt::print("{}  {} wall time, {} particle-iterations/s in the steps, {} memory at most\n  results: {}\n",
               format_table(rows), format_seconds(wall), format_count(throughput()), format_bytes(peak_memory()),
               folder_.path().string());
  }

  [[nodiscard]] const char* precision_name() const {
    return scene_.solver.precision == scene::Precision::double_precision ? "double" : "single";
  }
  /// The scale of stresses, which rounding is relative to.
  [[nodiscard]] double largest_youngs_modulus() const {
    double largest = 0;
    for (const auto& material : scene_.materials) largest = std::max(largest, material.elastic.youngs_modulus);
    return largest;
  }
  [[nodiscard]] double throughput() const { return step_seconds_ > 0 ? work() / step_seconds_ : 0; }

  void write_record(const std::string& status) {
    nlohmann::ordered_json phases;
    for (const auto& phase : queue_.timers().phases())
      phases[phase.name] = {{"seconds", phase.seconds}, {"launches", phase.launches}};
    const nlohmann::ordered_json json{{"title", scene_.title},
                                      {"scene", scene_.file.filename().string()},
                                      {"scene_sha256", scene_.sha256},
                                      {"scene_digest", scene_.digest},
                                      {"overrides", options_.overrides},
                                      {"version", version},
                                      {"backend", backend_name()},
                                      {"device", queue_.device().name},
                                      {"compiler", backend_compiler()},
                                      {"precision", precision_name()},
                                      {"threads", queue_.threads()},
                                      {"particles", solver_->particles()},
                                      {"mean_neighbours", solver_->mean_neighbours()},
                                      {"largest_youngs_modulus", largest_youngs_modulus()},
                                      {"time_step", scene_.solver.time_step},
                                      {"iterations", scene_.solver.iterations},
                                      {"steps", solver_->step()},
                                      {"wall_seconds", wall_seconds()},
                                      {"set_up_seconds", setup_seconds_},
                                      {"step_seconds", step_seconds_},
                                      {"particle_iterations_per_second", throughput()},
                                      {"peak_memory_bytes", std::llround(peak_memory())},
                                      {"phases", phases},
                                      {"status", status}};
    folder_.write_run_record(json);
  }

  const scene::Scene& scene_;
  const RunOptions& options_;
  ResultFolder& folder_;
  Schedule schedule_;
  Clock::time_point start_ = Clock::now();
  Queue queue_;
  std::unique_ptr<Solver> solver_;
  double setup_seconds_ = 0, earlier_seconds_ = 0, step_seconds_ = 0;
  long long first_step_ = 0, worst_step_ = 0, widest_step_ = 0, iterations_ = 0;
  double worst_volume_ratio_ = std::numeric_limits<double>::infinity();
  double widest_volume_ratio_ = 0;  ///< the largest of the smallest in a step
  bool told_ = false;               ///< that the run will stop at the next frame
};

}  // namespace

int run(const RunOptions& options) {
  const scene::Scene scene = scene::read_scene(options.scene_file, options.overrides);
  const auto output = options.output.empty() ? std::filesystem::path("results") / options.scene.stem() : options.output;
  if (options.resume && options.force) throw InputError("--resume and --force contradict each other: give one.");
  using Existing = ResultFolder::Existing;
  ResultFolder folder(output, scene, options.overrides,
                      options.resume  ? Existing::resume
                      : options.force ? Existing::replace
                                      : Existing::refuse);
  const Answer answers[]{{SIGINT, interrupt}, {SIGTERM, terminate}, {SIGHUP, terminate}};
  // Until the bodies are sampled there is nothing to save: a signal simply ends the program.
  Run simulation(scene, options, folder);
  for (const auto& answer : answers) answer.give();
  std::signal(SIGPIPE, SIG_IGN);  // the reader of the progress may leave
  try {
    return simulation.execute();
  } catch (const DivergenceError& error) {
    throw SimulationError(
        fmt::format("{} The frames and tables written before are whole in {}.", error.what(), output.string()));
  } catch (const SimulationError& error) {
    throw SimulationError(fmt::format("{} {}", error.what(), simulation.how_to_go_on()));
  } catch (const std::bad_alloc&) {
    throw SimulationError("There is not enough memory left for this run. " + simulation.how_to_go_on());
  }
}

}  // namespace ductile::app
