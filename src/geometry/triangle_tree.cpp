#include "geometry/triangle_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ductile::geometry {
namespace {

using Eigen::Vector3d;
using GridPoint = VerticalCrossings::GridPoint;
__extension__ using Wide = __int128;

constexpr std::size_t leaf_size = 4;
// Halving at the median makes at most log2(2^32) levels; depth-first search holds one more node than that.
constexpr std::size_t deepest = 40;

/// Twice the area of (a, b, p), exact: coordinates stay below 2^52 in magnitude.
Wide area(GridPoint a, GridPoint b, GridPoint p) {
  return Wide{b.x - a.x} * (p.y - a.y) - Wide{b.y - a.y} * (p.x - a.x);
}

/// Side of the edge ab on which p + (e, e^2) lies for infinitesimal e > 0: +1 left, -1 right, 0 only if a = b.
int side(GridPoint a, GridPoint b, Wide twice_area) {
  if (twice_area != 0) return twice_area > 0 ? 1 : -1;
  if (a.y != b.y) return a.y > b.y ? 1 : -1;
  return (b.x > a.x) - (b.x < a.x);
}

/// Fills a vector register; the fourth entry is zero everywhere.
Eigen::Array4d padded(const Vector3d& v) { return {v.x(), v.y(), v.z(), 0.0}; }

}  // namespace

VerticalCrossings::VerticalCrossings(std::span<const Vector3d> vertices) {
  Eigen::AlignedBox3d box;
  for (const auto& v : vertices) box.extend(v);
  origin_ = box.center().head<2>();
  cells_per_metre_ = 0x1p48 / box.sizes().maxCoeff();
}

GridPoint VerticalCrossings::snap(double x, double y) const {
  return {std::llrint((x - origin_.x()) * cells_per_metre_), std::llrint((y - origin_.y()) * cells_per_metre_)};
}

bool VerticalCrossings::cross(const std::array<Vector3d, 3>& corners, GridPoint at, VerticalCrossing& crossing) const {
  std::array<GridPoint, 3> grid;
  for (std::size_t k = 0; k < 3; ++k) grid[k] = snap(corners[k].x(), corners[k].y());
  std::array<Wide, 3> areas;
  int sides = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto a = grid[(k + 1) % 3], b = grid[(k + 2) % 3];
    areas[k] = area(a, b, at);
    sides += side(a, b, areas[k]);
  }
  if (sides != 3 && sides != -3) return false;
  const Vector3d weights(static_cast<double>(areas[0]), static_cast<double>(areas[1]), static_cast<double>(areas[2]));
  const Vector3d heights(corners[0].z(), corners[1].z(), corners[2].z());
  crossing = {weights.dot(heights) / weights.sum(), sides > 0 ? 1 : -1};
  return true;
}

TriangleTree::TriangleTree(std::span<const Vector3d> vertices, std::span<const std::array<std::uint32_t, 3>> triangles,
                           std::span<const Vector3d> normals)
    : crossings_(vertices) {
  facets_.reserve(triangles.size());
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    const auto& [a, b, c] = triangles[t];
    facets_.push_back({{vertices[a], vertices[b], vertices[c]}, normals[t], static_cast<std::uint32_t>(t)});
  }
  nodes_.reserve(triangles.size() + 1);
  nodes_.emplace_back();
  build(0, 0, facets_.size());
}

void TriangleTree::build(std::size_t node, std::size_t first, std::size_t count) {
  Eigen::AlignedBox3d box, centres;
  const auto centre = [](const Facet& facet) -> Vector3d {
    return facet.corners[0] + facet.corners[1] + facet.corners[2];
  };
  for (std::size_t f = first; f < first + count; ++f) {
    for (const auto& corner : facets_[f].corners) box.extend(corner);
    centres.extend(centre(facets_[f]));
  }
  nodes_[node].low = padded(box.min());
  nodes_[node].high = padded(box.max());
  if (count <= leaf_size) {
    nodes_[node].first = static_cast<std::uint32_t>(first);
    nodes_[node].count = static_cast<std::uint32_t>(count);
    return;
  }
  Eigen::Index axis = 0;
  centres.sizes().maxCoeff(&axis);
  const auto begin = facets_.begin() + static_cast<std::ptrdiff_t>(first);
  const auto half = count / 2;
  std::nth_element(begin, begin + static_cast<std::ptrdiff_t>(half), begin + static_cast<std::ptrdiff_t>(count),
                   [&](const Facet& a, const Facet& b) { return centre(a)[axis] < centre(b)[axis]; });
  const auto left = nodes_.size();
  nodes_[node].first = static_cast<std::uint32_t>(left);
  nodes_.resize(left + 2);
  build(left, first, half);
  build(left + 1, first + half, count - half);
}

/// Closest point of a triangle: its plane if the point projects into it, else the closest edge that the projection lies
/// beyond. Thin triangles (zero normal) are their edges.
double TriangleTree::squared_distance(const Facet& facet, const Vector3d& point, double height, Nearest& nearest) {
  const bool thin = facet.normal.isZero(0.0);
  double best = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 3; ++k) {
    const Vector3d& a = facet.corners[static_cast<std::size_t>(k)];
    const Vector3d edge = facet.corners[static_cast<std::size_t>((k + 1) % 3)] - a;
    const Vector3d from_a = point - a;
    if (!thin && facet.normal.cross(edge).dot(from_a) >= 0) continue;
    const double along = from_a.dot(edge), length2 = edge.squaredNorm();
    Nearest candidate{facet.index, Feature::edge, k, from_a - (along / length2) * edge};
    if (along <= 0) candidate = {facet.index, Feature::vertex, k, from_a};
    if (along >= length2) candidate = {facet.index, Feature::vertex, (k + 1) % 3, from_a - edge};
    const double squared = candidate.offset.squaredNorm();
    if (squared < best) {
      best = squared;
      nearest = candidate;
    }
  }
  if (best < std::numeric_limits<double>::infinity()) return best;
  nearest = {facet.index, Feature::face, 0, height * facet.normal};
  return height * height;
}

TriangleTree::Nearest TriangleTree::nearest(const Vector3d& point) const {
  struct Entry {
    double bound;
    std::uint32_t node;
  };
  const Eigen::Array4d padded_point = padded(point);
  std::array<Entry, deepest> stack;
  std::size_t size = 0;
  stack[size++] = {0.0, 0};
  Nearest best{}, candidate{};
  double best_squared = std::numeric_limits<double>::infinity();
  while (size > 0) {
    const auto [bound, index] = stack[--size];
    if (bound >= best_squared) continue;
    const Node& node = nodes_[index];
    for (std::uint32_t f = node.first; f < node.first + node.count; ++f) {
      const double height = facets_[f].normal.dot(point - facets_[f].corners[0]);
      if (height * height >= best_squared) continue;
      const double squared = squared_distance(facets_[f], point, height, candidate);
      if (squared < best_squared) {
        best_squared = squared;
        best = candidate;
      }
    }
    if (node.count > 0) continue;
    Entry near{nodes_[node.first].squared_distance(padded_point), node.first};
    Entry far{nodes_[node.first + 1].squared_distance(padded_point), node.first + 1};
    if (far.bound < near.bound) std::swap(near, far);
    if (far.bound < best_squared) stack[size++] = far;
    if (near.bound < best_squared) stack[size++] = near;
  }
  return best;
}

int TriangleTree::winding_number(const Vector3d& point, std::span<const std::uint32_t> part,
                                 std::uint32_t without) const {
  const auto& all = nodes_[0];
  const Eigen::Array4d padded_point = padded(point);
  if ((padded_point < all.low || padded_point > all.high).any()) return 0;
  const auto at = crossings_.snap(point.x(), point.y());
  // Far more than the grid's 2^-48, so that no box misses a line that its triangles cross.
  const double margin = 0x1p-40 * (all.high - all.low).maxCoeff();
  std::array<std::uint32_t, deepest> stack;
  std::size_t size = 0;
  stack[size++] = 0;
  int winding = 0;
  VerticalCrossing crossing{};
  while (size > 0) {
    const Node& node = nodes_[stack[--size]];
    const Eigen::Array4d beyond = (node.low - padded_point).max(padded_point - node.high);
    if (beyond.x() > margin || beyond.y() > margin || point.z() > node.high.z() + margin) continue;
    for (std::uint32_t f = node.first; f < node.first + node.count; ++f) {
      const bool counts = part.empty() || part[facets_[f].index] != without;
      if (counts && crossings_.cross(facets_[f].corners, at, crossing) && crossing.z > point.z())
        winding += crossing.sign;
    }
    if (node.count > 0) continue;
    stack[size++] = node.first;
    stack[size++] = node.first + 1;
  }
  return winding;
}

}  // namespace ductile::geometry
