#include "scene/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "scene/text.hpp"

namespace ductile::scene {
namespace {

/// A value as messages show it: on one line, long ones shortened.
std::string shown(const toml::node& node) {
  if (const auto* text = node.as_string()) return in_quotes(text->get());
  if (const auto* number = node.as_floating_point()) return canonical(number->get());
  if (const auto* table = node.as_table()) return table->empty() ? "{}" : "{...}";
  if (const auto* array = node.as_array()) {
    std::string text;
    for (std::size_t k = 0; k < array->size(); ++k) {
      if (k == 4) return fmt::format("[{}, ...]", text);
      text += (k == 0 ? "" : ", ") + ((*array)[k].is_array() ? "[...]" : shown((*array)[k]));
    }
    return fmt::format("[{}]", text);
  }
  if (const auto* boolean = node.as_boolean()) return canonical(boolean->get());
  std::ostringstream text;  // integers and dates
  node.visit([&](const auto& value) {
    if constexpr (toml::is_value<decltype(value)>) text << value.get();
  });
  return text.str();
}

bool has_control_characters(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

/// Names become column heads of CSV files and parts of messages.
bool is_name(std::string_view text) {
  return !text.empty() && text.front() != ' ' && text.back() != ' ' && !has_control_characters(text) &&
         text.find_first_of(",\"'") == std::string_view::npos;
}

constexpr std::string_view name_rule = "a name without commas, quotes, control characters and blanks at its ends";

}  // namespace

std::string canonical(double value) { return fmt::format("{}", value); }
std::string canonical(int value) { return fmt::format("{}", value); }
std::string canonical(bool value) { return value ? "true" : "false"; }
std::string canonical(const std::string& value) { return escaped(value); }
std::string canonical(const Eigen::Vector3d& value) {
  return fmt::format("[{}, {}, {}]", value.x(), value.y(), value.z());
}

Reader::Reader(ReadContext& context, const Table& keys, std::string path, const toml::table& values,
               const toml::source_region& place)
    : context_(&context), keys_(&keys), path_(std::move(path)), values_(&values), place_(place) {}

std::string Reader::path_of(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

Reader::Use Reader::use_of(const Key& key) const {
  if (key.condition.selector.empty()) return Use::used;
  const auto selection = selections_.find(key.condition.selector);
  if (selection == selections_.end())
    throw std::logic_error(fmt::format("{} was asked for before {}", path_of(key.name), key.condition.selector));
  if (!selection->second.valid) return Use::unknown;
  return (selection->second.word == key.condition.word) != key.condition.unless ? Use::used : Use::unused;
}

const Key* Reader::ask(std::string_view name) {
  asked_.emplace(name);
  bool unknown = false;
  for (const Key& key : keys_->keys) {
    if (key.name != name) continue;
    const Use use = use_of(key);
    if (use == Use::used) return &key;
    unknown = unknown || use == Use::unknown;
  }
  if (!unknown) throw std::logic_error(fmt::format("{} is not a key in use", path_of(name)));
  return nullptr;
}

void Reader::refuse_unread() {
  for (const auto& [key, value] : *values_)
    if (!asked_.contains(key.str())) refuse_key(key);
  for (const Key& key : keys_->keys)
    if (use_of(key) == Use::used && !asked_.contains(key.name))
      throw std::logic_error(fmt::format("{} is documented but not read", path_of(key.name)));
}

void Reader::refuse_key(const toml::key& key) {
  const std::string path = path_of(key.str());
  std::vector<std::string_view> known, owners;
  const Condition* condition = nullptr;
  for (const Key& candidate : keys_->keys) {
    const Use use = use_of(candidate);
    if (candidate.name == key.str()) {
      if (use == Use::unknown) return;
      condition = &candidate.condition;
      owners.push_back(candidate.condition.word);
    }
    // As long as the word that decides is wrong, any of its keys may be meant.
    if (use != Use::unused && std::ranges::count(known, candidate.name) == 0) known.push_back(candidate.name);
  }
  if (condition == nullptr) {
    context_->problems.add(key.source(), fmt::format("{} is not a known key", path),
                           fmt::format("expected {}{}", listed(known), suggestion(key.str(), known)));
    return;
  }
  const std::string_view selector = condition->selector;
  context_->problems.add(key.source(),
                         fmt::format("{} is not used by {} {}", path, selector, selections_.at(selector).word),
                         condition->unless ? fmt::format("expected it with any other {} only", selector)
                                           : fmt::format("expected it with {} {} only", selector, listed(owners)));
}

void Reader::report_missing(const Key& key) {
  context_->problems.add(place_, fmt::format("{} is missing", path_of(key.name)), "expected " + key.expected());
}

void Reader::wrong(const toml::node& node, const std::string& path, std::string_view what,
                   const std::string& expected) {
  context_->problems.add(node.source(), fmt::format("{} = {} {}", path, shown(node), what), "expected " + expected);
}

void Reader::refuse(std::string_view name, std::string_view what, const std::string& expected) {
  if (const toml::node* node = values_->at_path(name).node())
    wrong(*node, path_of(name), what, expected);
  else
    context_->problems.add(place_, fmt::format("{} {}", path_of(name), what), "expected " + expected);
}

std::string Reader::place_of(std::string_view name) const {
  const toml::node* node = values_->get(name);
  return context_->problems.name_of(node != nullptr ? node->source() : place_);
}

bool Reader::any_has(std::string_view tables, std::string_view name) const {
  const toml::table* named = values_->get_as<toml::table>(tables);
  return named != nullptr && std::ranges::any_of(*named, [&](const auto& entry) {
           const toml::table* one = entry.second.as_table();
           return one != nullptr && one->contains(name);
         });
}

bool Reader::accepted(std::string_view name) const { return context_->effective.contains(path_of(name)); }

void Reader::record(std::string_view name, const std::string& value) { context_->effective[path_of(name)] = value; }

toml::table Reader::default_of(const Key& key) {
  if (key.fallback.kind == Default::Kind::required) return {};
  if (key.fallback.kind == Default::Kind::described)
    throw std::logic_error(fmt::format("the default of {} is not a value", key.name));
  return toml::parse(fmt::format("value = {}", key.fallback.text));
}

bool Reader::convert(const Key& key, const std::string& path, const toml::node& node, double& out) {
  if (!node.is_number()) {
    wrong(node, path, "is not a number", key.expected());
    return false;
  }
  // Not node.value<double>(): that has nothing for integers beyond 2^53.
  const double value = node.is_integer() ? static_cast<double>(node.as_integer()->get()) : *node.value<double>();
  if (!std::isfinite(value)) {
    wrong(node, path, "is not finite", key.expected());
    return false;
  }
  if (!key.range.holds(value)) {
    wrong(node, path, "is out of range", key.expected());
    return false;
  }
  out = value;
  return true;
}

bool Reader::convert(const Key& key, const std::string& path, const toml::node& node, int& out) {
  const auto* integer = node.as_integer();
  if (integer == nullptr) {
    wrong(node, path, "is not an integer", key.expected());
    return false;
  }
  if (!key.range.holds(static_cast<double>(integer->get()))) {
    wrong(node, path, "is out of range", key.expected());
    return false;
  }
  out = static_cast<int>(integer->get());
  return true;
}

bool Reader::convert(const Key& key, const std::string& path, const toml::node& node, bool& out) {
  if (!node.is_boolean()) {
    wrong(node, path, "is not true or false", key.expected());
    return false;
  }
  out = node.as_boolean()->get();
  return true;
}

bool Reader::convert(const Key& key, const std::string& path, const toml::node& node, std::string& out) {
  if (!node.is_string()) {
    wrong(node, path, "is not text", key.expected());
    return false;
  }
  out = node.as_string()->get();  // kept even if refused: what refers to a bad name is not dangling
  if (key.type == Type::name && !is_name(out)) {
    wrong(node, path, "is not a name", std::string(name_rule));
    return false;
  }
  if (has_control_characters(out)) {
    wrong(node, path, "has control characters", "text on one line");
    return false;
  }
  return true;
}

bool Reader::convert(const Key& key, const std::string& path, const toml::node& node, Eigen::Vector3d& out) {
  const toml::array* array = node.as_array();
  if (array == nullptr || array->size() != 3) {
    const auto what = array == nullptr ? std::string("is not a list") : fmt::format("has {} elements", array->size());
    wrong(node, path, what, key.expected());
    return false;
  }
  Eigen::Vector3d vector = Eigen::Vector3d::Zero();
  bool good = true;
  for (std::size_t k = 0; k < 3; ++k)
    good &= convert(key, fmt::format("{}[{}]", path, k), (*array)[k], vector[static_cast<Eigen::Index>(k)]);
  if (!good) return false;
  if (key.type == Type::direction) {
    if (vector.isZero(0)) {
      wrong(node, path, "has no direction", key.expected());
      return false;
    }
    vector.stableNormalize();
  }
  out = vector;
  return true;
}

std::optional<std::size_t> Reader::word_index(const Key& key, const std::string& path, const toml::node& node,
                                              std::span<const std::string_view> known,
                                              std::span<const std::string_view> allowed, std::string_view why_not) {
  if (!node.is_string()) {
    wrong(node, path, "is not a word in quotes", listed(allowed));
    return std::nullopt;
  }
  const std::string& text = node.as_string()->get();
  const auto found = std::ranges::find(known, text);
  if (found == known.end()) {
    // The elements of a list are called by its name without the plural: "fields", "is not a field".
    const std::string_view noun = key.type == Type::words ? key.name.substr(0, key.name.size() - 1) : key.name;
    wrong(node, path, fmt::format("is not a {}", noun), listed(allowed) + suggestion(text, allowed));
    return std::nullopt;
  }
  if (std::ranges::find(allowed, text) == allowed.end()) wrong(node, path, why_not, listed(allowed));
  return static_cast<std::size_t>(found - known.begin());
}

std::optional<std::vector<std::size_t>> Reader::word_indices(const Key& key, const std::string& path,
                                                             const toml::node& node,
                                                             std::span<const std::string_view> known) {
  const toml::array* array = node.as_array();
  if (array == nullptr) {
    wrong(node, path, "is not a list", key.expected());
    return std::nullopt;
  }
  std::vector<std::size_t> indices;
  bool good = true;
  for (std::size_t k = 0; k < array->size(); ++k) {
    const std::string element = fmt::format("{}[{}]", path, k);
    const auto index = word_index(key, element, (*array)[k], known, known, {});
    good &= index.has_value();
    if (!index) continue;
    if (std::ranges::find(indices, *index) != indices.end()) {
      wrong((*array)[k], element, "is there twice", key.expected());
      good = false;
    }
    indices.push_back(*index);
  }
  return good ? std::optional(indices) : std::nullopt;
}

std::string Reader::unique_name(std::vector<std::string>& earlier, const std::string& fallback) {
  const std::string name = fallback.empty() ? get<std::string>("name") : get<std::string>("name", fallback);
  const auto same = std::ranges::find(earlier, name);
  if (!name.empty() && same != earlier.end()) {
    const std::string_view list = std::string_view(path_).substr(0, path_.rfind('['));
    const auto index = same - earlier.begin();
    if (has("name"))
      refuse("name", fmt::format("is already the name of {}[{}]", list, index), "another name");
    else
      refuse("name", fmt::format("is {} by default, already the name of {}[{}]", in_quotes(name), list, index),
             "another name there, or a name here");
  }
  earlier.push_back(name);
  return name;
}

std::optional<std::size_t> Reader::reference(std::string_view name, const std::vector<std::string>& known) {
  const Key* key = ask(name);
  if (key == nullptr) return std::nullopt;
  const auto text =
      key->fallback.kind == Default::Kind::required ? std::optional(get<std::string>(name)) : find<std::string>(name);
  if (!text || text->empty()) return std::nullopt;
  const auto found = std::ranges::find(known, *text);
  if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
  if (context_->incomplete.contains(key->inner)) return std::nullopt;
  const auto names = different(known);
  refuse(name, fmt::format("names no {}", name),
         names.empty() ? fmt::format("a {}, but the scene has none", name) : listed(names) + suggestion(*text, names));
  return std::nullopt;
}

std::optional<Reader> Reader::inner(std::string_view name, bool optional) {
  const Key* key = ask(name);
  if (key == nullptr) return std::nullopt;
  const toml::node* node = values_->get(name);
  if (node == nullptr) {
    static const toml::table none;
    if (!optional && key->fallback.kind != Default::Kind::required)
      return Reader(*context_, scene::table(key->inner), path_of(name), none, place_);
    if (!optional) report_missing(*key);
    return std::nullopt;
  }
  if (!node->is_table()) {
    wrong(*node, path_of(name), "is not a table", key->expected());
    return std::nullopt;
  }
  return Reader(*context_, scene::table(key->inner), path_of(name), *node->as_table(), node->source());
}

std::vector<Reader> Reader::elements(std::string_view name) {
  std::vector<Reader> readers;
  const Key* key = ask(name);
  if (key == nullptr) return readers;
  const bool required = key->fallback.kind == Default::Kind::required;
  const toml::node* node = values_->get(name);
  if (node == nullptr) {
    if (required) {
      context_->incomplete.emplace(key->inner);
      report_missing(*key);
    }
    return readers;
  }
  const toml::array* array = node->as_array();
  if (array == nullptr || (required && array->empty())) {
    context_->incomplete.emplace(key->inner);
    wrong(*node, path_of(name), array == nullptr ? "is not a list of tables" : "is empty", key->expected());
    return readers;
  }
  for (std::size_t k = 0; k < array->size(); ++k) {
    const toml::node& element = (*array)[k];
    const std::string path = fmt::format("{}[{}]", path_of(name), k);
    if (element.is_table()) {
      readers.emplace_back(*context_, scene::table(key->inner), path, *element.as_table(), element.source());
    } else {
      context_->incomplete.emplace(key->inner);
      wrong(element, path, "is not a table", key->expected());
    }
  }
  return readers;
}

std::vector<Reader> Reader::members(std::string_view name, std::vector<std::string>& names) {
  std::vector<Reader> readers;
  const Key* key = ask(name);
  const toml::node* node = values_->get(name);
  const auto incomplete = [&] { context_->incomplete.emplace(key->inner); };
  if (node == nullptr) {
    incomplete();
    report_missing(*key);
    return readers;
  }
  const toml::table* tables_by_name = node->as_table();
  if (tables_by_name == nullptr || tables_by_name->empty()) {
    incomplete();
    wrong(*node, path_of(name), tables_by_name == nullptr ? "is not a table" : "is empty", key->expected());
    return readers;
  }
  for (const auto& [member, value] : *tables_by_name) {
    const std::string path = fmt::format("{}.{}", path_of(name), member.str());
    if (!is_name(member.str())) {
      incomplete();
      context_->problems.add(member.source(), fmt::format("{} in {} is not a name", in_quotes(member.str()), name),
                             fmt::format("expected {}", name_rule));
    } else if (!value.is_table()) {
      incomplete();
      wrong(value, path, "is not a table", key->expected());
    } else {
      readers.emplace_back(*context_, scene::table(key->inner), path, *value.as_table(), value.source());
      names.emplace_back(member.str());
    }
  }
  return readers;
}

}  // namespace ductile::scene
