#pragma once

#include <Eigen/Core>

#include <toml++/toml.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "scene/keys.hpp"
#include "scene/problems.hpp"
#include "scene/words.hpp"

namespace ductile::scene {

/// What all readers of one scene share.
struct ReadContext {
  Problems problems;
  std::filesystem::path folder;                        ///< paths in the scene are relative to it
  std::map<std::string, std::string> effective;        ///< every value in use, defaults included, by its full path
  std::set<std::string, std::less<>> incomplete = {};  ///< lists of which something was refused, as in Key::inner
};

/// Reads one TOML table by the keys that scene/keys.cpp lists for it. Every wrong value is added to the problems and
/// read as something harmless (NaN for numbers, so that comparisons with it report nothing more).
class Reader {
 public:
  Reader(ReadContext& context, const Table& keys, std::string path, const toml::table& values,
         const toml::source_region& place);

  /// The value of a key, or the default of its table.
  template <class T>
  [[nodiscard]] T get(std::string_view name);
  /// The same for a default that depends on other values.
  template <class T>
  [[nodiscard]] T get(std::string_view name, const T& fallback);
  template <class T>
  [[nodiscard]] std::optional<T> find(std::string_view name);
  /// A word that decides which of the other keys are used. One that is known but not among `allowed` is refused with
  /// the reason `why_not`, and the keys that belong to it are checked all the same.
  template <class Enum>
  [[nodiscard]] Enum select(std::string_view name, std::span<const Enum> allowed, std::string_view why_not);
  template <class Enum>
  [[nodiscard]] Enum select(std::string_view name);
  /// A name that no earlier element of the list has; it is added to them.
  [[nodiscard]] std::string unique_name(std::vector<std::string>& earlier, const std::string& fallback = {});
  /// The index of the thing that a key names. A name that is not known is reported, unless something was refused where
  /// it should stand: that is one mistake.
  [[nodiscard]] std::optional<std::size_t> reference(std::string_view name, const std::vector<std::string>& known);

  /// What `read(Reader&)` makes of an inner table.
  template <class Read>
  auto table(std::string_view name, Read read);
  /// Nothing if the key is absent.
  template <class Read>
  auto optional_table(std::string_view name, Read read);
  template <class Read>
  auto list(std::string_view name, Read read);
  /// The same for tables by name; `read(Reader&, name)`.
  template <class Read>
  auto named(std::string_view name, Read read);

  [[nodiscard]] bool has(std::string_view name) const { return values_->contains(name); }
  /// Whether one of the tables by name has a key; for defaults that depend on what is read later.
  [[nodiscard]] bool any_has(std::string_view tables, std::string_view name) const;
  [[nodiscard]] ReadContext& context() { return *context_; }
  /// True if a value, also one of an inner table (`elastic.model`), has been read and is good.
  [[nodiscard]] bool accepted(std::string_view name) const;
  /// Reports a value, also one of an inner table, that is wrong in its surroundings.
  void refuse(std::string_view name, std::string_view what, const std::string& expected);
  /// Where the table stands, as messages name it: `file:line:column`, or the override that gave it.
  [[nodiscard]] std::string place() const { return context_->problems.name_of(place_); }
  /// The same for a key; where it is left out, of the table.
  [[nodiscard]] std::string place_of(std::string_view name) const;
  /// Adds something that is not a key to the effective values.
  void record(std::string_view name, const std::string& value);
  /// Refuses every key that was not asked for. Called by whoever made the reader, after reading.
  void refuse_unread();

 private:
  struct Selection {
    std::string_view word;
    bool valid;
  };
  enum class Use { used, unused, unknown };

  [[nodiscard]] std::string path_of(std::string_view name) const;
  [[nodiscard]] Use use_of(const Key& key) const;
  /// Marks a key as asked for; null if it cannot be judged because the word that it depends on is wrong.
  const Key* ask(std::string_view name);
  void report_missing(const Key& key);
  void refuse_key(const toml::key& key);
  void wrong(const toml::node& node, const std::string& path, std::string_view what, const std::string& expected);

  /// The default of a key as a TOML table with the one key "value".
  static toml::table default_of(const Key& key);
  /// The value of a key in a table, which is that of the file or the one above.
  template <class T>
  T accept(const Key& key, const toml::node& node);

  bool convert(const Key& key, const std::string& path, const toml::node& node, double& out);
  bool convert(const Key& key, const std::string& path, const toml::node& node, int& out);
  bool convert(const Key& key, const std::string& path, const toml::node& node, bool& out);
  bool convert(const Key& key, const std::string& path, const toml::node& node, std::string& out);
  bool convert(const Key& key, const std::string& path, const toml::node& node, Eigen::Vector3d& out);
  template <class Enum>
  requires std::is_enum_v<Enum>
  bool convert(const Key& key, const std::string& path, const toml::node& node, Enum& out);
  template <class Enum>
  bool convert(const Key& key, const std::string& path, const toml::node& node, std::vector<Enum>& out);
  /// Position of a word in `known`; reports one that is not there, and one that is there but not in `allowed`.
  std::optional<std::size_t> word_index(const Key& key, const std::string& path, const toml::node& node,
                                        std::span<const std::string_view> known,
                                        std::span<const std::string_view> allowed, std::string_view why_not);
  std::optional<std::vector<std::size_t>> word_indices(const Key& key, const std::string& path, const toml::node& node,
                                                       std::span<const std::string_view> known);

  std::optional<Reader> inner(std::string_view name, bool optional);
  std::vector<Reader> elements(std::string_view name);
  std::vector<Reader> members(std::string_view name, std::vector<std::string>& names);

  ReadContext* context_;
  const Table* keys_;
  std::string path_;
  const toml::table* values_;
  toml::source_region place_;
  std::set<std::string, std::less<>> asked_;
  std::map<std::string_view, Selection> selections_;
};

/// One text per value, whatever its spelling in the file.
[[nodiscard]] std::string canonical(double value);
[[nodiscard]] std::string canonical(int value);
[[nodiscard]] std::string canonical(bool value);
[[nodiscard]] std::string canonical(const std::string& value);
[[nodiscard]] std::string canonical(const Eigen::Vector3d& value);
template <class Enum>
requires std::is_enum_v<Enum>
[[nodiscard]] std::string canonical(Enum value) { return canonical(std::string(word(value))); }
template <class T>
[[nodiscard]] std::string canonical(const std::vector<T>& values) {
  std::string text;
  for (const T& value : values) text += (text.empty() ? "" : ", ") + canonical(value);
  return "[" + text + "]";
}

/// The value of a key that was refused.
template <class T>
[[nodiscard]] T refused() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if constexpr (std::is_same_v<T, double>)
    return nan;
  else if constexpr (std::is_same_v<T, Eigen::Vector3d>)
    return Eigen::Vector3d::Constant(nan);
  else
    return T{};
}

template <class T>
T Reader::accept(const Key& key, const toml::node& node) {
  T value = refused<T>();
  if (convert(key, path_of(key.name), node, value)) record(key.name, canonical(value));
  return value;
}

template <class T>
T Reader::get(std::string_view name) {
  const Key* key = ask(name);
  if (key == nullptr) return refused<T>();
  if (const toml::node* node = values_->get(name)) return accept<T>(*key, *node);
  if (key->fallback.kind == Default::Kind::required) {
    report_missing(*key);
    return refused<T>();
  }
  const toml::table fallback = default_of(*key);
  return accept<T>(*key, *fallback.get("value"));
}

template <class T>
T Reader::get(std::string_view name, const T& fallback) {
  const Key* key = ask(name);
  if (key == nullptr) return refused<T>();
  if (const toml::node* node = values_->get(name)) return accept<T>(*key, *node);
  record(name, canonical(fallback));
  return fallback;
}

template <class T>
std::optional<T> Reader::find(std::string_view name) {
  const Key* key = ask(name);
  const toml::node* node = values_->get(name);
  if (key == nullptr || node == nullptr) return std::nullopt;
  return accept<T>(*key, *node);
}

template <class Enum>
requires std::is_enum_v<Enum>
bool Reader::convert(const Key& key, const std::string& path, const toml::node& node, Enum& out) {
  const auto index = word_index(key, path, node, Words<Enum>::all, Words<Enum>::all, {});
  if (index) out = static_cast<Enum>(*index);
  return index.has_value();
}

template <class Enum>
bool Reader::convert(const Key& key, const std::string& path, const toml::node& node, std::vector<Enum>& out) {
  const auto indices = word_indices(key, path, node, Words<Enum>::all);
  if (!indices) return false;
  out.clear();
  for (const std::size_t index : *indices) out.push_back(static_cast<Enum>(index));
  return true;
}

template <class Enum>
Enum Reader::select(std::string_view name, std::span<const Enum> allowed, std::string_view why_not) {
  const Key* key = ask(name);
  selections_[key->name] = {{}, false};
  std::vector<std::string_view> allowed_words;
  for (const Enum value : allowed) allowed_words.push_back(word(value));
  const toml::table fallback = default_of(*key);
  const toml::node* node = values_->contains(name) ? values_->get(name) : fallback.get("value");
  if (node == nullptr) {
    report_missing(*key);
    return Enum{};
  }
  const auto index = word_index(*key, path_of(name), *node, Words<Enum>::all, allowed_words, why_not);
  if (!index) return Enum{};
  const auto chosen = static_cast<Enum>(*index);
  selections_[key->name] = {word(chosen), true};
  record(name, canonical(chosen));
  return chosen;
}

template <class Enum>
Enum Reader::select(std::string_view name) {
  static constexpr auto all = [] {
    std::array<Enum, Words<Enum>::all.size()> values{};
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<Enum>(k);
    return values;
  }();
  return select<Enum>(name, all, {});
}

template <class Read>
auto Reader::table(std::string_view name, Read read) {
  std::invoke_result_t<Read, Reader&> value{};
  if (auto reader = inner(name, false)) {
    value = read(*reader);
    reader->refuse_unread();
  }
  return value;
}

template <class Read>
auto Reader::optional_table(std::string_view name, Read read) {
  std::optional<std::invoke_result_t<Read, Reader&>> value;
  if (auto reader = inner(name, true)) {
    value = read(*reader);
    reader->refuse_unread();
  }
  return value;
}

template <class Read>
auto Reader::list(std::string_view name, Read read) {
  std::vector<std::invoke_result_t<Read, Reader&>> values;
  for (Reader& reader : elements(name)) {
    values.push_back(read(reader));
    reader.refuse_unread();
  }
  return values;
}

template <class Read>
auto Reader::named(std::string_view name, Read read) {
  std::vector<std::invoke_result_t<Read, Reader&, const std::string&>> values;
  std::vector<std::string> names;
  auto readers = members(name, names);
  for (std::size_t k = 0; k < readers.size(); ++k) {
    values.push_back(read(readers[k], names[k]));
    readers[k].refuse_unread();
  }
  return values;
}

}  // namespace ductile::scene
