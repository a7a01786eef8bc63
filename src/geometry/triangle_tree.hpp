#pragma once

#include <Eigen/Geometry>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace ductile::geometry {

/// Where a vertical line (parallel to z) crosses a triangle.
struct VerticalCrossing {
  double z;
  int sign;  ///< +1 where the normal points up (the line leaves the solid), -1 where it points down
};

/// Crosses vertical lines with the triangles of a closed surface so that every line crosses it consistently, also
/// through edges and vertices: coordinates are rounded to a grid of 2^-48 of the surface's size, on which the side of
/// an edge is computed without error, and a line on an edge counts as moved by an infinitesimal (e, e^2).
class VerticalCrossings {
 public:
  struct GridPoint {
    std::int64_t x, y;
  };

  VerticalCrossings() = default;
  explicit VerticalCrossings(std::span<const Eigen::Vector3d> vertices);

  /// `x`, `y` within a few sizes of the surface.
  [[nodiscard]] GridPoint snap(double x, double y) const;
  /// True, with the crossing, if the line at `at` meets the triangle.
  [[nodiscard]] bool cross(const std::array<Eigen::Vector3d, 3>& corners, GridPoint at,
                           VerticalCrossing& crossing) const;

 private:
  Eigen::Vector2d origin_ = Eigen::Vector2d::Zero();
  double cells_per_metre_ = 1;
};

/// Bounding-volume tree over triangles: nearest point and winding number.
class TriangleTree {
 public:
  enum class Feature : std::uint8_t { face, edge, vertex };

  struct Nearest {
    std::uint32_t triangle;  ///< index in the order given to the constructor
    Feature feature;
    int corner;              ///< the vertex, or the first vertex of the edge; 0 for a face
    Eigen::Vector3d offset;  ///< from the nearest point to the query
  };

  TriangleTree() = default;
  /// `normals`: unit, or zero for triangles too thin to have one.
  TriangleTree(std::span<const Eigen::Vector3d> vertices, std::span<const std::array<std::uint32_t, 3>> triangles,
               std::span<const Eigen::Vector3d> normals);

  [[nodiscard]] Nearest nearest(const Eigen::Vector3d& point) const;
  /// How often the surface encloses `point`: 1 inside a simple closed surface, 0 outside. Triangles whose entry in
  /// `part` is `without` do not count (an empty span counts all).
  [[nodiscard]] int winding_number(const Eigen::Vector3d& point, std::span<const std::uint32_t> part = {},
                                   std::uint32_t without = 0) const;
  [[nodiscard]] const VerticalCrossings& crossings() const { return crossings_; }

 private:
  struct Facet {
    std::array<Eigen::Vector3d, 3> corners;
    Eigen::Vector3d normal;
    std::uint32_t index;
  };
  struct Node {
    Eigen::Array4d low, high;  // padded with zeros
    std::uint32_t first = 0;   // facet of a leaf, else the left child (the right one follows it)
    std::uint32_t count = 0;   // facets of a leaf, else 0

    [[nodiscard]] double squared_distance(const Eigen::Array4d& point) const {
      return (low - point).max(point - high).max(0.0).square().sum();
    }
  };
  void build(std::size_t node, std::size_t first, std::size_t count);
  /// `height` of the point above the plane of the facet.
  static double squared_distance(const Facet& facet, const Eigen::Vector3d& point, double height, Nearest& nearest);

  std::vector<Facet> facets_;
  std::vector<Node> nodes_;
  VerticalCrossings crossings_;
};

}  // namespace ductile::geometry
