#include <fmt/format.h>

#include <cmath>

#include "common/error.hpp"
#include "geometry/binary_numbers.hpp"
#include "geometry/mesh_files.hpp"
#include "geometry/text_scanner.hpp"

namespace ductile::geometry {
namespace {

constexpr std::size_t header_bytes = 84;  // 80 free bytes and the number of triangles
constexpr std::size_t record_bytes = 50;  // normal, three corners, two free bytes
constexpr std::string_view export_again = "the file is damaged: export it again";

bool equals_ignoring_case(std::string_view word, std::string_view lower) {
  return std::equal(word.begin(), word.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

TriangleSoup read_binary(std::string_view bytes, const std::string& name) {
  if (bytes.size() < header_bytes)
    throw InputError(fmt::format("{}: this is no STL file: it has {} bytes and does not start with 'solid'\n    {}",
                                 name, bytes.size(), export_again));
  const std::size_t count = stored_number<std::uint32_t>(bytes, header_bytes - 4, std::endian::little);
  if (count > (bytes.size() - header_bytes) / record_bytes)
    throw InputError(fmt::format("{}: the header promises {} triangles ({} bytes), but the file has {} bytes\n    {}",
                                 name, count, header_bytes + count * record_bytes, bytes.size(), export_again));
  TriangleSoup soup;
  soup.vertices.reserve(3 * count);
  soup.triangles.reserve(count);
  for (std::size_t t = 0; t < count; ++t) {
    const auto first = static_cast<std::uint32_t>(3 * t);
    for (std::size_t corner = 0; corner < 3; ++corner) {
      const auto offset = header_bytes + t * record_bytes + 12 * (corner + 1);
      Eigen::Vector3d p;
      for (int axis = 0; axis < 3; ++axis)
        p[axis] = double{stored_number<float>(bytes, offset + 4 * static_cast<std::size_t>(axis), std::endian::little)};
      if (!p.allFinite())
        throw InputError(fmt::format("{}: triangle {} (byte {}) has a coordinate that is not finite\n    {}", name,
                                     t + 1, offset, export_again));
      soup.vertices.push_back(p);
    }
    soup.triangles.push_back({first, first + 1, first + 2});
  }
  return soup;
}

/// Only the corners are read: the stored normals follow from them and are often wrong.
TriangleSoup read_text(std::string_view bytes, const std::string& name) {
  TriangleSoup soup;
  TextScanner text(bytes, name, {});
  std::size_t corners = 0;  // since the last `outer loop`
  bool open = false;        // between `solid` and `endsolid`
  while (text.next_line()) {
    const auto word = text.word();
    const auto is = [word](std::string_view keyword) { return equals_ignoring_case(word, keyword); };
    if (is("vertex")) {
      soup.vertices.push_back(text.point());
      ++corners;
    } else if (is("outer")) {
      corners = 0;
    } else if (is("endloop")) {
      if (corners != 3) text.fail(fmt::format("a facet has {} corners instead of three", corners), export_again);
      const auto end = static_cast<std::uint32_t>(soup.vertices.size());
      soup.triangles.push_back({end - 3, end - 2, end - 1});
      corners = 0;
    } else if (is("solid") || is("endsolid")) {
      open = is("solid");
    } else if (!is("facet") && !is("endfacet")) {
      text.fail("this is no line of a text STL file", export_again);
    }
  }
  if (open || corners != 0) text.fail("the file ends before 'endsolid'", export_again);
  return soup;
}

}  // namespace

TriangleSoup read_stl(std::string_view bytes, const std::string& name) {
  // Some programs begin binary files with "solid" too; only a binary file has exactly the size its header promises.
  const bool binary_size = bytes.size() >= header_bytes && (bytes.size() - header_bytes) % record_bytes == 0 &&
                           (bytes.size() - header_bytes) / record_bytes ==
                               stored_number<std::uint32_t>(bytes, header_bytes - 4, std::endian::little);
  const auto start = bytes.find_first_not_of(" \t\r\n");
  const bool text =
      !binary_size && start != std::string_view::npos && equals_ignoring_case(bytes.substr(start, 5), "solid");
  return text ? read_text(bytes, name) : read_binary(bytes, name);
}

}  // namespace ductile::geometry
