#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>

namespace ductile::scene {

/// toml::parse, safe for any bytes. Throws toml::parse_error.
[[nodiscard]] toml::table parse_toml(std::string_view text, const std::string& source);

}  // namespace ductile::scene
