#include "app/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ductile::app {

namespace {

/// Characters of a UTF-8 text: all bytes but those that continue one.
std::size_t characters(const std::string& text) {
  return std::size_t(std::ranges::count_if(text, [](unsigned char c) { return (c & 0xC0) != 0x80; }));
}

std::string padding(const std::string& text, std::size_t width) { return std::string(width - characters(text), ' '); }

}  // namespace

void tell(const std::string& text) noexcept { std::fputs(text.c_str(), stderr); }

std::string format_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width;
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c >= width.size()) width.push_back(0);
      width[c] = std::max(width[c], characters(row[c]));
    }
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line = "  ";
    for (std::size_t c = 0; c < rows[r].size(); ++c)
      line += c == 0 ? rows[r][c] + padding(rows[r][c], width[c]) : "  " + padding(rows[r][c], width[c]) + rows[r][c];
    text += line + "\n";
    if (r == 0) text += "  " + std::string(characters(line) - 2, '-') + "\n";
  }
  return text;
}

std::string format_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  if (seconds < 1) return fmt::format("{:.0f} ms", 1e3 * seconds);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string format_bytes(double bytes) {
  if (bytes < 1e9) return fmt::format("{:.1f} MB", bytes / 1e6);
  return fmt::format("{:.2f} GB", bytes / 1e9);
}

std::string format_count(double count) {
  if (count < 1e3) return fmt::format("{:.0f}", count);
  if (count < 1e6) return fmt::format("{:.1f} k", count / 1e3);
  return fmt::format("{:.2f} M", count / 1e6);
}

}  // namespace ductile::app
