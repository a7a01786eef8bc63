#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "scene/keys.hpp"
#include "scene/text.hpp"

namespace ductile::scene {
namespace {

std::string_view type_text(Type type) {
  switch (type) {
    case Type::number:
      return "number";
    case Type::integer:
      return "integer";
    case Type::boolean:
      return "true or false";
    case Type::text:
      return "text";
    case Type::name:
    case Type::reference:
      return "name";
    case Type::word:
      return "word";
    case Type::words:
      return "list of words";
    case Type::vector:
    case Type::direction:
      return "3 numbers";
    case Type::table:
      return "table";
    case Type::tables:
      return "list of tables";
    case Type::named_tables:
      return "tables by name";
  }
  throw std::logic_error("a type without a text");
}

std::string limits_text(const Key& key) {
  switch (key.type) {
    case Type::word:
      return listed(key.words);
    case Type::words:
      return "each once: " + listed(key.words);
    case Type::name:
      return "unique";
    case Type::direction:
      return "not all 0";
    case Type::table:
    case Type::tables:
    case Type::named_tables:
      return fmt::format("keys of `{}`", key.inner);
    default:
      return key.range.text();
  }
}

/// False for keys that belong to a word which no scene can choose, as those of a method that the program lacks.
bool can_be_used(const Table& keys, const Condition& condition) {
  if (condition.selector.empty() || condition.unless) return true;
  const auto selector = std::ranges::find(keys.keys, condition.selector, &Key::name);
  return std::ranges::count(selector->words, condition.word) > 0;
}

std::string condition_text(const Condition& condition) {
  if (condition.selector.empty()) return "";
  return fmt::format(" ({}{})", condition.unless ? "not " : "", condition.word);
}

}  // namespace

bool Range::holds(double value) const {
  return (with_low ? value >= low : value > low) && (with_high ? value <= high : value < high);
}

std::string Range::text() const {
  std::string lower, upper;
  if (std::isfinite(low)) lower = fmt::format("{} {}", with_low ? ">=" : ">", low);
  if (std::isfinite(high)) upper = fmt::format("{} {}", with_high ? "<=" : "<", high);
  return lower + (lower.empty() || upper.empty() ? "" : " and ") + upper;
}

Key Key::only(std::string_view selector, std::string_view selected) const {
  Key key = *this;
  key.condition = {selector, selected, false};
  return key;
}

Key Key::unless(std::string_view selector, std::string_view selected) const {
  Key key = *this;
  key.condition = {selector, selected, true};
  return key;
}

std::string Key::expected() const {
  const std::string limits = range.text();
  const std::string tail = (limits.empty() ? "" : " " + limits) + (unit.empty() ? "" : fmt::format(", in {}", unit));
  switch (type) {
    case Type::number:
      return "a number" + tail;
    case Type::integer:
      return "an integer" + tail;
    case Type::boolean:
      return "true or false";
    case Type::text:
      return "text in quotes";
    case Type::name:
    case Type::reference:
      return "a name in quotes";
    case Type::word:
      return listed(words);
    case Type::words:
      return "a list of " + listed(words) + ", each at most once";
    case Type::vector:
      return "a list of 3 numbers" + tail;
    case Type::direction:
      return "a list of 3 numbers, not all 0";
    case Type::table:
      return fmt::format("a table: [{0}] or {0} = {{ ... }}", name);
    case Type::tables:
      return fmt::format("a list of tables: [[{0}]] or {0} = [{{ ... }}]", name);
    case Type::named_tables:
      return fmt::format("tables by name: [{0}.NAME]", name);
  }
  throw std::logic_error("a type without a text");
}

std::vector<DocumentedKey> documented_keys() {
  std::vector<DocumentedKey> documented;
  for (const Table& keys : tables())
    for (const Key& key : keys.keys) {
      if (!can_be_used(keys, key.condition)) continue;
      documented.push_back({std::string(keys.name), std::string(key.name) + condition_text(key.condition),
                            std::string(type_text(key.type)) + (key.unit.empty() ? "" : fmt::format(", {}", key.unit)),
                            std::string(key.fallback.text), limits_text(key), std::string(key.meaning)});
    }
  return documented;
}

}  // namespace ductile::scene
