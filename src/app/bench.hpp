#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ductile::app {

struct BenchOptions {
  std::vector<std::string> cases;  ///< empty: all
  std::filesystem::path json;      ///< empty: none
  std::string device;
  std::string precision = "single";
  double particles = 216000;
  int threads = 0;
};

/// Names of the cases with a line of explanation each.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> bench_cases();
/// `ductile bench`; returns the exit code.
int bench(const BenchOptions& options);

}  // namespace ductile::app
