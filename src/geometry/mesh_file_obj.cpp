#include <fmt/format.h>

#include "geometry/mesh_files.hpp"
#include "geometry/text_scanner.hpp"

namespace ductile::geometry {
namespace {

/// Vertex index of a corner `v`, `v/vt`, `v//vn` or `v/vt/vn`. Positive ones count from the start of the file and may
/// point forward, negative ones count back from the face.
std::uint32_t corner_index(const TextScanner& text, std::string_view corner, std::size_t vertices) {
  const auto number = text.integer(corner.substr(0, corner.find('/')));
  const auto index = number > 0 ? number - 1 : number + static_cast<std::int64_t>(vertices);
  if (number == 0 || index < 0 || index >= std::int64_t{0xffffffff})
    text.fail(fmt::format("vertex index {} does not exist", number), "indices start at 1: export the file again");
  return static_cast<std::uint32_t>(index);
}

}  // namespace

TriangleSoup read_obj(std::string_view bytes, const std::string& name) {
  constexpr std::string_view export_again = "the file is damaged: export it again";
  TriangleSoup soup;
  std::vector<std::uint32_t> corners;
  std::uint32_t largest = 0;     // index used by a face, checked when the number of vertices is known
  std::size_t largest_line = 0;  // where it was used
  TextScanner text(bytes, name, {.comment = '#', .continuation = true});
  while (text.next_line()) {
    const auto keyword = text.word();
    if (keyword == "v") soup.vertices.push_back(text.point());
    if (keyword != "f") continue;
    corners.clear();
    for (auto corner = text.word(); !corner.empty(); corner = text.word()) {
      corners.push_back(corner_index(text, corner, soup.vertices.size()));
      if (corners.back() < largest) continue;
      largest = corners.back();
      largest_line = text.line_number();
    }
    if (corners.size() < 3) text.fail("a face has fewer than three corners", export_again);
    soup.add_polygon(corners);
  }
  if (!soup.triangles.empty() && largest >= soup.vertices.size())
    text.fail_at(
        largest_line,
        fmt::format("a face uses vertex {}, but the file has {}", std::size_t{largest} + 1, soup.vertices.size()),
        export_again);
  return soup;
}

}  // namespace ductile::geometry
