// The program as a user runs it: what it writes, how it fails, and that nothing is lost.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <thread>

#include "io/csv.hpp"
#include "io/vtk.hpp"
#include "scene/scene.hpp"
#include "solvers/particles.hpp"

namespace {

namespace fs = std::filesystem;
using namespace ductile;
using namespace std::chrono_literals;

std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

class App : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ductile_app_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path at(const std::string& name) const { return folder_ / name; }

  /// A soft block that falls onto the ground, a few hundred particles.
  fs::path write_scene(const std::string& changes = "", const std::string& bodies = "") const {
    std::ofstream(at("scene.toml")) << R"(title = "test block"
[solver]
method = "total-lagrangian"
time_step = 1e-3
end_time = 0.12
iterations = 5
)" << changes << R"(
[materials.rubber]
density = 1000.0
elastic = { model = "neo-hookean", youngs_modulus = 1e5, poisson_ratio = 0.3 }
[[bodies]]
name = "block"
material = "rubber"
spacing = 0.05
shape = { type = "box", size = [0.4, 0.4, 0.4] }
position = [0, 0, 0.205]
angular_velocity = [0, 1, 0]
)" << bodies << R"([[colliders]]
shape = { type = "plane", normal = [0, 0, 1], point = [0, 0, 0] }
friction = 0.3
[[probes]]
name = "middle"
body = "block"
[output]
interval = 0.02
checkpoint_interval = 0.03
)";
    return at("scene.toml");
  }

  /// Starts the program; its standard error goes to a file. `prepare` runs in the new process.
  pid_t start(
      const std::vector<std::string>& arguments, const std::function<void()>& prepare = [] {}) const {
    const pid_t child = fork();
    if (child != 0) return child;
    const int error = open(at("stderr").c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0644);
    const int output = open(at("stdout").c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0644);
    dup2(error, STDERR_FILENO);
    dup2(output, STDOUT_FILENO);
    prepare();
    std::vector<char*> argv{const_cast<char*>(DUCTILE_EXECUTABLE)};
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execv(DUCTILE_EXECUTABLE, argv.data());
    _exit(127);
  }
  static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  int run(
      const std::vector<std::string>& arguments, const std::function<void()>& prepare = [] {}) const {
    return wait_for(start(arguments, prepare));
  }
  [[nodiscard]] std::string error() const { return read(at("stderr")); }
  void expect_error(int code, const std::vector<std::string>& arguments, const std::vector<std::string>& words) const {
    EXPECT_EQ(run(arguments), code) << error();
    for (const auto& word : words)
      EXPECT_NE(error().find(word), std::string::npos) << "no \"" << word << "\" in: " << error();
  }

  static void expect_same_result(const fs::path& a, const fs::path& b) {
    std::size_t compared = 0;
    for (const auto& entry : fs::recursive_directory_iterator(a)) {
      const auto name = entry.path().filename();
      if (entry.is_directory() || name == "run.json" || name == "checkpoint.bin") continue;
      ++compared;
      EXPECT_EQ(read(entry.path()), read(b / fs::relative(entry.path(), a))) << name;
    }
    EXPECT_GE(compared, 10u);
    for (const auto& entry : fs::recursive_directory_iterator(b))
      EXPECT_TRUE(fs::exists(a / fs::relative(entry.path(), b))) << entry.path() << " is left over";
  }

  fs::path folder_;
};

TEST_F(App, RunLeavesWhatItPromises) {
  ASSERT_EQ(run({"run", write_scene(), "-o", at("out")}), 0) << error();
  const std::string history = read(at("out") / "history.csv");
  EXPECT_EQ(
      history.substr(0, history.find('\n')),
      "step,time,kinetic_energy,elastic_energy,gravity_energy,momentum_x,momentum_y,momentum_z,angular_momentum_x,"
      "angular_momentum_y,angular_momentum_z,max_speed,min_volume_ratio,residual,iterations");
  EXPECT_EQ(std::count(history.begin(), history.end(), '\n'), 122);  // head, start and 120 steps
  const std::string probes = read(at("out") / "probes.csv");
  EXPECT_EQ(probes.substr(0, probes.find('\n')), "time,middle.x,middle.y,middle.z");
  for (int frame = 0; frame <= 6; ++frame)
    EXPECT_TRUE(fs::exists(at("out") / "particles" / ("particles_00000" + std::to_string(frame) + ".vtp"))) << frame;
  EXPECT_FALSE(fs::exists(at("out") / "particles" / "particles_000007.vtp"));
  const auto record = nlohmann::json::parse(read(at("out") / "run.json"));
  for (const char* key : {"title", "scene_sha256", "version", "backend", "device", "compiler", "precision", "threads",
                          "particles", "mean_neighbours", "steps", "wall_seconds", "particle_iterations_per_second",
                          "peak_memory_bytes", "phases", "status", "overrides", "largest_youngs_modulus"})
    EXPECT_TRUE(record.contains(key)) << key;
  EXPECT_EQ(record.at("status"), "finished");
  EXPECT_EQ(record.at("particles"), 512);
  EXPECT_EQ(record.at("steps"), 120);
  EXPECT_NE(read(at("stdout")).find("results: " + at("out").string()), std::string::npos);
}

TEST_F(App, WithoutProbesTheirTableHasTheTimes) {
  write_scene();
  std::string text = read(at("scene.toml"));
  const auto probes = text.find("[[probes]]");
  text.erase(probes, text.find("[output]") - probes);
  std::ofstream(at("scene.toml")) << text;
  ASSERT_EQ(run({"run", at("scene.toml"), "-o", at("whole"), "-q"}), 0) << error();
  const auto table = ductile::io::CsvTable::read(at("whole") / "probes.csv");
  EXPECT_EQ(table.columns(), std::vector<std::string>{"time"});
  EXPECT_EQ(table.column("time"), ductile::io::CsvTable::read(at("whole") / "history.csv").column("time"));
  // Goes on from a result with the table, and from one of an earlier version without.
  for (const bool had : {true, false}) {
    const std::vector<std::string> part{"run", at("scene.toml"), "-o", at("out"), "-q", "--set"};
    auto first = part, rest = part;
    first.insert(first.end(), {"solver.end_time=0.06", "--force"});
    rest.insert(rest.end(), {"solver.end_time=0.12", "--resume"});
    ASSERT_EQ(run(first), 0) << error();
    if (!had) fs::remove(at("out") / "probes.csv");
    ASSERT_EQ(run({"compare", at("whole"), at("out")}), 0) << error();
    EXPECT_EQ(read(at("stdout")).find("probes.csv"), std::string::npos) << read(at("stdout"));
    ASSERT_EQ(run(rest), 0) << error();
    expect_same_result(at("whole"), at("out"));
  }
}

TEST_F(App, NumbersOfThingsAreIntegers) {
  write_scene();
  for (const std::string precision : {"single", "double"}) {
    ASSERT_EQ(run({"run", at("scene.toml"), "-o", at("out"), "-q", "--force", "--set", "solver.end_time=0.001", "--set",
                   "output.fields=[\"velocity\", \"piece\"]", "--set", "solver.precision=" + precision}),
              0)
        << error();
    const std::string frame = read(at("out") / "particles" / "particles_000000.vtp");
    const auto type_of = [&](const std::string& name) {
      const auto end = frame.find("Name=\"" + name + "\"");
      const auto begin = frame.rfind("type=\"", end) + 6;
      return frame.substr(begin, frame.find('"', begin) - begin);
    };
    EXPECT_EQ(type_of("id"), "Int64");
    EXPECT_EQ(type_of("body"), "Int32");
    EXPECT_EQ(type_of("piece"), "Int32");
    EXPECT_EQ(type_of("velocity"), precision == "single" ? "Float32" : "Float64");
    ASSERT_EQ(run({"compare", at("out"), at("out"), "--tolerance", "0"}), 0) << error();
    EXPECT_NE(read(at("stdout")).find("piece"), std::string::npos);
  }
}

TEST_F(App, HistoryHasThePrimalResidualWhereItIsMeasured) {
  write_scene("", "");
  std::string text = read(at("scene.toml"));
  text.replace(text.find("total-lagrangian"), 16, "xpbi");
  std::ofstream(at("scene.toml")) << text;
  for (const std::string measured : {"true", "false"}) {
    ASSERT_EQ(run({"run", at("scene.toml"), "-o", at("out"), "--force", "-q", "--set", "solver.end_time=0.004", "--set",
                   "solver.primal_residual=" + measured}),
              0)
        << error();
    const auto history = ductile::io::CsvTable::read(at("out") / "history.csv");
    EXPECT_EQ(history.columns().back(), measured == "true" ? "primal_residual" : "iterations");
    EXPECT_EQ(history.rows(), 5u);
  }
}

TEST_F(App, ThroughputCountsTheIterationsThatWereMade) {
  write_scene();
  std::string text = read(at("scene.toml"));
  text.replace(text.find("total-lagrangian"), 16, "xpbi");
  std::ofstream(at("scene.toml")) << text;
  double counted = 0;
  for (const std::string time : {"0.02", "0.03"}) {  // the second goes on where the first ended
    std::vector<std::string> words{"run",
                                   at("scene.toml"),
                                   "-o",
                                   at("out"),
                                   "-q",
                                   "--set",
                                   "solver.iterations=50",
                                   "--set",
                                   "solver.tolerance=1e-3",
                                   "--set",
                                   "solver.end_time=" + time};
    if (counted > 0) words.emplace_back("--resume");
    ASSERT_EQ(run(words), 0) << error();
    double made = 0;
    for (const double n : ductile::io::CsvTable::read(at("out") / "history.csv").column("iterations")) made += n;
    const auto record = nlohmann::json::parse(read(at("out") / "run.json"));
    const double steps = record.at("steps");
    EXPECT_LT(made, 50 * steps) << "the tolerance ends them earlier";
    const double rate = record.at("particle_iterations_per_second"), seconds = record.at("step_seconds");
    EXPECT_NEAR(rate * seconds / (512 * (made - counted)), 1, 1e-9);
    counted = made;
  }
}

TEST_F(App, ResultDoesNotDependOnTheThreads) {
  for (const std::string scheme : {"gauss-seidel", "jacobi"}) {
    write_scene("scheme = \"" + scheme + "\"\n");
    ASSERT_EQ(run({"run", at("scene.toml"), "-o", at("one"), "--force", "--threads", "1", "-q"}), 0) << error();
    ASSERT_EQ(run({"run", at("scene.toml"), "-o", at("two"), "--force", "--threads", "2", "-q"}), 0) << error();
    expect_same_result(at("one"), at("two"));
  }
}

TEST_F(App, KilledAndResumedRunEndsWithTheSameBytes) {
  write_scene();
  const std::vector<std::string> scene{"run", at("scene.toml"), "--set", "solver.end_time=0.4", "-q", "-o"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), scene.begin(), scene.end());
    return more;
  };
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(run(with({at("whole")})), 0) << error();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::mt19937 random(1);
  std::uniform_real_distribution<double> moment(0, seconds);
  const char* asked = std::getenv("DUCTILE_KILLS");  // set by tools/torture
  const int wanted = asked != nullptr ? std::max(1, std::atoi(asked)) : 12;
  int kills = 0, completed = 0;
  for (int attempt = 0; attempt < 20 * wanted && (kills < wanted || completed == 0); ++attempt) {
    const pid_t child = start(fs::exists(at("cut")) ? with({at("cut"), "--resume"}) : with({at("cut")}));
    if (kills < wanted) {
      std::this_thread::sleep_for(std::chrono::duration<double>(moment(random)));
      kill(child, SIGKILL);
    }
    const int status = wait_for(child);
    kills += status == -SIGKILL ? 1 : 0;
    if (status == -SIGKILL) continue;
    ASSERT_EQ(status, 0) << error();
    ++completed;
    expect_same_result(at("whole"), at("cut"));
    fs::remove_all(at("cut"));
  }
  EXPECT_GE(kills, wanted);
  EXPECT_GE(completed, 1);
  if (asked != nullptr)
    std::printf("%d kills at random moments; %d runs completed over them, each with the bytes of an undisturbed run\n",
                kills, completed);
}

TEST_F(App, InterruptedRunFinishesTheFrameAndSaysHowToGoOn) {
  write_scene();
  const std::vector<std::string> scene{"run", at("scene.toml"), "-o", at("out"), "--set"};
  auto longer = scene;
  longer.insert(longer.end(), {"solver.end_time=100", "--threads", "1"});
  const pid_t child = start(longer);
  for (int k = 0; k < 3000 && !fs::exists(at("out") / "particles" / "particles_000006.vtp"); ++k)
    std::this_thread::sleep_for(20ms);
  kill(child, SIGINT);
  EXPECT_EQ(wait_for(child), 130);
  // What it says to type is what goes on, changes of the scene included.
  EXPECT_NE(error().find("  " DUCTILE_EXECUTABLE " run " + at("scene.toml").string() + " -o " + at("out").string() +
                         " --set solver.end_time=100 --threads 1 --resume\n"),
            std::string::npos)
      << error();
  const auto record = nlohmann::json::parse(read(at("out") / "run.json"));
  EXPECT_EQ(record.at("status"), "interrupted");
  EXPECT_EQ(record.at("steps").get<int>() % 20, 0) << "frames are 20 steps long";
  // end_time may change on resume; so the run ends with the bytes of one that was never interrupted.
  const std::string enough = "solver.end_time=" + std::to_string(record.at("steps").get<double>() * 1e-3 + 0.02);
  auto rest = scene;
  rest.insert(rest.end(), {enough, "--resume", "-q"});
  EXPECT_EQ(run(rest), 0) << error();
  EXPECT_EQ(run({"run", at("scene.toml"), "-o", at("whole"), "--set", enough, "-q"}), 0) << error();
  expect_same_result(at("whole"), at("out"));
}

TEST_F(App, ALongerRunHasTheFramesOfOneThatWasAsLongFromTheStart) {
  write_scene();
  const auto until = [&](const char* time, const fs::path& folder, std::vector<std::string> more) {
    more.insert(more.begin(),
                {"run", at("scene.toml"), "-q", "-o", folder, "--set", std::string("solver.end_time=") + time});
    return run(more);
  };
  ASSERT_EQ(until("0.16", at("whole"), {}), 0) << error();
  // Ends between frames, in the end frame's place, and with a frame.
  ASSERT_EQ(until("0.051", at("out"), {}), 0) << error();
  for (const char* time : {"0.055", "0.1", "0.16"}) ASSERT_EQ(until(time, at("out"), {"--resume"}), 0) << error();
  expect_same_result(at("whole"), at("out"));
}

TEST_F(App, SecondInterruptAndTerminationStopAfterTheStep) {
  write_scene("", "");
  for (const bool twice : {true, false}) {
    const pid_t child = start({"run", at("scene.toml"), "-o", at("out"), "--force", "--set", "solver.end_time=100",
                               "--set", "output.interval=50", "--set", "output.checkpoint_interval=50"});
    for (int k = 0; k < 600 && !fs::exists(at("out") / "run.json"); ++k) std::this_thread::sleep_for(20ms);
    std::this_thread::sleep_for(100ms);
    kill(child, twice ? SIGINT : SIGTERM);
    if (twice) {
      for (int k = 0; k < 600 && error().find("Ctrl-C again") == std::string::npos; ++k)
        std::this_thread::sleep_for(20ms);
      kill(child, SIGINT);
    }
    EXPECT_EQ(wait_for(child), 130) << error();
    EXPECT_TRUE(fs::exists(at("out") / "checkpoint.bin"));
    fs::remove_all(at("out"));
  }
}

TEST_F(App, AClosedTerminalSavesTheRunUnlessItWasToldNotToMind) {
  write_scene();
  const auto hang_up = [&](const std::vector<std::string>& more, const std::function<void()>& prepare) {
    std::vector<std::string> words{
        "run", at("scene.toml"), "-o", at("out"), "--force", "--set", "output.checkpoint_interval=50"};
    words.insert(words.end(), more.begin(), more.end());
    const pid_t child = start(words, prepare);
    for (int k = 0; k < 600 && !fs::exists(at("out") / "run.json"); ++k) std::this_thread::sleep_for(20ms);
    kill(child, SIGHUP);
    return wait_for(child);
  };
  EXPECT_EQ(hang_up({"--set", "solver.end_time=100"}, [] {}), 130) << error();
  EXPECT_TRUE(fs::exists(at("out") / "checkpoint.bin"));
  fs::remove_all(at("out"));
  EXPECT_EQ(hang_up({}, [] { std::signal(SIGHUP, SIG_IGN); }), 0) << error();  // as nohup does
}

TEST_F(App, ARunGoesOnWhenNobodyReadsItsProgress) {
  write_scene();
  ASSERT_EQ(run({"run", at("scene.toml"), "-o", at("whole"), "-q"}), 0) << error();
  const auto expect_whole = [&](const char* what, const std::function<void()>& prepare) {
    EXPECT_EQ(run({"run", at("scene.toml"), "-o", at("out"), "--force"}, prepare), 0) << what;
    expect_same_result(at("whole"), at("out"));
    // Nothing that was meant for a closed stream went into a file that took its number.
    EXPECT_EQ(run({"run", at("scene.toml"), "-o", at("out"), "--resume"}), 0) << what << ": " << error();
  };
  expect_whole("full disk", [] { dup2(open("/dev/full", O_WRONLY), STDERR_FILENO); });
  expect_whole("pipe without a reader", [] {
    int ends[2];
    if (pipe(ends) != 0) _exit(126);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
  });
  expect_whole("closed streams", [] {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(stream);
  });
}

TEST_F(App, OfTwoRunsIntoAFolderOneIsRefused) {
  write_scene();
  ASSERT_EQ(run({"run", at("scene.toml"), "-o", at("whole"), "-q"}), 0) << error();
  const std::vector<std::string> words{"run", at("scene.toml"), "-o", at("out"), "-q"};
  for (int k = 0; k < 5; ++k) {
    const pid_t first = start(words), second = start(words);
    const int codes = wait_for(first) + wait_for(second);
    EXPECT_EQ(codes, 2) << "one ends well, the other is refused: " << error();
    expect_same_result(at("whole"), at("out"));
    fs::remove_all(at("out"));
  }
}

TEST_F(App, ARunThatWasKilledBehindItsLastCheckpointIsFinished) {
  write_scene();
  ASSERT_EQ(run({"run", at("scene.toml"), "-o", at("out"), "-q"}), 0) << error();
  auto record = nlohmann::ordered_json::parse(read(at("out") / "run.json"));
  record["status"] = "running";
  record["steps"] = 0;
  std::ofstream(at("out") / "run.json") << record.dump();
  ASSERT_EQ(run({"run", at("scene.toml"), "-o", at("out"), "--resume"}), 0) << error();
  EXPECT_NE(error().find("complete already"), std::string::npos) << error();
  record = nlohmann::ordered_json::parse(read(at("out") / "run.json"));
  EXPECT_EQ(record.at("status"), "finished");
  EXPECT_EQ(record.at("steps"), 120);
}

TEST_F(App, NamesOfFilesNeedNotBeText) {
  write_scene();
  const fs::path file = at("sc\xe9ne.toml");  // Latin-1, no UTF-8
  fs::rename(at("scene.toml"), file);
  ASSERT_EQ(run({"run", file, "-o", at("out"), "-q", "--set", "solver.end_time=0.02"}), 0) << error();
  EXPECT_EQ(nlohmann::json::parse(read(at("out") / "run.json")).at("scene"), "sc\xef\xbf\xbdne.toml");
}

TEST_F(App, FullDiskKeepsTheResultAndResumes) {
  write_scene();
  ASSERT_EQ(run({"run", at("scene.toml"), "-o", at("whole"), "-q"}), 0) << error();
  // Files beyond 40 kB fail, as on a disk that is full; frames are larger than that.
  const int code = run({"run", at("scene.toml"), "-o", at("out"), "-q"}, [] {
    const rlimit limit{40000, 40000};
    setrlimit(RLIMIT_FSIZE, &limit);
  });
  EXPECT_EQ(code, 1);
  for (const char* words : {"no checkpoint in", "start again with", "--resume", "ulimit -f"})
    EXPECT_NE(error().find(words), std::string::npos) << words << " is not in " << error();
  for (const auto& entry : fs::recursive_directory_iterator(at("out")))
    EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << "torn file " << entry.path();
  EXPECT_EQ(run({"run", at("scene.toml"), "-o", at("out"), "--resume", "-q"}), 0) << error();
  expect_same_result(at("whole"), at("out"));
}

/// A script in a mount namespace of its own, where small disks can be made.
int in_namespace(const std::string& script, const fs::path& log) {
  const int status = std::system(("unshare -m sh -c '" + script + "' >" + log.string() + " 2>&1").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(App, SmallAndReadOnlyDisksKeepTheResultAndResume) {
  write_scene();
  fs::create_directory(at("disk"));
  const std::string disk = at("disk").string();
  if (in_namespace("mount -t tmpfs none " + disk, at("log")) != 0) GTEST_SKIP() << "no right to mount a disk";
  ASSERT_EQ(run({"run", at("scene.toml"), "-o", at("whole"), "-q"}), 0) << error();
  const std::string simulate =
      std::string(DUCTILE_EXECUTABLE) + " run " + at("scene.toml").string() + " -o " + disk + "/out -q";
  const std::string same = "diff -r -x run.json -x checkpoint.bin " + at("whole").string() + " " + disk + "/out";
  // Room for some of the seven frames, 65 kB each; then the disk grows.
  EXPECT_EQ(in_namespace("mount -t tmpfs -o size=380k none " + disk + " && " + simulate +
                             "; test $? = 1 && mount -o remount,size=64m " + disk + " && " + simulate +
                             " --resume && " + same,
                         at("log")),
            0)
      << read(at("log"));
  for (const char* words : {"No space left", "free space", "--resume"})
    EXPECT_NE(read(at("log")).find(words), std::string::npos) << words << " is not in " << read(at("log"));
  // A disk that turns read-only while the run goes on, as after an error of the device.
  EXPECT_EQ(in_namespace("mount -t tmpfs none " + disk + " && { " + simulate + " & run=$!; } && while test ! -e " +
                             disk + "/out/checkpoint.bin; do sleep 0.01; done; mount -o remount,ro " + disk +
                             "; wait $run; code=$?; test $code = 1 || test $code = 0 || exit 9; mount -o remount,rw " +
                             disk + " && " + simulate + " --resume && " + same,
                         at("log")),
            0)
      << read(at("log"));
  EXPECT_EQ(
      in_namespace("mount -t tmpfs none " + disk + " && mount -o remount,ro " + disk + " && " + simulate, at("log")), 2)
      << read(at("log"));
  EXPECT_NE(read(at("log")).find("Read-only"), std::string::npos) << read(at("log"));
}

TEST_F(App, ExistingResultIsNeverOverwritten) {
  write_scene();
  ASSERT_EQ(run({"run", at("scene.toml"), "-o", at("out"), "-q"}), 0) << error();
  const std::string before = read(at("out") / "history.csv");
  for (const char* mine : {"notes.txt", "particles_best.vtp", "particles_000000.vtp.old"})
    std::ofstream(at("out") / "particles" / mine) << "mine";
  expect_error(2, {"run", at("scene.toml"), "-o", at("out")}, {"--resume", "--force", at("out").string()});
  expect_error(2, {"run", at("scene.toml"), "-o", at("out"), "--resume", "--set", "solver.iterations=6"},
               {"other --set values: none; now solver.iterations=6", "--force"});
  EXPECT_EQ(read(at("out") / "history.csv"), before);
  EXPECT_EQ(run({"run", at("scene.toml"), "-o", at("out"), "--resume", "--set", "solver.end_time=0.05"}), 0) << error();
  EXPECT_NE(error().find("the longer result is kept"), std::string::npos) << error();
  EXPECT_EQ(read(at("out") / "history.csv"), before);
  EXPECT_EQ(run({"run", at("scene.toml"), "-o", at("out"), "--resume"}), 0) << "a complete run stays complete";
  EXPECT_EQ(read(at("out") / "history.csv"), before);
  EXPECT_EQ(run({"run", at("scene.toml"), "-o", at("out"), "--force", "-q", "--set", "solver.iterations=6"}), 0)
      << error();
  EXPECT_NE(read(at("out") / "history.csv"), before);
  EXPECT_EQ(run({"run", at("scene.toml"), "-o", at("out"), "--force", "-q", "--set", "solver.end_time=0.03"}), 0)
      << error();
  EXPECT_FALSE(fs::exists(at("out") / "particles" / "particles_000003.vtp")) << "of the longer run";
  for (const char* mine : {"notes.txt", "particles_best.vtp", "particles_000000.vtp.old"})
    EXPECT_EQ(read(at("out") / "particles" / mine), "mine") << mine;
  std::filesystem::create_directories(at("mine"));
  std::ofstream(at("mine") / "thesis.tex") << "years of work";
  expect_error(2, {"run", at("scene.toml"), "-o", at("mine")}, {"not empty", "-o"});
  EXPECT_EQ(read(at("mine") / "thesis.tex"), "years of work");
}

TEST_F(App, ResumeWithoutACheckpointRemovesNoResult) {
  write_scene();
  ASSERT_EQ(run({"run", at("scene.toml"), "-o", at("out"), "-q"}), 0) << error();
  fs::remove(at("out") / "checkpoint.bin");
  const std::string history = read(at("out") / "history.csv"), record = read(at("out") / "run.json");
  expect_error(2, {"run", at("scene.toml"), "-o", at("out"), "--resume"}, {"complete", "--force", "-o"});
  expect_error(2, {"run", at("scene.toml"), "-o", at("out"), "--resume", "--set", "solver.iterations=6"},
               {"--set values", "--force", "-o"});
  expect_error(2, {"run", "first_light", "-o", at("out"), "--resume"}, {"another scene", "--force", "-o"});
  std::ofstream(at("out") / "run.json") << "{";
  expect_error(2, {"run", at("scene.toml"), "-o", at("out"), "--resume"}, {"run.json", "--force", "-o"});
  EXPECT_EQ(read(at("out") / "history.csv"), history);
  EXPECT_TRUE(fs::exists(at("out") / "particles" / "particles_000006.vtp"));
  // Only what was killed before its first checkpoint starts again.
  auto killed = nlohmann::json::parse(record);
  killed["status"] = "running";
  std::ofstream(at("out") / "run.json") << killed.dump();
  ASSERT_EQ(run({"run", at("scene.toml"), "-o", at("out"), "--resume"}), 0) << error();
  EXPECT_NE(error().find("no checkpoint in"), std::string::npos) << error();
  EXPECT_EQ(read(at("out") / "history.csv"), history);
}

TEST_F(App, AResultOfOtherDefaultsIsNotCalledAnotherScene) {
  fs::copy(DUCTILE_TEST_DATA "/formats/v1", at("v1"), fs::copy_options::recursive);
  const std::vector<std::string> resume{"run", at("v1/scene.toml"), "-o", at("v1/result"), "--resume"};
  expect_error(2, resume, {"earlier version", "defaults differ", "--force"});
  EXPECT_EQ(error().find("another scene"), std::string::npos) << error();
  // A result that tells its --set values leaves only the defaults.
  auto record = nlohmann::json::parse(read(at("v1/result/run.json")));
  record["overrides"] = {"solver.end_time=4e-3"};
  std::ofstream(at("v1/result/run.json")) << record.dump();
  expect_error(2, resume, {"earlier version of Ductile, whose defaults differ. ", "--force"});
  record["overrides"] = {"solver.iterations=3"};
  std::ofstream(at("v1/result/run.json")) << record.dump();
  expect_error(2, resume, {"other --set values: solver.iterations=3; now none", "--force"});
  std::ofstream(at("v1/scene.toml"), std::ios::app) << "# changed\n";
  expect_error(2, resume, {"another scene", "--force"});
}

TEST_F(App, ResumeTakesOnlyWhatTheRunItselfWrote) {
  write_scene();
  ASSERT_EQ(run({"run", at("scene.toml"), "-o", at("whole"), "-q"}), 0) << error();
  const auto refused = [&](const std::string& words, const std::function<void(const fs::path&)>& harm) {
    fs::remove_all(at("out"));
    fs::copy(at("whole"), at("out"), fs::copy_options::recursive);
    harm(at("out"));
    expect_error(2, {"run", at("scene.toml"), "-o", at("out"), "--resume", "--set", "solver.end_time=0.15", "-q"},
                 {words, "--force"});
  };
  refused("history.csv can't be gone on with: it is missing",
          [](const fs::path& out) { fs::remove(out / "history.csv"); });
  refused("history.csv:3: 15 numbers", [](const fs::path& out) {
    const std::string table = read(out / "history.csv");
    std::ofstream(out / "history.csv") << table.substr(0, table.find('\n', table.find('\n') + 1) + 9);
  });
  refused("columns", [](const fs::path& out) { std::ofstream(out / "history.csv") << "step,time\n0,0\n"; });
  refused("counts 121 rows in it, it has 2", [](const fs::path& out) {
    const std::string table = read(out / "probes.csv");
    std::size_t end = 0;
    for (int line = 0; line < 3; ++line) end = table.find('\n', end) + 1;
    std::ofstream(out / "probes.csv") << table.substr(0, end);
  });
  refused("particles_000003.vtp is missing",
          [](const fs::path& out) { fs::remove(out / "particles" / "particles_000003.vtp"); });
}

TEST_F(App, IntervalsBeyondTheRunAreItsEnd) {
  write_scene();
  // More steps than any integer counts.
  ASSERT_EQ(run({"run", at("scene.toml"), "-o", at("out"), "-q", "--set", "output.interval=1e300", "--set",
                 "output.checkpoint_interval=1e300"}),
            0)
      << error();
  EXPECT_TRUE(fs::exists(at("out") / "particles" / "particles_000001.vtp"));
  EXPECT_FALSE(fs::exists(at("out") / "particles" / "particles_000002.vtp"));
}

TEST_F(App, BenchPrintsATableAndWritesAFileIfAsked) {
  ASSERT_EQ(run({"bench", "svd", "--particles", "1000"}), 0) << error();
  EXPECT_NE(read(at("stdout")).find("triad"), std::string::npos);
  ASSERT_EQ(run({"bench", "svd", "--particles", "1000", "--json", at("bench.json")}), 0) << error();
  EXPECT_EQ(nlohmann::json::parse(read(at("bench.json")))["cases"][0]["name"], "svd");
}

TEST_F(App, BenchPhasesAreThoseOfItsTime) {
  ASSERT_EQ(run({"bench", "svd", "total-lagrangian", "xpbi-snow", "--particles", "8000", "--json", at("bench.json")}),
            0)
      << error();
  const auto record = nlohmann::json::parse(read(at("bench.json")));
  EXPECT_EQ(record.at("cases").size(), 3u);
  for (const auto& result : record.at("cases")) {
    double sum = 0;
    for (const auto& phase : result.at("phases")) sum += phase.at("seconds").get<double>();
    // Launches leave little time between them.
    EXPECT_LE(sum, 1.01 * result.at("seconds").get<double>()) << result;
    EXPECT_GE(sum, 0.5 * result.at("seconds").get<double>()) << result;
  }
}

TEST_F(App, WhatCanNotBePrintedIsAFailure) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const auto into_a_full_disk = [] { dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO); };
  EXPECT_EQ(run({"scenes"}, into_a_full_disk), 1);
  EXPECT_NE(error().find("No space left on device"), std::string::npos) << error();
  write_scene();
  EXPECT_EQ(run({"probe", at("scene.toml"), "--material", "rubber", "--path", "uniaxial", "--from", "0.5", "--to", "2",
                 "--steps", "3000"},
                into_a_full_disk),
            1);
  EXPECT_NE(error().find("No space left on device"), std::string::npos) << error();
}

TEST_F(App, MistypedCommandsAndOptionsAreNamed) {
  expect_error(2, {"rnu", "first_light"}, {"no command \"rnu\"", "did you mean \"run\"?", "compare"});
  expect_error(2, {"run"}, {"scene", "`ductile run --help`"});
  expect_error(2, {"run", write_scene(), "--thread", "2"},
               {"--thread", "did you mean \"--threads\"?", "`ductile run --help`"});
  expect_error(2, {"run", at("scene.toml"), "-o", ""}, {"--output", "empty"});
  expect_error(2, {"-x"}, {"-x is not an option of ductile", "`ductile --help`"});
  expect_error(2, {"--vers"}, {"--vers is not an option of ductile", "did you mean \"--version\"?"});
  expect_error(2, {"run", at("scene.toml"), "-x"}, {"-x is not an option of run"});
  expect_error(2, {"help", "rnu"}, {"did you mean \"run\"?"});
  ASSERT_EQ(run({"--help"}), 0);
  const std::string help = read(at("stdout"));
  ASSERT_EQ(run({"help"}), 0) << error();
  EXPECT_EQ(read(at("stdout")), help);
  ASSERT_EQ(run({"help", "run"}), 0) << error();
  EXPECT_NE(read(at("stdout")).find("--resume"), std::string::npos);
  expect_error(2, {"run", folder_}, {"is a folder"});
  expect_error(2, {"run", ""}, {"empty", "ductile scenes"});
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  for (const auto& special : {at("pipe").string(), std::string("/dev/null")})
    expect_error(2, {"run", special}, {special + ": is not a regular file"});
}

TEST_F(App, MemoryIsThatOfTheProcessToo) {
  // 2.4 million particles; the machine has room for them, the process has not.
  const auto limited = [] {
    const rlimit limit{500'000'000, 500'000'000};
    setrlimit(RLIMIT_AS, &limit);
  };
  EXPECT_EQ(run({"check", write_scene(), "--set", "bodies[0].spacing=0.003"}, limited), 2);
  EXPECT_NE(error().find("0.5 GB are free"), std::string::npos) << error();
}

TEST_F(App, MemoryIsEstimatedForARunToItsEnd) {
  write_scene("", "");
  const auto compare = [&](const std::vector<std::string>& changes) {
    double peak[2], estimate[2];
    for (const int larger : {0, 1}) {
      std::vector<std::string> all = changes;
      all.insert(all.end(), {"bodies[0].spacing=0.01", "solver.end_time=1e-3",
                             std::string("bodies[0].shape.size=") + (larger ? "[1, 0.4, 0.4]" : "[0.25, 0.4, 0.4]")});
      std::vector<std::string> words{"run", at("scene.toml"), "-o", at("out"), "-q", "--force"};
      for (const auto& change : all) words.insert(words.end(), {"--set", change});
      ASSERT_EQ(run(words), 0) << error();
      const auto record = nlohmann::json::parse(read(at("out") / "run.json"));
      peak[larger] = record.at("peak_memory_bytes").get<double>();
      estimate[larger] =
          estimate_memory(scene::read_scene(at("scene.toml"), all), record.at("particles").get<double>());
    }
    // The difference is free of what the program itself takes, which depends on the back end.
    EXPECT_LE(peak[1] - peak[0], estimate[1] - estimate[0]) << testing::PrintToString(changes);
    EXPECT_GE(peak[1] - peak[0], 0.4 * (estimate[1] - estimate[0]))
        << "refuses what would fit: " << testing::PrintToString(changes);
  };
  compare({});
  compare({"solver.precision=double", "contact.self=true"});
  const std::string plastic =
      "materials.rubber={density=1000, elastic={youngs_modulus=1e5, poisson_ratio=0.3}, "
      "plastic={model=\"von-mises\", yield_stress=1e3}}";
  for (const char* reference : {"current", "memory"})
    for (const char* multiplier : {"scalar", "tensor"})
      compare({"solver.method=xpbi", plastic, std::string("solver.reference=") + reference,
               std::string("solver.multiplier=") + multiplier});
}

TEST_F(App, EveryEmptyRegionIsRefusedByCheckAndRun) {
  const std::string region = "region = { type = \"sphere\", radius = 0.1, position = [9, 9, 9] }\n";
  write_scene("", "[[fixtures]]\nname = \"left\"\nbody = \"block\"\n" + region +
                      "[[fixtures]]\nname = \"right\"\nbody = \"block\"\n" + region +
                      "[[probes]]\nname = \"tip\"\nbody = \"block\"\n" + region);
  const std::string file = at("scene.toml").string();
  const std::vector<std::string> all{file + ":21:10: fixture \"left\"", file + ":25:10: fixture \"right\"",
                                     file + ":29:10: probe \"tip\"", "no particle of body \"block\""};
  expect_error(2, {"check", file}, all);
  expect_error(2, {"run", file, "-o", at("out")}, all);
  EXPECT_FALSE(fs::exists(at("out")));
  expect_error(2, {"check", file, "--set", "fixtures.left.region.radius=99", "--set", "probes.tip.region.radius=99"},
               {file + ":25:10: fixture \"right\""});
  EXPECT_EQ(error().find("left"), std::string::npos) << error();
}

TEST_F(App, EveryBodyThatCannotBeSampledIsNamedWithItsPlace) {
  const auto body = [](const std::string& name, const std::string& rest) {
    return "[[bodies]]\nname = \"" + name + "\"\nmaterial = \"rubber\"\nspacing = 0.05\n" + rest;
  };
  write_scene("", body("far", "shape = { type = \"sphere\", radius = 0.2 }\nposition = [1e7, 0, 0]\n") +
                      body("thin", "shape = { type = \"sphere\", radius = 0.001 }\n") +
                      body("row",
                           "shape = { type = \"sphere\", radius = 0.2 }\nposition = [0, 9, 0]\n"
                           "copies = { count = [3, 1, 1], spacing = [1e6, 0, 0] }\n"));
  const std::string file = at("scene.toml").string();
  const std::vector<std::string> all{file + ":18:1: body \"far\": it reaches 1e+07 m from the origin",
                                     file + ":24:1: body \"thin\": a spacing of 0.05 m leaves no particle",
                                     file + ":29:1: body \"row-2\" and 1 more of its block: it reaches"};
  expect_error(2, {"check", file}, all);
  expect_error(2, {"run", file, "-o", at("out")}, all);
  EXPECT_FALSE(fs::exists(at("out")));
  EXPECT_EQ(error().find("\"block\""), std::string::npos) << error();
  expect_error(2, {"check", file, "--set", "bodies.thin.spacing=1e-7"}, {file + ":24:1: the bodies would have about"});
}

TEST_F(App, BadInputIsRefusedWithPlaceAndRemedy) {
  expect_error(2, {"run", at("missing.toml")}, {"missing.toml"});
  write_scene("iteration = 3\n");
  expect_error(2, {"run", at("scene.toml"), "-o", at("out")}, {"scene.toml:7:1", "iterations"});
  write_scene();
  expect_error(2, {"run", at("scene.toml"), "-o", at("out"), "--set", "bodies[0].spacing=nan"}, {"spacing"});
  expect_error(2, {"run", at("scene.toml"), "-o", at("out"), "--set", "bodies[0].spacing=1e-5"},
               {"GB", "larger spacing"});
  expect_error(2, {"run", at("scene.toml"), "-o", at("scene.toml")}, {"is a file"});
  expect_error(2, {"run", at("scene.toml"), "-o", at("scene.toml/below")}, {"can't be made"});
  expect_error(2, {"run", at("scene.toml"), "--bogus"}, {"--bogus"});
  expect_error(2, {"run", at("scene.toml"), "-o", at("out"), "--resume"}, {"nothing to resume"});
  expect_error(2, {"bench", "bogus"}, {"bogus", "total-lagrangian"});
  expect_error(2, {"bench", "svd", "--json", at("none/bench.json")}, {"--json", "no folder", at("none").string()});
  expect_error(2, {"bench", "svd", "--json", folder_}, {"--json", "is a folder"});
  // Beyond 1e6 m single precision rounds by more than the spacing.
  expect_error(2, {"run", at("scene.toml"), "-o", at("out"), "--set", "bodies[0].position=[1e6, 0, 0]"},
               {"\"block\"", "single precision", "solver.precision = \"double\""});
  EXPECT_EQ(
      run({"check", at("scene.toml"), "--set", "bodies[0].position=[1e6, 0, 0]", "--set", "solver.precision=double"}),
      0)
      << error();
  // There double precision would not help either.
  expect_error(2, {"check", at("scene.toml"), "--set", "bodies[0].position=[1e30, 0, 0]"}, {"move the scene"});
  EXPECT_EQ(error().find("double"), std::string::npos) << error();
  expect_error(3, {"run", at("scene.toml"), "-o", at("new"), "--device", "no such device"}, {"no such device"});
  write_scene("",
              "[[fixtures]]\nname = \"nowhere\"\nbody = \"block\"\nregion = { type = \"sphere\", radius = 0.1, "
              "position = [9, 9, 9] }\n");
  expect_error(2, {"run", at("scene.toml"), "-o", at("new2")}, {"nowhere", "no particle"});
}

TEST_F(App, NumbersBeyondThePrecisionAreRefused) {
  write_scene();
  const auto refused = [&](const std::string& change, const std::vector<std::string>& words) {
    expect_error(2, {"check", at("scene.toml"), "--set", change}, words);
  };
  for (const std::string value : {"1e300", "1e-300", "1e39", "1e-40"}) {
    refused("materials.rubber.density=" + value, {"materials.rubber.density", "solver.precision = \"double\""});
    if (value == "1e300") {  // the device squares stiffnesses
      refused("materials.rubber.elastic.youngs_modulus=" + value, {"youngs_modulus", "any precision"});
      continue;
    }
    refused("materials.rubber.elastic.youngs_modulus=" + value, {"youngs_modulus", "single precision"});
    EXPECT_EQ(run({"check", at("scene.toml"), "--set", "materials.rubber.elastic.youngs_modulus=" + value, "--set",
                   "solver.precision=double"}),
              0)
        << error();
    for (const char* bad : {"-2147483648", "00000000"})
      EXPECT_EQ(read(at("stdout")).find(bad), std::string::npos) << read(at("stdout"));
  }
  refused("world.gravity=[0, 0, 1e300]", {"world.gravity", "too large"});
  refused("solver.time_step=1e-300", {"time_step"});
  // A direction that a script has computed has such components.
  EXPECT_EQ(run({"check", at("scene.toml"), "--set", "world.gravity=[1e-60, 0, -9.81]"}), 0) << error();
}

TEST_F(App, DivergenceKeepsTheFramesBefore) {
  write_scene("scheme = \"jacobi\"\nrelaxation = 1.0\n");
  expect_error(1,
               {"run", at("scene.toml"), "-o", at("out"), "--set", "materials.rubber.elastic.youngs_modulus=1e9",
                "--set", "solver.time_step=0.01", "--set", "solver.end_time=10", "--set", "solver.iterations=50"},
               {"diverged", "block", "solver.time_step=0.005"});
  EXPECT_TRUE(fs::exists(at("out") / "particles" / "particles_000000.vtp"));
  EXPECT_EQ(nlohmann::json::parse(read(at("out") / "run.json")).at("status"), "failed");
}

TEST_F(App, AStepThatIsTooLongForContactAsksForANewRun) {
  write_scene("", R"([[bodies]]
name = "other"
material = "rubber"
spacing = 0.05
shape = { type = "box", size = [0.4, 0.4, 0.4] }
position = [2, 0, 0.205]
velocity = [-400, 0, 0]
[contact]
)");
  expect_error(1, {"run", at("scene.toml"), "-o", at("out")},
               {"body \"other\", now at (", "can be followed", "time_step", "--force", "whole"});
  EXPECT_EQ(error().find("go on with"), std::string::npos) << error();
}

TEST_F(App, LoadsBeyondAllBoundsEndTheRunInTheirFirstStep) {
  write_scene("", "[[colliders]]\nshape = { type = \"plane\", normal = [0, 0, 1], point = [0, 0, -1] }\n");
  const auto expect_end = [&](const char* change, const std::vector<std::string>& words) {
    expect_error(1, {"run", at("scene.toml"), "-o", at("out"), "--force", "--set", change}, words);
    EXPECT_TRUE(fs::exists(at("out") / "particles" / "particles_000000.vtp"));
    EXPECT_EQ(ductile::io::CsvTable::read(at("out") / "history.csv").rows(), 1u) << change;
  };
  expect_end("world.gravity=[0, 0, -1e20]", {"diverged in step 1", "particle", "block", "world.gravity"});
  expect_end("world.gravity=[0, 0, -1e8]", {"diverged in step 1", "particle", "block", "time_step"});
  expect_end("bodies[0].velocity=[1e12, 0, 0]", {"diverged in step 1", "block", "1e+", "speed"});
}

TEST_F(App, DivergenceNamesWhatMayHaveCausedIt) {
  write_scene();
  // The squares of the differences of such velocities are more than any number of single precision.
  expect_error(1,
               {"run", at("scene.toml"), "-o", at("fast"), "--set", "bodies[0].angular_velocity=[1e18, 0, 0]", "--set",
                "colliders=[]"},
               {"no longer a number", "material \"rubber\"", "single precision", "time_step"});
  EXPECT_EQ(error().find("farther"), std::string::npos) << error();
  expect_error(1, {"run", at("scene.toml"), "-o", at("wide"), "--set", "bodies[0].initial.stretch=[1e16, 1, 1]"},
               {"torn away", "initial.stretch"});
}

TEST_F(App, BodiesThatFlyApartAreWarnedOf) {
  std::ofstream(at("spin.toml")) << R"([solver]
method = "total-lagrangian"
time_step = 1e-3
end_time = 5e-3
[materials.rubber]
density = 1000.0
elastic = { youngs_modulus = 1e5, poisson_ratio = 0.3 }
[[bodies]]
name = "b"
material = "rubber"
spacing = 0.1
shape = { type = "box", size = [0.3, 0.3, 0.3] }
)";
  ASSERT_EQ(run({"run", at("spin.toml"), "-o", at("still")}), 0) << error();
  EXPECT_EQ(error().find("flew apart"), std::string::npos) << error();
  ASSERT_EQ(run({"run", at("spin.toml"), "-o", at("spin"), "--set", "bodies.b.angular_velocity=[1e4,0,0]"}), 0)
      << error();
  EXPECT_NE(error().find("flew apart"), std::string::npos) << error();
}

TEST_F(App, NamesInASceneCantLeadOutOfTheFolder) {
  write_scene();
  std::string text = read(at("scene.toml"));
  for (const std::string name : {"\"block\"", "\"middle\""})
    for (auto found = text.find(name); found != std::string::npos; found = text.find(name))
      text.replace(found, name.size(), "\"../../escaped" + name.substr(1));
  std::ofstream(at("scene.toml")) << text;
  fs::create_directories(at("deep/below"));
  ASSERT_EQ(run({"run", at("scene.toml"), "-o", at("deep/below/out"), "-q"}), 0) << error();
  std::size_t outside = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder_))
    if (entry.path().string().find(at("deep/below/out").string()) != 0) ++outside;
  EXPECT_EQ(outside, 5u) << "scene, stdout, stderr and two folders";
}

TEST_F(App, BodiesThatStartInsideCollidersAreNamed) {
  const auto scene = write_scene();
  ASSERT_EQ(run({"check", scene}), 0) << error();
  EXPECT_EQ(read(at("stdout")).find("starts"), std::string::npos) << "it lies 5 mm above the ground";
  const std::vector<std::string> sunk{"--set", "bodies[0].position=[0, 0, 0.14]"};
  const std::string warning = "body \"block\" starts 0.06 m inside collider";
  ASSERT_EQ(run({"check", scene, sunk[0], sunk[1]}), 0) << error();
  EXPECT_NE(read(at("stdout")).find(warning), std::string::npos) << read(at("stdout"));
  ASSERT_EQ(run({"run", scene, "-o", at("out"), "--set", "solver.end_time=0.001", sunk[0], sunk[1]}), 0) << error();
  EXPECT_NE(error().find(warning), std::string::npos) << error();
}

TEST_F(App, SandThatADensityHoldsIsWarnedOf) {
  const std::string warning = "carries the pressure that the friction of \"sand\" needs";
  ASSERT_EQ(run({"check", "small/sand_column"}), 0) << error();
  EXPECT_EQ(read(at("stdout")).find(warning), std::string::npos) << read(at("stdout"));
  ASSERT_EQ(run({"check", "small/sand_column", "--set", "solver.separation=density"}), 0) << error();
  EXPECT_NE(read(at("stdout")).find(warning), std::string::npos) << read(at("stdout"));
}

TEST_F(App, CheckTellsHowStiffPackedSnowGets) {
  ASSERT_EQ(run({"check", "small/snowball"}), 0) << error();
  EXPECT_NE(read(at("stdout")).find("\"snow\" hardens"), std::string::npos) << read(at("stdout"));
  ASSERT_EQ(run({"check", "small/sand_column"}), 0) << error();
  EXPECT_EQ(read(at("stdout")).find("hardens"), std::string::npos) << read(at("stdout"));
}

TEST_F(App, ShippedScenesAreListedAndRunByName) {
  ASSERT_EQ(run({"scenes", "--names"}), 0) << error();
  std::istringstream names(read(at("stdout")));
  std::vector<std::string> found;
  for (std::string name; std::getline(names, name);) found.push_back(name);
  EXPECT_NE(std::find(found.begin(), found.end(), "first_light"), found.end());
  ASSERT_EQ(run({"scenes"}), 0);
  EXPECT_NE(read(at("stdout")).find("rubber ring"), std::string::npos);
  for (const auto& name : found)
    EXPECT_NO_THROW((void)ductile::scene::read_scene(DUCTILE_SOURCE_DIR "/scenes/" + name + ".toml", {})) << name;
  EXPECT_EQ(run({"check", "first_light"}), 0) << error();
  EXPECT_EQ(run({"check", "small/tori_box"}), 0) << error();
  EXPECT_NE(read(at("stdout")).find("ring-1 to ring-27"), std::string::npos) << "one row for all that are alike";
  EXPECT_EQ(run({"run", "first_light", "-o", at("out"), "--set", "solver.end_time=0.004", "-q"}), 0) << error();
  expect_error(2, {"run", "first_lihgt", "-o", at("new")}, {"did you mean \"first_light\"", "ductile scenes"});
  for (const std::string file : {"first_light.toml", "scenes/first_light.toml"}) {
    EXPECT_EQ(run({"check", file}, [&] { fs::current_path(folder_); }), 2) << error();
    EXPECT_EQ(error(),
              "There is no file " + file + ", but first_light comes with Ductile: `ductile run first_light`\n");
  }
  expect_error(2, {"run", at("first_light.toml")}, {at("first_light.toml")});
  EXPECT_EQ(error().find("comes with Ductile"), std::string::npos) << error();
}

TEST_F(App, CompareFindsWhereResultsDiffer) {
  write_scene();
  ASSERT_EQ(run({"run", at("scene.toml"), "-o", at("a"), "-q"}), 0) << error();
  ASSERT_EQ(run({"run", at("scene.toml"), "-o", at("b"), "-q"}), 0) << error();
  ASSERT_EQ(run({"compare", at("a"), at("b"), "--tolerance", "0"}), 0) << read(at("stdout")) << error();
  EXPECT_NE(read(at("stdout")).find("particle-iterations/s"), std::string::npos);
  // Another solution of the same scene: differences, but of the same size of body.
  ASSERT_EQ(run({"run", at("scene.toml"), "-o", at("c"), "-q", "--set", "solver.iterations=9"}), 0) << error();
  EXPECT_EQ(run({"compare", at("a"), at("c")}), 0) << error();
  EXPECT_NE(read(at("stdout")).find("The scenes differ"), std::string::npos);
  EXPECT_NE(read(at("stdout")).find("at [m]"), std::string::npos);
  EXPECT_EQ(run({"compare", at("a"), at("c"), "--tolerance", "1e-9"}), 1) << error();
  EXPECT_NE(read(at("stdout")).find("Beyond the tolerance"), std::string::npos);
  expect_error(2, {"compare", at("a"), at("none")}, {"none", "not a result folder"});
  ASSERT_EQ(run({"run", at("scene.toml"), "-o", at("d"), "-q", "--set", "bodies[0].spacing=0.1"}), 0) << error();
  expect_error(2, {"compare", at("a"), at("d")}, {"512", "64", "spacing"});
  const std::string record = read(at("b") / "run.json");
  for (const char* text : {"[1]", "\"text\"", "{"}) {
    std::ofstream(at("b") / "run.json") << text;
    expect_error(2, {"compare", at("a"), at("b")}, {"run.json", "--force"});
  }
  std::ofstream(at("b") / "run.json") << R"({"title": 3, "wall_seconds": "long"})";  // of some other version
  EXPECT_EQ(run({"compare", at("a"), at("b"), "--tolerance", "0"}), 0) << error();
  std::ofstream(at("b") / "run.json") << record;
  std::ofstream(at("b") / "history.csv") << "a,b\n";
  expect_error(2, {"compare", at("a"), at("b")}, {(at("b") / "history.csv").string(), "time"});
  std::ofstream(at("b") / "particles" / "particles_000003.vtp") << "torn";
  expect_error(2, {"compare", at("a"), at("b")}, {"particles_000003.vtp", "damaged", "--force"});
  std::ofstream(at("b") / "particles.pvd") << "torn";
  expect_error(2, {"compare", at("a"), at("b")}, {"particles.pvd", "damaged", "--force"});
}

/// Writes a frame again with other numbers.
void change_frame(const fs::path& file, const std::function<void(std::vector<ductile::io::PointData>&)>& change) {
  std::vector<ductile::io::PointData> data;
  for (auto& field : ductile::io::read_particles(file).fields)
    data.push_back({field.name, field.components, std::move(field.numbers), field.unit});
  change(data);
  const auto position = std::ranges::find(data, "position", &ductile::io::PointData::name);
  const auto points = *position;
  data.erase(position);
  ductile::io::write_particles(file, points, data, 0);
}

TEST_F(App, CompareFailsForWhatIsMissingOrNotFinite) {
  write_scene();
  const auto simulate = [&](const char* name, const std::string& change) {
    ASSERT_EQ(run({"run", at("scene.toml"), "-o", at(name), "-q", "--force", "--set", change}), 0) << error();
  };
  const auto differs = [&](const std::string& words) {
    EXPECT_EQ(run({"compare", at("a"), at("b")}), 0) << error();
    for (const auto& [first, second] : {std::pair("a", "b"), std::pair("b", "a")}) {
      EXPECT_EQ(run({"compare", at(first), at(second), "--tolerance", "inf"}), 1) << error();
      EXPECT_NE(read(at("stdout")).find(words), std::string::npos)
          << "no \"" << words << "\" in " << read(at("stdout"));
    }
  };
  const auto agrees = [&] {
    EXPECT_EQ(run({"compare", at("a"), at("b"), "--tolerance", "0"}), 0) << read(at("stdout")) << error();
  };
  simulate("a", "output.fields=[\"velocity\", \"volume_ratio\"]");
  simulate("b", "output.fields=[\"velocity\"]");
  differs("Missing in one of the results: volume_ratio\n");
  simulate("b", "solver.end_time=0.1");
  differs("Frames are missing in one of the results.\n");
  differs("Rows of history.csv are missing in one of the results.\n");
  simulate("b", "output.fields=[\"velocity\", \"volume_ratio\"]");
  agrees();

  const std::string history = read(at("b") / "history.csv"), probes = read(at("b") / "probes.csv");
  const auto second = history.find('\n', history.find('\n') + 1) + 1, third = history.find('\n', second) + 1;
  std::ofstream(at("b") / "history.csv") << history.substr(0, second) + history.substr(third);
  differs("Rows of history.csv are missing in one of the results.\n");
  std::ofstream(at("b") / "history.csv") << history;
  fs::remove(at("b") / "probes.csv");
  differs("probes.csv is missing in one of the results.\n");
  std::string renamed = probes;
  std::ofstream(at("b") / "probes.csv") << renamed.replace(renamed.find("middle.y"), 8, "corner.y");
  differs("Columns of probes.csv are missing in one of the results: ");
  renamed = probes;
  const auto value = renamed.rfind(',') + 1;
  std::ofstream(at("b") / "probes.csv") << renamed.replace(value, renamed.size() - 1 - value, "inf");
  differs("Columns of probes.csv are finite in one of the results only: middle.z\n");
  std::ofstream(at("b") / "probes.csv") << probes;
  agrees();

  const auto frame = [&](const char* name) { return at(name) / "particles" / "particles_000003.vtp"; };
  const auto set = [&](const char* name, double number, double other) {
    change_frame(frame(name), [&](auto& data) {
      auto& values =
          std::get<std::vector<double>>(std::ranges::find(data, "velocity", &ductile::io::PointData::name)->values);
      values[7] = number;
      values[8] = other;
    });
  };
  for (const double number : {HUGE_VAL, std::nan("")}) {
    set("b", number, 1);
    differs("Finite in one of the results only: velocity\n");
  }
  // Equal infinities are equal, and hide no other difference.
  for (const char* name : {"a", "b"}) set(name, -HUGE_VAL, 1);
  agrees();
  set("b", -HUGE_VAL, 1.5);
  EXPECT_EQ(run({"compare", at("a"), at("b"), "--tolerance", "1e-3"}), 1) << read(at("stdout"));
  EXPECT_NE(read(at("stdout")).find("Beyond the tolerance of 0.001: velocity\n"), std::string::npos);
}

TEST_F(App, CompareMatchesRowsOfTheSameTime) {
  write_scene();
  const auto simulate = [&](const char* name, const char* step) {
    ASSERT_EQ(run({"run", at("scene.toml"), "-o", at(name), "-q", "--set", std::string("solver.time_step=") + step}), 0)
        << error();
  };
  simulate("a", "1e-3");
  simulate("b", "5e-4");
  // Rows between those of the larger steps are not missing.
  ASSERT_EQ(run({"compare", at("a"), at("b"), "--tolerance", "10"}), 0) << read(at("stdout")) << error();
  for (const char* words : {"history.csv, 121 rows of the same time", "probes.csv, 121 rows of the same time"})
    EXPECT_NE(read(at("stdout")).find(words), std::string::npos) << read(at("stdout"));
  // Steps that share the start alone; equal tables there would say nothing.
  const std::string table = read(at("b") / "history.csv");
  const auto head = table.find('\n') + 1, first = table.find('\n', head) + 1, second = table.find('\n', first);
  std::string row = table.substr(first, second - first + 1);
  row.replace(row.find("0.0005"), 6, "0.0007");
  std::ofstream(at("b") / "history.csv") << table.substr(0, first) + row;
  ASSERT_EQ(run({"compare", at("a"), at("b")}), 0) << error();
  EXPECT_NE(read(at("stdout")).find("history.csv: no row after the start"), std::string::npos) << read(at("stdout"));
}

TEST_F(App, CompareTakesRoundingForNoStress) {
  write_scene();
  // A few particles in free fall around the origin: stresses of 1e-11 Pa, which single precision does not know.
  const std::vector<std::string> fall{"colliders=[]",
                                      "bodies[0].angular_velocity=[0, 0, 0]",
                                      "bodies[0].position=[0, 0, 0]",
                                      "bodies[0].shape.size=[0.3, 0.3, 0.3]",
                                      "bodies[0].spacing=0.1",
                                      "solver.end_time=5e-3"};
  for (const std::string precision : {"single", "double"}) {
    std::vector<std::string> words{"run", at("scene.toml"), "-o", at(precision), "-q"};
    for (const auto& change : fall) words.insert(words.end(), {"--set", change});
    words.insert(words.end(), {"--set", "solver.precision=" + precision});
    ASSERT_EQ(run(words), 0) << error();
  }
  auto record = nlohmann::json::parse(read(at("single") / "run.json"));
  EXPECT_EQ(record.at("largest_youngs_modulus"), 1e5);
  EXPECT_EQ(record.at("overrides").size(), 7u);
  EXPECT_EQ(record.at("overrides").at(0), "colliders=[]");
  EXPECT_EQ(run({"compare", at("single"), at("double"), "--tolerance", "1e-2"}), 0) << read(at("stdout"));
  // Without the modulus nothing tells rounding from stress.
  for (const char* name : {"single", "double"}) {
    record = nlohmann::json::parse(read(at(name) / "run.json"));
    record.erase("largest_youngs_modulus");
    std::ofstream(at(name) / "run.json") << record.dump();
  }
  EXPECT_EQ(run({"compare", at("single"), at("double"), "--tolerance", "1e-2"}), 1) << read(at("stdout"));
}

/// What bash offers for the words typed so far, one a line.
std::string bash_offers(const fs::path& script, const std::string& words) {
  const std::string command =
      "PATH=" + fs::path(DUCTILE_EXECUTABLE).parent_path().string() + ":$PATH bash -c 'source " + script.string() +
      "; COMP_WORDS=(" + words +
      "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _ductile; printf \"%s\\n\" \"${COMPREPLY[@]}\"'";
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) text += static_cast<char>(c);
  pclose(pipe);
  return text;
}

TEST_F(App, BashCompletesCommandsOptionsAndScenes) {
  ASSERT_EQ(run({"completion", "bash"}), 0) << error();
  fs::copy_file(at("stdout"), at("script"));
  EXPECT_EQ(bash_offers(at("script"), "ductile comp"), "compare\ncompletion\n");
  EXPECT_EQ(bash_offers(at("script"), "ductile run --thr"), "--threads\n");
  EXPECT_EQ(bash_offers(at("script"), "ductile run first_li"), "first_light\n");
  EXPECT_EQ(bash_offers(at("script"), "ductile run --threads 2 -q first_li"), "first_light\n");
  EXPECT_EQ(bash_offers(at("script"), "ductile run -o first_li"), "\n") << "a folder is expected there";
  EXPECT_EQ(bash_offers(at("script"), "ductile run bar --set x=1 first_li"), "\n") << "there is a scene already";
  EXPECT_EQ(bash_offers(at("script"), "ductile bench sv"), "svd\n");
  EXPECT_EQ(bash_offers(at("script"), "ductile bench svd --precision do"), "double\n");
  EXPECT_EQ(bash_offers(at("script"), "ductile validate --quick rotation ca"), "cantilever\n");
  EXPECT_EQ(bash_offers(at("script"), "ductile he"), "help\n");
  EXPECT_EQ(bash_offers(at("script"), "ductile help comp"), "compare\ncompletion\n");
  EXPECT_EQ(bash_offers(at("script"), "ductile probe first_light --path sh"), "shear\n");
  for (const std::string shell : {"zsh", "fish"}) {
    ASSERT_EQ(run({"completion", shell}), 0) << error();
    for (const char* word : {"compare", "threads", "scenes --names"})
      EXPECT_NE(read(at("stdout")).find(word), std::string::npos) << shell << ": " << word;
    if (std::system(("command -v " + shell + " >/dev/null 2>&1").c_str()) == 0) {
      EXPECT_EQ(std::system((shell + " -n " + at("stdout").string()).c_str()), 0) << "is no script of " << shell;
    }
  }
  expect_error(2, {"completion", "tcsh"}, {"bash, zsh and fish"});
}

TEST_F(App, BashOffersEveryStudy) {
  ASSERT_EQ(run({"completion", "bash"}), 0) << error();
  std::istringstream offers(bash_offers(at("stdout"), "ductile validate \"\""));
  std::string listed = "STUDIES = [";
  for (std::string name; offers >> name;) listed += (listed.ends_with('[') ? "\"" : ", \"") + name + '"';
  const std::string studies = read(DUCTILE_SOURCE_DIR "/validation/validate.py");
  const auto begin = studies.find("STUDIES = [");
  std::istringstream words(studies.substr(begin, studies.find(']', begin) - begin));
  std::string known;
  for (std::string word; words >> word;) known += (known.empty() ? "" : " ") + word;
  EXPECT_EQ(listed, known);
}

TEST_F(App, BenchCasesStandInColumns) {
  ASSERT_EQ(run({"bench", "--help"}), 0);
  std::istringstream lines(read(at("stdout")));
  std::vector<std::size_t> columns;
  bool cases = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("Example") != std::string::npos) break;
    const auto name = line.find_first_not_of(' ');
    if (cases && name != std::string::npos) columns.push_back(line.find_first_not_of(' ', line.find(' ', name)));
    cases = cases || line.find("Cases:") != std::string::npos;
  }
  ASSERT_GT(columns.size(), 4u);
  for (const auto column : columns) EXPECT_EQ(column, columns[0]) << read(at("stdout"));
}

TEST_F(App, EveryCommandHasAnExample) {
  ASSERT_EQ(run({"--help"}), 0);
  const std::string help = read(at("stdout"));
  for (const std::string command :
       {"run", "check", "probe", "bench", "validate", "scenes", "compare", "devices", "completion"}) {
    EXPECT_NE(help.find("  " + command + " "), std::string::npos) << command;
    ASSERT_EQ(run({command, "--help"}), 0);
    EXPECT_NE(read(at("stdout")).find("Example"), std::string::npos) << command;
    EXPECT_NE(read(at("stdout")).find("  ductile " + command), std::string::npos) << command;
  }
}

TEST_F(App, CheckAndDevicesAndProbePrint) {
  EXPECT_EQ(run({"check", write_scene()}), 0);
  EXPECT_NE(read(at("stdout")).find("512 particles"), std::string::npos);
  EXPECT_EQ(run({"devices"}), 0);
  EXPECT_NE(read(at("stdout")).find("back end"), std::string::npos);
  EXPECT_EQ(run({"probe", at("scene.toml"), "--material", "rubber", "--F", "1.1,0,0,0,1,0,0,0,1"}), 0) << error();
  const auto point = nlohmann::json::parse(read(at("stdout")));
  EXPECT_GT(point.at("energy"), 0);
  EXPECT_EQ(point.at("P").size(), 9u);
  expect_error(2, {"probe", at("scene.toml"), "--material", "steel", "--F", "1,0,0,0,1,0,0,0,1"}, {"rubber"});
  const std::vector<std::string> probe{"probe", at("scene.toml"), "--material", "rubber"};
  const auto refused = [&](std::vector<std::string> more, const std::vector<std::string>& words) {
    more.insert(more.begin(), probe.begin(), probe.end());
    expect_error(2, more, words);
    EXPECT_LT(error().size(), 250u) << error();
  };
  refused({"--F", "1e200,0,0,0,1,0,0,0,1"}, {"too large", "rubber"});
  refused({"--F", "1e120,0,0,0,1e120,0,0,0,1e120"}, {"too large", "rubber"});
  refused({"--F", "inf,0,0,0,1,0,0,0,1"}, {"not finite"});
  refused({"--F", "1,0,0,0,1,0,0,0,1", "--dt", "-1"}, {"--dt -1", "above 0"});
  // What rests is at a stretch of 1 and a shear of 0; a path that stays there is no curve.
  for (const auto& [path, first, last] :
       {std::tuple{"uniaxial", 1.0, 2.0}, {"shear", 0.0, 1.0}, {"volumetric", 1.0, 2.0}}) {
    ASSERT_EQ(run({"probe", at("scene.toml"), "--material", "rubber", "--path", path}), 0) << error();
    const auto stretch = ductile::io::CsvTable::read(at("stdout")).column("stretch");
    EXPECT_EQ(stretch.size(), 21u);
    EXPECT_EQ(stretch.front(), first);
    EXPECT_EQ(stretch.back(), last);
  }
  refused({"--path", "uniaxial", "--from", "2"}, {"stays", "--to"});
  refused({"--path", "shear", "--to", "0"}, {"stays", "--from"});
  EXPECT_EQ(run({"probe", at("scene.toml"), "--material", "rubber", "--path", "shear", "--from", "1", "--to", "1"}), 0);
  ASSERT_EQ(run({"probe", "--help"}), 0);
  for (const char* words : {"default: 1, rest", "default: 2)", "default: 20"})
    EXPECT_NE(read(at("stdout")).find(words), std::string::npos) << words << " is not in " << read(at("stdout"));
  expect_error(2, {"compare", at("a"), at("b"), "--tolerance", "-1"}, {"--tolerance", "from 0 on"});
  EXPECT_LT(error().size(), 250u) << error();
}

}  // namespace
