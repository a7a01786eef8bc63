#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ductile::app {

/// A scene that comes with the program.
struct ShippedScene {
  std::string name;  ///< as `ductile run` takes it: the file's path below the scenes' folder, without its ending
  std::string title;
  std::filesystem::path file;
};

/// By name, those in sub-folders last; empty where the program was copied away from its scenes.
[[nodiscard]] std::vector<ShippedScene> shipped_scenes();
/// The file that the user means: that file, or else the shipped scene of this name. Throws InputError.
[[nodiscard]] std::filesystem::path find_scene(const std::filesystem::path& scene);
/// `ductile scenes`; returns the exit code.
int list_scenes(bool names_only);

}  // namespace ductile::app
