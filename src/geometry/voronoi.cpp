#include "geometry/voronoi.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ductile::geometry {
namespace {

using Eigen::Vector3d;
using Eigen::Vector3i;

constexpr int parts = 4;  // cubes per block and axis: 64 bits

Vector3d cube_centre(int cube, double spacing) {
  const Vector3i at(cube % parts, cube / parts % parts, cube / (parts * parts));
  return (at.cast<double>() + Vector3d::Constant(0.5)) * (spacing / parts);
}

/// Bits of the cubes inside the shape in a part of a block, `size` cubes wide from cube `first` on. Distances tell
/// whole parts at once where the surface is far.
std::uint64_t cubes_inside(const Shape& shape, const Vector3d& corner, double cube, const Vector3i& first, int size) {
  const Vector3d centre = corner + cube * (first.cast<double>() + Vector3d::Constant(size / 2.0));
  const double distance = signed_distance(shape, centre);
  const bool whole = size == 1 || std::abs(distance) >= 0.5 * std::sqrt(3.0) * size * cube;
  if (whole && distance > 0) return 0;
  if (whole && size == parts) return ~std::uint64_t(0);
  if (size == 1) return std::uint64_t(1) << (first.x() + parts * (first.y() + parts * first.z()));
  std::uint64_t bits = 0;
  const int step = whole ? 1 : size / 2;
  for (int z = 0; z < size; z += step)
    for (int y = 0; y < size; y += step)
      for (int x = 0; x < size; x += step) {
        const Vector3i at = first + Vector3i(x, y, z);
        bits |= whole ? std::uint64_t(1) << (at.x() + parts * (at.y() + parts * at.z()))
                      : cubes_inside(shape, corner, cube, at, step);
      }
  return bits;
}

/// Points by the block that they lie in.
struct Bins {
  std::vector<std::uint32_t> start, member;
};

}  // namespace

VoronoiCells::VoronoiCells(const ShapeKind& kind, double spacing) : spacing_(spacing) {
  const Shape shape{.kind = kind};
  const Eigen::AlignedBox3d box = bounds(shape);
  volume_ = volume(shape);
  // Blocks fill a box exactly when its size is a multiple of the spacing.
  count_ = (box.sizes() / spacing - Vector3d::Constant(1e-9)).array().ceil().max(1.0).cast<int>();
  origin_ = box.center() - 0.5 * spacing * count_.cast<double>();
  inside_.resize(std::size_t(count_.x()) * std::size_t(count_.y()) * std::size_t(count_.z()));
  for (int z = 0; z < count_.z(); ++z)
    for (int y = 0; y < count_.y(); ++y)
      for (int x = 0; x < count_.x(); ++x) {
        const Vector3d corner = origin_ + spacing * Vector3d(x, y, z);
        inside_[index_of({x, y, z})] = cubes_inside(shape, corner, spacing / parts, Vector3i::Zero(), parts);
      }
}

Vector3i VoronoiCells::block_of(const Vector3d& point) const {
  const Vector3d scaled = (point - origin_) / spacing_;
  return scaled.array().floor().cast<int>().max(0).min(count_.array() - 1);
}

VoronoiCells::Cells VoronoiCells::of(const std::vector<Vector3d>& points) const {
  Bins bins;
  bins.start.assign(inside_.size() + 1, 0);
  for (const auto& p : points) ++bins.start[index_of(block_of(p)) + 1];
  std::partial_sum(bins.start.begin(), bins.start.end(), bins.start.begin());
  bins.member.resize(points.size());
  std::vector<std::uint32_t> cursor(bins.start.begin(), bins.start.end() - 1);
  for (std::size_t i = 0; i < points.size(); ++i)
    bins.member[cursor[index_of(block_of(points[i]))]++] = std::uint32_t(i);

  const auto nearest = [&](const Vector3d& at, const Vector3i& block) {
    std::uint32_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    // All points nearer than `ring` spacings lie in the blocks up to that ring.
    for (int ring = 1; ring <= 4 && least > (ring - 1) * spacing_ * (ring - 1) * spacing_; ++ring) {
      const Vector3i low = (block.array() - ring).max(0), high = (block.array() + ring).min(count_.array() - 1);
      for (int z = low.z(); z <= high.z(); ++z)
        for (int y = low.y(); y <= high.y(); ++y)
          for (std::uint32_t s = bins.start[index_of({low.x(), y, z})]; s < bins.start[index_of({high.x(), y, z}) + 1];
               ++s)
            if (const double d = (points[bins.member[s]] - at).squaredNorm(); d < least) {
              least = d;
              best = bins.member[s];
            }
    }
    return std::pair(best, least);
  };

  std::vector<double> count(points.size());
  std::vector<Vector3d> sum(points.size(), Vector3d::Zero());
  for (int z = 0; z < count_.z(); ++z)
    for (int y = 0; y < count_.y(); ++y)
      for (int x = 0; x < count_.x(); ++x) {
        const std::uint64_t bits = inside_[index_of({x, y, z})];
        for (int cube = 0; bits != 0 && cube < parts * parts * parts; ++cube) {
          if ((bits >> cube & 1) == 0) continue;
          const Vector3d at = origin_ + spacing_ * Vector3d(x, y, z) + cube_centre(cube, spacing_);
          const auto [i, squared] = nearest(at, {x, y, z});
          if (!std::isfinite(squared)) continue;  // a sliver far from every point
          count[i] += 1;
          sum[i] += at;
        }
      }
  // A point that owns no cube (one of two that nearly coincide) keeps a twentieth of a block.
  constexpr double fewest = parts * parts * parts / 20.0;
  double total = 0;
  for (std::size_t i = 0; i < points.size(); ++i) total += std::max(count[i], fewest);
  Cells cells;
  for (std::size_t i = 0; i < points.size(); ++i) {
    cells.volumes.push_back(volume_ * std::max(count[i], fewest) / total);
    cells.centres.push_back(count[i] > 0 ? Vector3d(sum[i] / count[i]) : points[i]);
  }
  return cells;
}

}  // namespace ductile::geometry
