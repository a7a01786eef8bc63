#include "scene/toml_text.hpp"

#include <memory>

namespace ductile::scene {
namespace {

/// toml++ 3.3 bounds the nesting of values but not of dotted keys (a.a.a...), which it walks by recursion: enough of
/// them overflow the stack. Finds the first run of more dots than any key needs.
toml::source_position find_endless_key(std::string_view text) {
  constexpr int most = 100;
  toml::source_position place{1, 1};
  int dots = 0;
  for (const char c : text) {
    if (c == '.' && ++dots > most) return place;
    const bool ends_key = std::string_view("=,[]{}#\n").find(c) != std::string_view::npos;
    if (ends_key) dots = 0;
    ++place.column;
    if (c == '\n') place = {place.line + 1, 1};
  }
  return {};
}

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& source) {
  if (const toml::source_position place = find_endless_key(text))
    throw toml::parse_error("Encountered too many dots in a row of keys", place,
                            std::make_shared<const std::string>(source));
  return toml::parse(text, source);
}

}  // namespace ductile::scene
