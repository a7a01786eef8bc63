#include "scene/overrides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>
#include <variant>

#include "scene/text.hpp"
#include "scene/toml_text.hpp"

namespace ductile::scene {
namespace {

/// One step of a path: a key or an element's name, or an element's index.
using Step = std::variant<std::string, std::size_t>;

/// What is wrong with an override, in the two parts of a problem.
struct Refusal {
  std::string what, expected;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

Refusal malformed(std::string_view text) {
  return {fmt::format("{} is not a path", in_quotes(text)), "expected keys with dots between, as in bodies[0].spacing"};
}

/// Takes a key, bare or in double quotes, from the front of `rest`.
std::string take_key(std::string_view& rest, std::string_view whole) {
  std::string key;
  if (rest.starts_with('"')) {
    const std::size_t end = rest.find('"', 1);
    if (end == std::string_view::npos) throw malformed(whole);
    key = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
  } else {
    const std::size_t end = std::min(rest.find_first_of(".[]\""), rest.size());
    key = trimmed(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  if (key.empty()) throw malformed(whole);
  return key;
}

std::size_t take_index(std::string_view& rest, std::string_view whole) {
  std::size_t index = 0;
  const char* const end = rest.data() + rest.size();
  const auto [stop, error] = std::from_chars(rest.data() + 1, end, index);
  if (error != std::errc() || stop == end || *stop != ']') throw malformed(whole);
  rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()) + 1);
  return index;
}

std::vector<Step> parse_path(std::string_view whole) {
  constexpr std::size_t deepest = 16;  // no scene is nested deeper
  std::string_view rest = whole;
  std::vector<Step> steps{take_key(rest, whole)};
  while (!rest.empty()) {
    if (rest.starts_with('[')) {
      steps.emplace_back(take_index(rest, whole));
    } else if (rest.starts_with('.')) {
      rest.remove_prefix(1);
      steps.emplace_back(take_key(rest, whole));
    } else {
      throw malformed(whole);
    }
    if (steps.size() > deepest) throw malformed(whole);
  }
  return steps;
}

/// The first `=` outside quotes.
std::size_t find_equals(std::string_view text) {
  bool quotes = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '"') quotes = !quotes;
    if (text[k] == '=' && !quotes) return k;
  }
  return std::string_view::npos;
}

/// A table whose only key "value" is the value: TOML if it can be read as such, else the text itself.
toml::table parse_value(std::string_view text, const std::string& source) {
  const bool one_line = text.find_first_of("\r\n") == std::string_view::npos;  // more lines could hold more keys
  try {
    if (one_line) return parse_toml(fmt::format("value = {}", text), source);
  } catch (const toml::parse_error&) {
    // A bare word.
  }
  try {
    return toml::parse(fmt::format("value = {}", escaped(text)), source);
  } catch (const toml::parse_error&) {
    throw Refusal{"the value is not text", "expected TOML or a word in UTF-8"};
  }
}

std::string element_name(const toml::node& element, std::string_view list, std::size_t index) {
  if (const toml::table* table = element.as_table())
    if (const auto* name = table->get_as<std::string>("name")) return name->get();
  return list == "colliders" ? fmt::format("collider{}", index + 1) : "";
}

/// Walks through the scene along one path.
class Walk {
 public:
  Walk(toml::table& scene, std::string source) : node_(&scene), source_(std::move(source)) {}

  void enter(const Step& step) {
    if (toml::array* array = node_->as_array()) {
      node_ = &(*array)[element(*array, step)];
    } else {
      toml::table& here = table(step);
      const std::string& key = std::get<std::string>(step);
      if (!here.contains(key)) put(here, key, toml::parse("value = {}", source_));
      node_ = here.get(key);
    }
    extend_path(step);
  }

  void assign(const Step& step, toml::table&& value) {
    if (toml::array* array = node_->as_array()) {
      const auto at = array->cbegin() + static_cast<std::ptrdiff_t>(element(*array, step));
      value.get("value")->visit([&](auto& concrete) { array->replace(at, std::move(concrete)); });
    } else {
      toml::table& here = table(step);
      put(here, std::get<std::string>(step), std::move(value));
    }
  }

 private:
  static void put(toml::table& table, const std::string& key, toml::table&& value) {
    toml::node& node = *value.get("value");
    const toml::source_region place = node.source();
    node.visit([&](auto& concrete) { table.insert_or_assign(toml::key(key, place), std::move(concrete)); });
  }

  toml::table& table(const Step& step) {
    if (!node_->is_table() || !std::holds_alternative<std::string>(step))
      throw Refusal{fmt::format("{} is not a {}", path_, node_->is_table() ? "list" : "table or list"),
                    "expected a path through tables and lists only"};
    return *node_->as_table();
  }

  std::size_t element(const toml::array& array, const Step& step) const {
    if (const auto* index = std::get_if<std::size_t>(&step)) {
      if (*index < array.size()) return *index;
      throw Refusal{fmt::format("{} has no element {}", path_, *index),
                    array.empty() ? "expected a list that is not empty"
                                  : fmt::format("expected an index from 0 to {}", array.size() - 1)};
    }
    const std::string& name = std::get<std::string>(step);
    std::vector<std::string> names;
    for (std::size_t k = 0; k < array.size(); ++k) {
      names.push_back(element_name(array[k], path_, k));
      if (names.back() == name) return k;
    }
    // "bodies.0" counts like "bodies[0]" where no element has that name.
    const bool counts = !name.empty() && name.size() < 9 && name.find_first_not_of("0123456789") == std::string::npos;
    if (counts) return element(array, Step(std::size_t(std::stoul(name))));
    const auto known = different(names);
    throw Refusal{fmt::format("{} has no element named {}", path_, in_quotes(name)),
                  known.empty() ? fmt::format("expected an index, as in {}[0]", path_)
                                : fmt::format("expected {}{}", listed(known), suggestion(name, known))};
  }

  void extend_path(const Step& step) {
    if (const auto* index = std::get_if<std::size_t>(&step))
      path_ += fmt::format("[{}]", *index);
    else
      path_ += (path_.empty() ? "" : ".") + std::get<std::string>(step);
  }

  toml::node* node_;
  std::string source_;
  std::string path_;
};

void apply(toml::table& scene, std::string_view text, const std::string& source) {
  const std::size_t equals = find_equals(text);
  if (equals == std::string_view::npos)
    throw Refusal{"there is no \"=\"", "expected key=value, as in solver.iterations=40"};
  const std::vector<Step> steps = parse_path(trimmed(text.substr(0, equals)));
  Walk walk(scene, source);
  for (std::size_t k = 0; k + 1 < steps.size(); ++k) walk.enter(steps[k]);
  walk.assign(steps.back(), parse_value(trimmed(text.substr(equals + 1)), source));
}

}  // namespace

void apply_overrides(toml::table& scene, const std::vector<std::string>& overrides, Problems& problems) {
  for (const std::string& text : overrides) {
    const std::string source = "--set " + text;
    try {
      apply(scene, text, source);
    } catch (const Refusal& refusal) {
      problems.add(source, refusal.what, refusal.expected);
    }
  }
}

}  // namespace ductile::scene
