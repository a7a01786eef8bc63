#include "scene/problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "common/error.hpp"

namespace ductile::scene {
namespace {

std::string indented(std::string_view lines) {
  std::string out = "\n    ";
  for (const char c : lines) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out;
}

// What has no place of its own (a table that is missing altogether) is reported at the start of the file.
toml::source_position position_of(const toml::source_region& place) {
  return place.begin ? place.begin : toml::source_position{1, 1};
}

}  // namespace

std::string Problems::name_of(const toml::source_region& place) const {
  if (place.path && *place.path != file_) return *place.path;
  const auto position = position_of(place);
  return fmt::format("{}:{}:{}", file_, position.line, position.column);
}

void Problems::add(const toml::source_region& place, const std::string& what, const std::string& expected) {
  if (place.path && *place.path != file_) {
    add(*place.path, what, expected);
    return;
  }
  problems_.push_back({true, position_of(place), fmt::format("{}: {}{}", name_of(place), what, indented(expected))});
}

void Problems::add(std::string_view source, const std::string& what, const std::string& expected) {
  problems_.push_back({false, {}, fmt::format("{}: {}{}", source, what, indented(expected))});
}

void Problems::throw_if_any() const {
  if (problems_.empty()) return;
  constexpr std::size_t most = 1000;  // keeps the report of a file that is not a scene readable
  auto sorted = problems_;
  std::ranges::stable_sort(sorted, {}, [](const Problem& problem) {
    return std::tuple(!problem.in_file, problem.position.line, problem.position.column);
  });
  std::string text;
  for (std::size_t k = 0; k < std::min(sorted.size(), most); ++k) text += (k == 0 ? "" : "\n") + sorted[k].text;
  if (sorted.size() > most) text += fmt::format("\n{}: and {} more errors", file_, sorted.size() - most);
  throw InputError(text);
}

}  // namespace ductile::scene
