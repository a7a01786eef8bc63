#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <vector>

namespace ductile::scene {

/// Collects everything that is wrong with a scene, so that one run reports it all.
class Problems {
 public:
  /// `file` as messages name it; places in other sources (overrides) are named by their source alone.
  explicit Problems(std::string file) : file_(std::move(file)) {}

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] bool empty() const { return problems_.empty(); }
  /// A place as messages name it: `file:line:column`, or the source of an override.
  [[nodiscard]] std::string name_of(const toml::source_region& place) const;
  /// One problem: what was found, and on an indented line below what to do.
  void add(const toml::source_region& place, const std::string& what, const std::string& expected);
  void add(std::string_view source, const std::string& what, const std::string& expected);
  /// All problems in one InputError: those of the file by line, then those of the overrides.
  void throw_if_any() const;

 private:
  struct Problem {
    bool in_file;
    toml::source_position position;
    std::string text;
  };
  std::string file_;
  std::vector<Problem> problems_;
};

}  // namespace ductile::scene
