#include <fmt/format.h>

#include "geometry/mesh_files.hpp"
#include "geometry/text_scanner.hpp"

namespace ductile::geometry {
namespace {

constexpr std::string_view export_again = "the file is damaged: export it again";

struct Counts {
  std::size_t vertices = 0, faces = 0;
};

std::size_t read_count(TextScanner& text, std::string_view word, std::string_view what) {
  const auto count = word.empty() ? -1 : text.integer(word);
  // Each vertex and each face takes at least a digit and a line end.
  if (count < 0 || static_cast<std::size_t>(count) > text.bytes_left() / 2 + 1)
    text.fail(fmt::format("the number of {} is missing or more than the file can hold", what), export_again);
  return static_cast<std::size_t>(count);
}

/// `OFF`, its variants with colours (C), normals (N) and texture coordinates (ST) after the position, or no keyword.
Counts read_header(TextScanner& text) {
  if (!text.next_line()) text.fail("the file holds no numbers", export_again);
  auto word = text.word();
  if (word.ends_with("OFF")) {
    const auto prefix = word.substr(0, word.size() - 3);
    if (prefix.find_first_not_of("CNST") != std::string_view::npos)
      text.fail("only three-dimensional OFF files can be read", "save the mesh with the keyword OFF");
    word = text.word();
    if (word == "BINARY") text.fail("binary OFF files cannot be read", "save the mesh as text");
    if (word.empty()) word = text.word_across_lines();
  }
  const auto vertices = read_count(text, word, "vertices");
  const auto faces = read_count(text, text.word(), "faces");
  return {vertices, faces};
}

}  // namespace

TriangleSoup read_off(std::string_view bytes, const std::string& name) {
  TextScanner text(bytes, name, {.comment = '#'});
  const auto counts = read_header(text);
  TriangleSoup soup;
  soup.vertices.reserve(counts.vertices);
  for (std::size_t v = 0; v < counts.vertices; ++v) {
    if (!text.next_line())
      text.fail(fmt::format("the file ends after {} of {} vertices", v, counts.vertices), export_again);
    soup.vertices.push_back(text.point());
  }
  std::vector<std::uint32_t> corners;
  for (std::size_t f = 0; f < counts.faces; ++f) {
    if (!text.next_line()) text.fail(fmt::format("the file ends after {} of {} faces", f, counts.faces), export_again);
    const auto size = text.integer(text.word());
    if (size < 3) text.fail("a face has fewer than three corners", export_again);
    corners.clear();
    for (std::int64_t corner = 0; corner < size; ++corner) {
      const auto word = text.word();
      if (word.empty()) text.fail(fmt::format("the face has {} of {} corners", corner, size), export_again);
      const auto index = text.integer(word);
      if (index < 0 || static_cast<std::size_t>(index) >= counts.vertices)
        text.fail(fmt::format("a face uses vertex {}, but the indices go from 0 to {}", index,
                              static_cast<std::int64_t>(counts.vertices) - 1),
                  export_again);
      corners.push_back(static_cast<std::uint32_t>(index));
    }
    soup.add_polygon(corners);
  }
  return soup;
}

}  // namespace ductile::geometry
