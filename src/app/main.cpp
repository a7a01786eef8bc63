#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>

#include "app/bench.hpp"
#include "app/check.hpp"
#include "app/compare.hpp"
#include "app/completion.hpp"
#include "app/probe.hpp"
#include "app/run.hpp"
#include "app/shipped.hpp"
#include "app/text.hpp"
#include "app/validate.hpp"
#include "app/version.hpp"
#include "common/error.hpp"
#include "runtime/backend.hpp"
#include "runtime/queue.hpp"
#include "scene/text.hpp"

namespace {

using namespace ductile;

enum ExitCode { done = 0, failed = 1, wrong_input = 2, unusable_device = 3 };

void add_scene(CLI::App& command, std::filesystem::path& scene, std::vector<std::string>& overrides) {
  command.add_option("scene", scene, "scene file (TOML), or the name of a scene that comes with Ductile")
      ->required()
      ->type_name("SCENE");
  command.add_option("--set", overrides, "override a value, e.g. --set solver.iterations=40 (repeatable)")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_run(CLI::App& program, const char* name, std::function<int()>& action) {
  auto* command = program.add_subcommand("run", "simulate a scene");
  auto options = std::make_shared<app::RunOptions>();
  if (name != nullptr && *name != '\0') options->program = name;
  add_scene(*command, options->scene, options->overrides);
  command->add_option("-o,--output", options->output, "result folder (default: results/<scene's name>)")
      ->type_name("DIR")
      ->check(
          [](const std::string& folder) { return std::string(folder.empty() ? "the folder's name is empty" : ""); });
  command->add_option("--threads", options->threads, "CPU threads (default: all)")->check(CLI::Range(1, most_threads));
  command->add_option("--device", options->device, "device by number or part of its name; see `ductile devices`");
  command->add_flag("--resume", options->resume, "go on from the last checkpoint in the result folder");
  command->add_flag("--force", options->force, "replace the result in the folder");
  command->add_flag("-q,--quiet", options->quiet, "print errors only");
  command->footer(
      "Ctrl-C finishes the frame, writes a checkpoint and says how to go on; a second one stops after the present "
      "step.\n"
      "Examples:\n"
      "  ductile run first_light\n"
      "  ductile run scenes/first_light.toml -o soft --set materials.rubber.elastic.youngs_modulus=2e4\n"
      "  ductile run first_light --resume");
  command->callback([options, &action] {
    action = [options] {
      options->scene_file = app::find_scene(options->scene);
      return app::run(*options);
    };
  });
}

void add_check(CLI::App& program, std::function<int()>& action) {
  struct Options {
    std::filesystem::path scene;
    std::vector<std::string> overrides;
  };
  auto* command = program.add_subcommand("check", "check a scene and say what a run would need; simulate nothing");
  auto options = std::make_shared<Options>();
  add_scene(*command, options->scene, options->overrides);
  command->footer("Example:\n  ductile check first_light --set bodies[0].spacing=0.01");
  command->callback([options, &action] {
    action = [options] { return app::check(app::find_scene(options->scene), options->overrides); };
  });
}

struct ProbeOptions {
  std::filesystem::path scene;
  std::vector<std::string> overrides, state;
  std::string material, path;
  std::vector<double> F;
  std::optional<double> time_step, from, to;
  int steps = 20;
};

/// Without --from a path starts at rest, without --to it ends one further.
int probe_path(const scene::Material& material, const ProbeOptions& options) {
  const auto kind = options.path == "uniaxial" ? app::ProbePath::uniaxial
                    : options.path == "shear"  ? app::ProbePath::shear
                                               : app::ProbePath::volumetric;
  const double rest = kind == app::ProbePath::shear ? 0 : 1;
  const double from = options.from.value_or(rest), to = options.to.value_or(rest + 1);
  // To stay where it is may be meant, as for a material that creeps, but must be said.
  if (from == to && !(options.from && options.to))
    throw InputError(fmt::format("A path from {:g} to {:g} stays where it is: give {} too.", from, to,
                                 options.from ? "--to" : "--from"));
  fmt::print("{}", app::probe_path(material, kind, from, to, options.steps, options.time_step));
  return done;
}

int probe(const ProbeOptions& options) {
  const auto scene = scene::read_scene(app::find_scene(options.scene), options.overrides);
  const auto found = std::find_if(scene.materials.begin(), scene.materials.end(),
                                  [&](const auto& material) { return material.name == options.material; });
  if (found == scene.materials.end()) {
    std::string known;
    for (const auto& material : scene.materials) known += (known.empty() ? "" : ", ") + material.name;
    throw InputError(
        fmt::format("{} has no material \"{}\"; it has {}.", options.scene.string(), options.material, known));
  }
  if (options.path.empty()) {
    Mat3<double> F{};
    std::copy(options.F.begin(), options.F.end(), F.m);
    fmt::print("{}", app::probe_point(*found, F, options.time_step, options.state));
    return done;
  }
  return probe_path(*found, options);
}

void add_probe(CLI::App& program, std::function<int()>& action) {
  auto* command =
      program.add_subcommand("probe", "evaluate one material point: stress and energy, or a stress-strain curve");
  auto options = std::make_shared<ProbeOptions>();
  add_scene(*command, options->scene, options->overrides);
  command->add_option("--material", options->material, "name of the material")->required();
  auto* F = command->add_option("--F", options->F, "deformation gradient, nine numbers row by row")
                ->delimiter(',')
                ->expected(9)
                ->type_name("f11,f12,...,f33");
  command->add_option("--dt", options->time_step, "duration in seconds, for laws that depend on the rate");
  command->add_option("--state", options->state, "plastic state before, e.g. --state yield_stress=80")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->needs(F);
  auto* path = command->add_option("--path", options->path, "uniaxial (free lateral faces), shear or volumetric")
                   ->check(CLI::IsMember({"uniaxial", "shear", "volumetric"}))
                   ->excludes(F);
  command->add_option("--from", options->from, "first stretch (default: 1, rest), or first shear (0)")->needs(path);
  command->add_option("--to", options->to, "last stretch (default: 2), or last shear (1)")->needs(path);
  command->add_option("--steps", options->steps, "steps from first to last (default: 20)")
      ->check(CLI::Range(1, 10000000))
      ->needs(path);
  command->footer(
      "Examples:\n"
      "  ductile probe first_light --material rubber --F 1.1,0,0,0,1,0,0,0,1\n"
      "  ductile probe first_light --material rubber --path uniaxial\n"
      "  ductile probe first_light --material rubber --path uniaxial --from 0.5 --to 2 --steps 150");
  command->callback([options, F, path, &action] {
    if (F->empty() && path->empty()) throw CLI::RequiredError("--F or --path");
    action = [options] { return probe(*options); };
  });
}

void add_bench(CLI::App& program, std::function<int()>& action) {
  auto* command = program.add_subcommand("bench", "measure throughput");
  auto options = std::make_shared<app::BenchOptions>();
  std::string cases = "Cases:\n";
  std::size_t longest = 0;
  for (const auto& [name, text] : app::bench_cases()) longest = std::max(longest, name.size());
  for (const auto& [name, text] : app::bench_cases()) cases += fmt::format("  {:<{}} {}\n", name, longest + 1, text);
  command->add_option("cases", options->cases, "cases to run (default: all)")->type_name("CASE");
  command->add_option("--json", options->json, "also write the figures to this file")->type_name("FILE");
  command->add_option("--particles", options->particles, "particles per case")->capture_default_str();
  command->add_option("--precision", options->precision, "single or double")->capture_default_str();
  command->add_option("--threads", options->threads, "CPU threads (default: all)")->check(CLI::Range(1, most_threads));
  command->add_option("--device", options->device, "device by number or part of its name");
  command->footer(cases + "Example:\n  ductile bench total-lagrangian --particles 1000000 --json bench.json");
  command->callback([options, &action] { action = [options] { return app::bench(*options); }; });
}

void add_validate(CLI::App& program, std::function<int()>& action) {
  auto* command =
      program.add_subcommand("validate", "run validation studies: tables, plots, one report; 1 if a bound is missed");
  auto options = std::make_shared<app::ValidateOptions>();
  command->add_option("studies", options->studies, "studies to run (default: all)")->type_name("STUDY");
  command->add_option("-o,--output", options->output, "folder of the report")->type_name("DIR")->capture_default_str();
  command->add_flag("--quick", options->quick, "short forms: minutes instead of an hour");
  command->add_flag("--list", options->list, "only list the studies");
  command->add_flag("--update", options->update, "replace only these studies of the report in the folder");
  command->add_flag("--force", options->force, "replace a report, or other files, in the folder");
  command->footer(
      "Needs the Python environment of `tools/setup --python`.\n"
      "Examples:\n"
      "  ductile validate --quick\n"
      "  ductile validate cantilever rotation -o results/beam\n"
      "  ductile validate column --update             (run one again, keep the rest of the report)");
  command->callback([options, &action] { action = [options]() -> int { app::validate(*options); }; });
}

void add_scenes(CLI::App& program, std::function<int()>& action) {
  auto* command = program.add_subcommand("scenes", "list the scenes that come with Ductile");
  auto names = std::make_shared<bool>(false);
  command->add_flag("--names", *names, "names only, one a line");
  command->footer("Example:\n  ductile scenes");
  command->callback([names, &action] { action = [names] { return app::list_scenes(*names); }; });
}

void add_compare(CLI::App& program, std::function<int()>& action) {
  auto* command = program.add_subcommand("compare", "differences of two results, field by field, and of their speed");
  auto options = std::make_shared<app::CompareOptions>();
  command->add_option("a", options->a, "result folder")->required()->type_name("A");
  command->add_option("b", options->b, "result folder to compare with it")->required()->type_name("B");
  command->add_option("--tolerance", options->tolerance, "exit with 1 if a field differs by more, relative to its size")
      ->check([](const std::string& number) {
        return std::string(std::strtod(number.c_str(), nullptr) >= 0 ? "" : "a tolerance is a number from 0 on");
      });
  command->footer(
      "A difference is the norm over the components of a field. It is relative to the largest norm in either result, "
      "for\n"
      "positions to the size of the scene, for stresses at least to the rounding of Young's modulus. Particles are\n"
      "matched by id, frames and rows by time. Exit code 0 whatever the differences are, unless --tolerance is given: "
      "then\n"
      "1 for a larger difference, and for what one of the results lacks.\n"
      "Examples:\n"
      "  ductile compare results/cpu results/gpu\n"
      "  ductile compare results/single results/double --tolerance 1e-3");
  command->callback([options, &action] { action = [options] { return app::compare(*options); }; });
}

void add_completion(CLI::App& program, std::function<int()>& action) {
  auto* command = program.add_subcommand("completion", "print a script that completes commands, options and scenes");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")->required()->type_name("SHELL");
  command->footer(
      "Examples:\n"
      "  source <(ductile completion bash)                                      # in ~/.bashrc\n"
      "  source <(ductile completion zsh)                                       # in ~/.zshrc, after compinit\n"
      "  ductile completion fish > ~/.config/fish/completions/ductile.fish");
  command->callback([&program, shell, &action] {
    action = [&program, shell] {
      fmt::print("{}", app::completion(program, *shell));
      return done;
    };
  });
}

void add_devices(CLI::App& program, std::function<int()>& action) {
  auto* command = program.add_subcommand("devices", "list the devices of this back end");
  command->footer("Example:\n  ductile devices\n  ductile run first_light --device 0");
  command->callback([&action] { action = app::devices; });
}

int report(const char* what, ExitCode code) {
  std::fflush(stdout);
  app::tell(fmt::format("{}\n", what));
  return code;
}

void refuse_unknown(const CLI::App& program, const std::string& command) {
  if (command.empty() || command.front() == '-') return;
  const auto commands = program.get_subcommands([](const CLI::App*) { return true; });
  std::vector<std::string> names;
  for (const CLI::App* known : commands) names.push_back(known->get_name());
  if (std::find(names.begin(), names.end(), command) != names.end()) return;
  const std::vector<std::string_view> views(names.begin(), names.end());
  throw InputError(fmt::format("There is no command {}{}\n    expected {}; `ductile --help` explains them.",
                               scene::in_quotes(command), scene::suggestion(command, views), scene::listed(views)));
}

/// ` --thread is not an option of run; did you mean "--threads"?` for each option that the command lacks.
std::string unknown_options(const CLI::App& command, const std::vector<std::string>& words) {
  std::vector<std::string> long_names, short_names;
  for (const CLI::Option* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) long_names.push_back("--" + name);
    for (const auto& name : option->get_snames()) short_names.push_back("-" + name);
  }
  const std::vector<std::string_view> suggested(long_names.begin(), long_names.end());
  std::string text;
  for (const auto& word : words) {
    const bool is_long = word.starts_with("--");
    // A short option may have its value, or others, right behind it; -1 is a number.
    if (!is_long && (word.size() < 2 || word[0] != '-' || std::isalpha(static_cast<unsigned char>(word[1])) == 0))
      continue;
    const auto option = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
    const auto& known = is_long ? long_names : short_names;
    if (option == "--" || std::find(known.begin(), known.end(), option) != known.end()) continue;
    text += fmt::format("\n    {} is not an option of {}{}", option, command.get_name(),
                        is_long ? scene::suggestion(option, suggested) : "");
  }
  return text;
}

int execute(int argc, char** argv) {
  CLI::App program("Ductile simulates elastic and inelastic solids with particles.", "ductile");
  program.set_version_flag("--version", app::version);
  program.require_subcommand(1);
  program.footer(
      "First steps:\n"
      "  ductile scenes                     what there is to run\n"
      "  ductile run first_light            simulate into results/first_light, for ParaView\n"
      "  ductile run --help                 options and examples; every command has them (also: ductile help run)\n"
      "Exit codes: 0 done, 1 the simulation failed, 2 the input is wrong, 3 the device is unusable, 130 interrupted.");
  std::function<int()> action;
  add_run(program, argv[0], action);
  add_check(program, action);
  add_probe(program, action);
  add_bench(program, action);
  add_validate(program, action);
  add_scenes(program, action);
  add_compare(program, action);
  add_devices(program, action);
  add_completion(program, action);
  std::vector<std::string> words(argv + 1, argv + std::max(1, argc));
  if (!words.empty() && words[0] == "help") {  // `help run` as `run --help`
    words.erase(words.begin());
    words.resize(std::min<std::size_t>(words.size(), 1));
    words.emplace_back("--help");
  }
  const std::string command = words.empty() ? "" : words[0];
  refuse_unknown(program, command);
  try {
    program.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // it takes them from the back
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);
    const bool named = !command.starts_with('-') && !command.empty();
    if (!named)  // those behind a command are its own
      words.erase(std::find_if(words.begin(), words.end(), [](const auto& word) { return !word.starts_with('-'); }),
                  words.end());
    const std::string unknown = unknown_options(named ? *program.get_subcommand(command) : program, words);
    return report(fmt::format("{}{}\n    `ductile {}--help` has options and examples.", error.what(), unknown,
                              named ? command + " " : "")
                      .c_str(),
                  wrong_input);
  }
  return action();
}

/// A file that is opened where a standard stream was closed would get what is printed.
void fill_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0) (void)open("/dev/null", O_RDWR);  // the lowest number that is free
}

/// What was printed may still be on its way: a full disk below it shows only now.
int flushed(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return report(fmt::format("Not all that was printed could be written: {}.", std::strerror(errno)).c_str(), failed);
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_streams();
  // Beyond `ulimit -f` a write then fails with an error that says so, instead of ending the program without a word.
  std::signal(SIGXFSZ, SIG_IGN);
  backend::prepare_process(argv);
  try {
    return flushed(execute(argc, argv));
  } catch (const InputError& error) {
    return report(error.what(), wrong_input);
  } catch (const SimulationError& error) {
    return report(error.what(), failed);
  } catch (const DeviceError& error) {
    return report(error.what(), unusable_device);
  } catch (const std::bad_alloc&) {
    return report("There is not enough memory. Use a larger spacing, or a machine with more memory.", failed);
  } catch (const std::system_error& error) {
    return report(error.what(), failed);
  } catch (const std::exception& error) {
    return report(fmt::format("Ductile failed unexpectedly: {}", error.what()).c_str(), failed);
  }
}
