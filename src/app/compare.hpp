#pragma once

#include <filesystem>
#include <optional>

namespace ductile::app {

struct CompareOptions {
  std::filesystem::path a, b;       ///< result folders
  std::optional<double> tolerance;  ///< bound on the relative difference of every field
};

/// `ductile compare`: differences of two results, and of their speed. Returns 0, or 1 if a field differs by more than
/// the tolerance; throws InputError where the results can't be compared.
int compare(const CompareOptions& options);

}  // namespace ductile::app
