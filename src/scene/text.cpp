#include "scene/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace ductile::scene {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Optimal string alignment distance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0U : 1U)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

bool starts_with(std::string_view text, std::string_view start) {
  return start.size() <= text.size() && std::ranges::equal(start, text.substr(0, start.size()), {}, lower, lower);
}

/// The shortest candidate that the word is the beginning of; two letters begin too many.
std::string_view completion_of(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr std::size_t least = 3;
  std::string_view best;
  for (const std::string_view candidate : candidates)
    if (word.size() >= least && starts_with(candidate, word) && (best.empty() || candidate.size() < best.size()))
      best = candidate;
  return best;
}

/// End of the UTF-8 character that starts at `begin`.
std::size_t next_character(std::string_view text, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
  return end;
}

std::string escaped_characters(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\u{:04x}", byte);
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string listed(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (k > 0) text += k + 1 == words.size() ? " or " : ", ";
    text += words[k];
  }
  return text;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr std::size_t longest = 64;  // no key is longer; bounds the work for absurd words
  std::string_view best;
  std::size_t least = 0;
  if (word.empty() || word.size() > longest) return best;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    // A third of the letters may be wrong; more is a guess.
    if (3 * distance > std::max(word.size(), candidate.size()) + 1) continue;
    if (best.empty() || distance < least) {
      best = candidate;
      least = distance;
    }
  }
  return best.empty() ? completion_of(word, candidates) : best;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view near = nearest(word, candidates);
  return near.empty() ? "" : fmt::format("; did you mean {}?", in_quotes(near));
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 60;  // characters
  std::size_t end = 0, characters = 0;
  while (end < text.size() && characters < longest) {
    end = next_character(text, end);
    ++characters;
  }
  return fmt::format("\"{}{}\"", escaped_characters(text.substr(0, end)), end < text.size() ? "..." : "");
}

std::string escaped(std::string_view text) { return fmt::format("\"{}\"", escaped_characters(text)); }

std::vector<std::string_view> different(const std::vector<std::string>& texts) {
  std::vector<std::string_view> found;
  for (const std::string& text : texts)
    if (!text.empty() && std::ranges::find(found, text) == found.end()) found.push_back(text);
  return found;
}

}  // namespace ductile::scene
