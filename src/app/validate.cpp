#include "app/validate.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/error.hpp"

namespace ductile::app {

namespace {

namespace fs = std::filesystem;

fs::path this_executable() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (error) throw DeviceError(fmt::format("The program cannot find its own file: {}", error.message()));
  return path;
}

/// The source tree: a folder above the program, or the one it was built from.
fs::path source_root(const fs::path& executable) {
  for (fs::path folder = executable.parent_path(); folder != folder.parent_path(); folder = folder.parent_path())
    if (fs::exists(folder / "validation/validate.py")) return folder;
  return DUCTILE_SOURCE_DIR;
}

/// The program of another back end, if it has been built.
fs::path other_backend(const fs::path& root, const fs::path& executable) {
  for (const char* name : {"host", "dpcpp-jit"}) {
    const fs::path other = root / "build" / name / "ductile";
    if (fs::exists(other) && !fs::equivalent(other, executable)) return other;
  }
  return {};
}

/// Whether results.json of a folder says that it is a report.
bool holds_report(const fs::path& folder) {
  std::ifstream file(folder / "results.json");
  const auto results = nlohmann::json::parse(file, nullptr, false);
  return results.is_object() && results.contains("studies");
}

/// A report goes into a new or empty folder, or where one is already and may be changed.
void check_output(const ValidateOptions& options) {
  const std::string name = options.output.string();
  if (!fs::exists(options.output)) return;
  if (!fs::is_directory(options.output))
    throw InputError(fmt::format("{} is a file. Give a folder for the report with -o.", name));
  if (options.force || fs::is_empty(options.output)) return;
  if (!holds_report(options.output))
    throw InputError(
        fmt::format("{} holds other files, which the report could replace (README.md, results.json, report.html, "
                    "figures): give a new or empty folder with -o, or --force.",
                    name));
  if (!options.update)
    throw InputError(
        fmt::format("{} holds a report already: give another folder with -o, --update to replace only "
                    "these studies in it, or --force to replace it.",
                    name));
}

}  // namespace

std::vector<std::string> validation_command(const ValidateOptions& options, const fs::path& root,
                                            const fs::path& executable) {
  const fs::path script = root / "validation/validate.py", python = root / ".venv/bin/python";
  const fs::path fem = executable.parent_path() / "ductile_fem";
  const bool built_here = fs::exists(fem) || executable.string().starts_with(root.string() + "/");
  if (!fs::exists(script) || !built_here)
    throw InputError(
        "The studies are in Ductile's source tree and don't come along with an installed program: run "
        "`tools/ductile validate` there.");
  if (!fs::exists(python))
    throw DeviceError(
        fmt::format("The studies need Python with NumPy, SciPy, Matplotlib and PyVista, and {} has no "
                    "environment. Make it with `tools/setup --python`.",
                    root.string()));
  if (!fs::exists(fem))
    throw DeviceError(fmt::format(
        "The finite-element reference {} has not been built. Build it with `tools/build host`.", fem.string()));
  if (!options.list) check_output(options);
  std::vector<std::string> command{python, script, "--ductile", executable, "--fem", fem, "-o", options.output};
  if (options.quick) command.emplace_back("--quick");
  if (options.update) command.emplace_back("--update");
  if (options.list) command.emplace_back("--list");
  if (const fs::path other = other_backend(root, executable); !other.empty())
    command.insert(command.end(), {"--other", other});
  command.insert(command.end(), options.studies.begin(), options.studies.end());
  return command;
}

void validate(const ValidateOptions& options) {
  const fs::path executable = this_executable();
  std::vector<std::string> command = validation_command(options, source_root(executable), executable);
  std::vector<char*> arguments;
  for (auto& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  execv(arguments[0], arguments.data());
  throw DeviceError(
      fmt::format("{} does not start: {}. Make the Python environment again: remove .venv, then "
                  "`tools/setup --python`.",
                  command[0], std::strerror(errno)));
}

}  // namespace ductile::app
