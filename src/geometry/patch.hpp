#pragma once

#include <Eigen/Core>

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace ductile::geometry {

/// A surface of triangles that need not be closed. Triangles that share an edge are wound the same way.
struct Patch {
  /// From vertex a to b, as the only triangle it belongs to goes round.
  struct RimEdge {
    std::uint32_t a, b, triangle;
  };

  std::vector<Eigen::Vector3d> vertices;
  std::vector<std::array<std::uint32_t, 3>> triangles;
  std::vector<RimEdge> rim;

  /// In the plane z = 0, centred at the origin.
  [[nodiscard]] static Patch rectangle(double width, double height);
  /// Reads OBJ, STL, PLY or OFF. Throws InputError for a damaged file or more than 10000 triangles, each of which is
  /// compared with every pair of neighbours nearby in each step.
  [[nodiscard]] static Patch read(const std::filesystem::path& file, double scale);

  void place(const Eigen::Matrix3d& rotation, const Eigen::Vector3d& position);

 private:
  void connect();
};

}  // namespace ductile::geometry
