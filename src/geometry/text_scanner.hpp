#pragma once

#include <Eigen/Core>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ductile::geometry {

/// Words and numbers of a text file, line by line. Every failure is an InputError that names file and line.
class TextScanner {
 public:
  struct Style {
    char comment = '\0';        ///< the rest of a line from here on is skipped; none by default
    bool continuation = false;  ///< a backslash at the end of a line joins the next one
  };
  TextScanner(std::string_view text, std::string name, Style style, std::size_t lines_before = 0);

  /// Goes to the next line that holds a word; false at the end of the text.
  [[nodiscard]] bool next_line();
  /// The next word of the line, empty at its end.
  [[nodiscard]] std::string_view word();
  /// The next word of this or a later line; fails at the end of the text.
  [[nodiscard]] std::string_view word_across_lines();
  /// The next three words of the line as finite numbers.
  [[nodiscard]] Eigen::Vector3d point();

  [[nodiscard]] double number(std::string_view word) const;         ///< finite
  [[nodiscard]] std::int64_t integer(std::string_view word) const;  ///< any sign

  /// Bytes after the current line.
  [[nodiscard]] std::size_t bytes_left() const { return text_.size(); }
  [[nodiscard]] std::size_t line_number() const { return number_; }
  [[noreturn]] void fail(std::string_view what, std::string_view remedy) const { fail_at(number_, what, remedy); }
  [[noreturn]] void fail_at(std::size_t line, std::string_view what, std::string_view remedy) const;

 private:
  bool load_line();

  std::string_view text_, line_;  // what follows the current line, what follows the current word in it
  std::string name_;
  Style style_;
  std::size_t number_;
};

}  // namespace ductile::geometry
