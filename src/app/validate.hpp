#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ductile::app {

struct ValidateOptions {
  std::vector<std::string> studies;  ///< empty: all
  std::filesystem::path output = "results/validation";
  bool quick = false, list = false;
  bool force = false;   ///< replace what is there
  bool update = false;  ///< keep its other studies
};

/// Command line that runs the studies of the source tree `root` with the programs beside `executable`. Throws
/// InputError for a folder that holds a report or other files already and for an installed program, DeviceError where
/// the Python environment or the finite-element program is missing.
[[nodiscard]] std::vector<std::string> validation_command(const ValidateOptions& options,
                                                          const std::filesystem::path& root,
                                                          const std::filesystem::path& executable);

/// `ductile validate`: becomes the process that runs the studies, so that its exit code and interrupts are its own.
[[noreturn]] void validate(const ValidateOptions& options);

}  // namespace ductile::app
