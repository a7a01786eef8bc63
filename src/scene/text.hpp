#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Words for messages.
namespace ductile::scene {

/// "a", "a or b", "a, b or c".
[[nodiscard]] std::string listed(std::span<const std::string_view> words);
/// The candidate nearest to a word by edit distance (insertions, deletions, replacements and swaps of neighbours, upper
/// and lower case alike), else the shortest that it is the beginning of; empty if there is none.
[[nodiscard]] std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);
/// `; did you mean "box"?`, or nothing.
[[nodiscard]] std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);
/// In quotes, control characters and quotes escaped, shortened to a readable length.
[[nodiscard]] std::string in_quotes(std::string_view text);
/// In quotes and whole: equal results mean equal texts.
[[nodiscard]] std::string escaped(std::string_view text);

/// The texts that are not empty, each once.
[[nodiscard]] std::vector<std::string_view> different(const std::vector<std::string>& texts);

}  // namespace ductile::scene
