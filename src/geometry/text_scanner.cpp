#include "geometry/text_scanner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "common/error.hpp"

namespace ductile::geometry {
namespace {

constexpr std::string_view blanks = " \t\r\f\v";

/// A word for an error message: the bytes of a damaged file would garble the terminal.
std::string quoted(std::string_view word) {
  std::string text = "'";
  for (const char c : word.substr(0, 40)) text += (c >= ' ' && c <= '~') ? c : '?';
  return text + (word.size() > 40 ? "...'" : "'");
}

/// std::from_chars knows no leading plus.
std::string_view without_plus(std::string_view word) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  return word;
}

}  // namespace

TextScanner::TextScanner(std::string_view text, std::string name, Style style, std::size_t lines_before)
    : text_(text), name_(std::move(name)), style_(style), number_(lines_before) {}

bool TextScanner::load_line() {
  if (text_.empty()) return false;
  const auto end = text_.find('\n');
  line_ = text_.substr(0, end);
  text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
  if (style_.comment != '\0') line_ = line_.substr(0, line_.find(style_.comment));
  ++number_;
  return true;
}

bool TextScanner::next_line() {
  while (load_line())
    if (line_.find_first_not_of(blanks) != std::string_view::npos) return true;
  line_ = {};
  return false;
}

std::string_view TextScanner::word() {
  for (;;) {
    const auto begin = line_.find_first_not_of(blanks);
    if (begin == std::string_view::npos) {
      line_ = {};
      return {};
    }
    line_.remove_prefix(begin);
    const auto length = std::min(line_.find_first_of(blanks), line_.size());
    auto found = line_.substr(0, length);
    line_.remove_prefix(length);
    const bool last = line_.find_first_not_of(blanks) == std::string_view::npos;
    if (style_.continuation && last && found.back() == '\\') {
      found.remove_suffix(1);
      if (!load_line()) line_ = {};
    }
    if (!found.empty()) return found;
  }
}

std::string_view TextScanner::word_across_lines() {
  for (;;) {
    if (const auto found = word(); !found.empty()) return found;
    if (!next_line()) fail("the file ends too early", "it is incomplete: export it again");
  }
}

Eigen::Vector3d TextScanner::point() {
  Eigen::Vector3d p;
  for (int axis = 0; axis < 3; ++axis) {
    const auto coordinate = word();
    if (coordinate.empty()) fail("a vertex needs three coordinates", "complete the line or export the file again");
    p[axis] = number(coordinate);
  }
  return p;
}

double TextScanner::number(std::string_view word) const {
  const auto digits = without_plus(word);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(value))
    fail(quoted(word) + " is not a finite number", "correct the number or export the file again");
  return value;
}

std::int64_t TextScanner::integer(std::string_view word) const {
  const auto digits = without_plus(word);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size())
    fail(quoted(word) + " is not a whole number", "correct the number or export the file again");
  return value;
}

void TextScanner::fail_at(std::size_t line, std::string_view what, std::string_view remedy) const {
  throw InputError(fmt::format("{}:{}: {}\n    {}", name_, line, what, remedy));
}

}  // namespace ductile::geometry
