#pragma once

#include <Eigen/Geometry>

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "geometry/triangle_tree.hpp"

namespace ductile::geometry {

/// A closed, consistently oriented triangle surface (outward normals). Several parts are allowed if they lie side by
/// side or are cavities (a part inside another one, normals towards the hollow). That the surface does not intersect
/// itself is not checked: where it does, the sign of the distance may be wrong.
class TriangleMesh {
 public:
  /// Reads OBJ, STL (text and binary), PLY (text and binary) or OFF by the file's ending; welds equal vertices,
  /// turns polygons into triangles (a fan around the first corner: right for convex ones), flips an inside-out surface.
  /// Coordinates are multiplied by `scale`. Throws InputError with file, place and reason for a missing or damaged
  /// file, a surface with holes, edges shared by more than two triangles, or inconsistent orientation.
  [[nodiscard]] static TriangleMesh read(const std::filesystem::path& file, double scale);
  /// The same checks for triangles that are already in memory; `name` appears in errors. Triangles with two equal
  /// corners are dropped; those that are only flat stay, since the surface would have a slit without them.
  TriangleMesh(std::vector<Eigen::Vector3d> vertices, std::vector<std::array<std::uint32_t, 3>> triangles,
               const std::string& name);

  [[nodiscard]] const std::vector<Eigen::Vector3d>& vertices() const { return vertices_; }
  [[nodiscard]] const std::vector<std::array<std::uint32_t, 3>>& triangles() const { return triangles_; }
  [[nodiscard]] const Eigen::AlignedBox3d& bounds() const { return bounds_; }
  [[nodiscard]] double volume() const { return volume_; }
  /// Exact signed distance: nearest triangle by a tree, sign by angle-weighted pseudo-normals (Baerentzen & Aanaes,
  /// "Signed distance computation using the angle weighted pseudonormal", IEEE TVCG 11, 2005). Where these do not
  /// decide clearly (thin triangles, parts that touch in a vertex) by the number of crossings of a vertical line.
  [[nodiscard]] double signed_distance(const Eigen::Vector3d& point) const;

  /// A crossing of the vertical line through (x[i], y[j]) with the surface.
  struct ColumnCrossing {
    std::uint32_t i, j;
    double z;
    int sign;  ///< -1: the line enters the solid (going up), +1: it leaves it
  };
  /// All crossings of the lines through (x[i], y[j]), sorted by i, j, z; `x` and `y` ascend. In every line the signs
  /// add up to zero. Much cheaper than signed distances for telling which points of a lattice are inside.
  [[nodiscard]] std::vector<ColumnCrossing> column_crossings(std::span<const double> x,
                                                             std::span<const double> y) const;

 private:
  /// Triangles connected by edges.
  struct Part {
    double volume = 0, surface = 0;
    std::vector<std::uint32_t> samples;  // some of its triangles
  };
  void weld(const std::string& name);
  void connect(const std::string& name);
  void orient_outward(const std::string& name);
  void compute_face_normals();
  void compute_vertex_normals();
  [[nodiscard]] std::vector<Part> find_parts(std::vector<std::uint32_t>& part_of) const;
  void check_parts(const std::string& name) const;
  [[nodiscard]] double area(std::uint32_t triangle) const;
  [[nodiscard]] bool encloses_volume(double volume, double surface) const;
  [[nodiscard]] double signed_volume(std::uint32_t triangle) const;
  [[nodiscard]] Eigen::Vector3d pseudo_normal(const TriangleTree::Nearest& nearest) const;
  [[nodiscard]] std::string place(std::uint32_t vertex) const;

  std::vector<Eigen::Vector3d> vertices_;
  std::vector<std::array<std::uint32_t, 3>> triangles_;
  std::vector<std::array<std::uint32_t, 3>> neighbors_;  // triangle beyond the edge from corner k to corner k+1
  std::vector<Eigen::Vector3d> face_normals_;            // unit; zero for triangles too thin to have one
  std::vector<Eigen::Vector3d> vertex_normals_;          // angle-weighted; zero where they do not tell the side
  TriangleTree tree_;
  Eigen::AlignedBox3d bounds_;
  double volume_ = 0;
};

}  // namespace ductile::geometry
