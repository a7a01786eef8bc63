#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ductile::app {

/// `ductile check`: reads and samples a scene and prints what a run would do; returns the exit code.
int check(const std::filesystem::path& scene, const std::vector<std::string>& overrides);
/// `ductile devices`
int devices();

}  // namespace ductile::app
