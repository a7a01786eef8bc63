#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ductile::app {

struct RunOptions {
  std::string program = "ductile";   ///< as the user called it
  std::filesystem::path scene;       ///< as the user gave it
  std::filesystem::path scene_file;  ///< where it is
  std::filesystem::path output;      ///< empty: results/<stem of the scene>
  std::vector<std::string> overrides;
  std::string device;
  int threads = 0;
  bool resume = false, force = false, quiet = false;
};

/// `ductile run`; returns the exit code.
int run(const RunOptions& options);

}  // namespace ductile::app
