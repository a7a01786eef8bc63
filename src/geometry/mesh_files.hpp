#pragma once

#include <Eigen/Core>

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ductile::geometry {

/// Triangles as a file gives them: nothing welded, nothing checked but that coordinates are finite and indices exist.
struct TriangleSoup {
  std::vector<Eigen::Vector3d> vertices;
  std::vector<std::array<std::uint32_t, 3>> triangles;

  /// Appends a polygon as a fan around its first corner: exact for flat convex polygons.
  void add_polygon(std::span<const std::uint32_t> corners) {
    for (std::size_t k = 2; k < corners.size(); ++k) triangles.push_back({corners[0], corners[k - 1], corners[k]});
  }
};

// Readers take the bytes of a file (less than 4 GiB, so that every count fits 32 bits) and the name for errors. They
// throw InputError for damaged content, and allocate at most a constant times the bytes, whatever the file claims.
[[nodiscard]] TriangleSoup read_obj(std::string_view bytes, const std::string& name);
[[nodiscard]] TriangleSoup read_stl(std::string_view bytes, const std::string& name);
[[nodiscard]] TriangleSoup read_ply(std::string_view bytes, const std::string& name);
[[nodiscard]] TriangleSoup read_off(std::string_view bytes, const std::string& name);

/// The triangles of an OBJ, STL, PLY or OFF file by its ending, coordinates multiplied by `scale`. Throws InputError
/// with file, place and reason for a missing or damaged file.
[[nodiscard]] TriangleSoup read_triangles(const std::filesystem::path& file, double scale);

}  // namespace ductile::geometry
