#pragma once

#include <filesystem>
#include <optional>

namespace ductile::app {

struct CompareOptions {
  std::filesystem::path a, b;       ///< result folders
  std::optional<double> tolerance;  ///< bound on the relative difference of every field
};

/// `ductile compare`: differences of two results, and of their speed. Returns 0; with a tolerance 1 if a field differs
/// by more, or if one result lacks what the other has or has no finite number where the other has one. Throws
/// InputError where the results can't be compared.
int compare(const CompareOptions& options);

}  // namespace ductile::app
