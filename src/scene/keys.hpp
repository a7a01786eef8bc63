#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

/// Every key of a scene file: its type, unit, default, limits and meaning. The reader takes defaults and limits from
/// here, and docs/scene.md is compared with it by a test.
namespace ductile::scene {

struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool with_low = true, with_high = true;

  [[nodiscard]] bool holds(double value) const;
  /// "> 0", ">= 0 and < 0.5"; empty if everything is allowed.
  [[nodiscard]] std::string text() const;
};

enum class Type {
  number,
  integer,
  boolean,
  text,
  name,          ///< unique in its list
  reference,     ///< the name of something else
  word,          ///< one of `words`
  words,         ///< different ones of `words`
  vector,        ///< three numbers, each within the range
  direction,     ///< three numbers, not all zero; read as a unit vector
  table,         ///< keys of the table `inner`
  tables,        ///< list of such tables
  named_tables,  ///< table of such tables
};

struct Default {
  enum class Kind { required, value, described };
  Kind kind;
  std::string_view text;  ///< value: TOML; described: words, the reader knows the value
};

/// A key that is used only if the key `selector` of the same table is (or is not) `word`.
struct Condition {
  std::string_view selector, word;
  bool unless = false;
};

struct Key {
  std::string_view name;
  Type type;
  std::string_view unit;
  Default fallback;
  Range range;
  std::vector<std::string_view> words;
  std::string_view inner;  ///< table of the keys inside; of a reference: where what it names has its keys
  std::string_view meaning;
  Condition condition;

  [[nodiscard]] Key only(std::string_view selector, std::string_view word) const;
  [[nodiscard]] Key unless(std::string_view selector, std::string_view word) const;
  /// "a number > 0, in s"
  [[nodiscard]] std::string expected() const;
};

struct Table {
  std::string_view name;
  std::vector<Key> keys;
};

[[nodiscard]] const std::vector<Table>& tables();
/// `name` as in Key::inner; the empty name is the top level.
[[nodiscard]] const Table& table(std::string_view name);

/// A key as documentation shows it.
struct DocumentedKey {
  std::string table;     ///< as in Table::name
  std::string key;       ///< with the word that it belongs to: "relaxation (jacobi)"
  std::string type;      ///< with the unit: "number, s"
  std::string fallback;  ///< "required", a TOML value or words
  std::string limits;
  std::string meaning;
};

/// All keys that a scene can use with the methods the program has.
[[nodiscard]] std::vector<DocumentedKey> documented_keys();

}  // namespace ductile::scene
