#pragma once

#include <toml++/toml.h>

#include <string>
#include <vector>

#include "scene/problems.hpp"

namespace ductile::scene {

/// Puts `path=value` texts into a scene's table, the later ones last. A path goes through tables by key and through
/// lists by index or by the name of an element: `bodies[0].spacing`, `bodies.beam.spacing`. Keys that do not exist are
/// created; whether they make sense is for the reader to say. Everything put in has `--set path=value` as its source.
void apply_overrides(toml::table& scene, const std::vector<std::string>& overrides, Problems& problems);

}  // namespace ductile::scene
