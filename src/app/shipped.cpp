#include "app/shipped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <system_error>

#include "common/error.hpp"
#include "io/files.hpp"
#include "scene/text.hpp"
#include "scene/toml_text.hpp"

namespace ductile::app {

namespace fs = std::filesystem;

namespace {

/// Beside an installed program, or above one in a build folder of the source tree; empty if there is none.
fs::path scenes_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  std::vector<fs::path> places{program.parent_path().parent_path() / "share" / "ductile" / "scenes"};
  for (fs::path above = program.parent_path(); above.has_relative_path(); above = above.parent_path())
    places.push_back(above / "scenes");
  for (const auto& place : places)
    if (fs::is_regular_file(place / "first_light.toml", error)) return place;
  return {};
}

std::string title_of(const fs::path& file) {
  try {
    return scene::parse_toml(io::read_whole(file), file.string())["title"].value_or(std::string());
  } catch (const toml::parse_error&) {
    return "(not a scene: `ductile check` says why)";
  }
}

}  // namespace

std::vector<ShippedScene> shipped_scenes() {
  std::vector<ShippedScene> scenes;
  const fs::path folder = scenes_folder();
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& file = entry->path();
    if (file.extension() != ".toml" || !entry->is_regular_file(error)) continue;
    scenes.push_back({fs::relative(file, folder).replace_extension().generic_string(), title_of(file), file});
  }
  std::sort(scenes.begin(), scenes.end(), [](const auto& a, const auto& b) {
    const auto depth = [](const auto& scene) { return std::count(scene.name.begin(), scene.name.end(), '/'); };
    return std::pair(depth(a), a.name) < std::pair(depth(b), b.name);
  });
  return scenes;
}

fs::path find_scene(const fs::path& asked) {
  std::error_code error;
  if (fs::is_regular_file(asked, error)) return asked;
  if (asked.empty()) throw InputError("The scene's name is empty: give a file, or a name that `ductile scenes` lists.");
  const auto scenes = shipped_scenes();
  if (asked.has_extension()) {  // a path, whose own errors are the better ones
    if (fs::exists(asked, error)) return asked;
    for (const auto& shipped : scenes)
      if (asked == shipped.name + ".toml" || asked == "scenes/" + shipped.name + ".toml")
        throw InputError(fmt::format("There is no file {}, but {} comes with Ductile: `ductile run {}`", asked.string(),
                                     shipped.name, shipped.name));
    return asked;
  }
  std::vector<std::string_view> names;
  for (const auto& shipped : scenes) {
    if (shipped.name == asked.generic_string()) return shipped.file;
    names.push_back(shipped.name);
  }
  if (fs::is_directory(asked, error))
    throw InputError(fmt::format("{} is a folder: give the scene file (TOML) in it.", asked.string()));
  if (fs::exists(asked, error)) return asked;  // a pipe or device, which the reader refuses
  throw InputError(fmt::format(
      "There is no file {} and no scene of that name comes with Ductile{}\n    `ductile scenes` lists those "
      "that do; a file is given with its ending.",
      asked.string(), scene::suggestion(asked.generic_string(), names)));
}

int list_scenes(bool names_only) {
  const auto scenes = shipped_scenes();
  if (scenes.empty())
    throw InputError(
        "The scenes that come with Ductile are not beside this program: install it with `cmake --install`, or run it "
        "from its source tree.");
  std::size_t width = 0;
  for (const auto& scene : scenes) width = std::max(width, scene.name.size());
  for (const auto& scene : scenes)
    if (names_only)
      fmt::print("{}\n", scene.name);
    else
      fmt::print("  {:<{}}  {}\n", scene.name, width, scene.title);
  if (!names_only) fmt::print("\nRun one by its name: ductile run first_light\n");
  return 0;
}

}  // namespace ductile::app
