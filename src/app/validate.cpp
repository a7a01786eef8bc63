#include "app/validate.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

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
  if (!options.list && !options.force && !options.update && fs::exists(options.output / "report.html"))
    throw InputError(
        fmt::format("{} holds a report already: give another folder with -o, --update to replace only "
                    "these studies in it, or --force to replace it.",
                    options.output.string()));
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
