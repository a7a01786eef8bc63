#include "geometry/distance_grid.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

namespace ductile::geometry {
namespace {

using Eigen::Vector3d;

constexpr std::size_t stride = 8;  // grid points from one coarse point to the next

Vector3d cell_counts(const TriangleMesh& mesh, double width, double margin) {
  const Vector3d extent = mesh.bounds().sizes() + Vector3d::Constant(2 * margin);
  // Whole blocks of `stride` cells.
  return double(stride) * (extent / (width * double(stride))).array().ceil().max(1.0);
}

/// Calls work(z) for every z below `count`, on all cores. Each z is computed alone, so the result does not depend on
/// their number.
template <class Work>
void in_parallel(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t z = next++; z < count; z = next++) work(z);
  };
  std::vector<std::jthread> others;
  for (unsigned k = 1; k < std::thread::hardware_concurrency(); ++k) others.emplace_back(run);
  run();
}

/// The exact distances at every `stride`-th point.
struct CoarseGrid {
  std::array<std::size_t, 3> points;
  std::vector<double> values;

  [[nodiscard]] double at(std::size_t x, std::size_t y, std::size_t z) const {
    return values[(z * points[1] + y) * points[0] + x];
  }
  /// Trilinear at point (x, y, z) of the fine grid.
  [[nodiscard]] double interpolated(std::size_t x, std::size_t y, std::size_t z) const {
    const auto place = [](std::size_t k, std::size_t count) {
      const std::size_t cell = std::min(k / stride, count - 2);
      return std::pair(cell, double(k - cell * stride) / double(stride));
    };
    const auto [i, u] = place(x, points[0]);
    const auto [j, v] = place(y, points[1]);
    const auto [k, w] = place(z, points[2]);
    const auto row = [&, i = i, u = u](std::size_t b, std::size_t c) {
      return std::lerp(at(i, b, c), at(i + 1, b, c), u);
    };
    return std::lerp(std::lerp(row(j, k), row(j + 1, k), v), std::lerp(row(j, k + 1), row(j + 1, k + 1), v), w);
  }
  /// The nearest coarse value below the point in every axis.
  [[nodiscard]] double below(std::size_t x, std::size_t y, std::size_t z) const {
    return at(x / stride, y / stride, z / stride);
  }
};

}  // namespace

double distance_grid_points(const TriangleMesh& mesh, double width, double margin) {
  return (cell_counts(mesh, width, margin).array() + 1.0).prod();
}

DistanceSamples sample_distance(const TriangleMesh& mesh, double width, double margin) {
  const Vector3d cells = cell_counts(mesh, width, margin);
  DistanceSamples result;
  result.width = width;
  result.origin = mesh.bounds().center() - 0.5 * width * cells;
  CoarseGrid coarse;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    result.points[axis] = std::size_t(cells[Eigen::Index(axis)]) + 1;
    coarse.points[axis] = result.points[axis] / stride + 1;
  }
  const auto exact = [&](std::size_t x, std::size_t y, std::size_t z) {
    return mesh.signed_distance(result.origin + width * Vector3d(double(x), double(y), double(z)));
  };
  coarse.values.resize(coarse.points[0] * coarse.points[1] * coarse.points[2]);
  in_parallel(coarse.points[2], [&](std::size_t z) {
    for (std::size_t y = 0; y < coarse.points[1]; ++y)
      for (std::size_t x = 0; x < coarse.points[0]; ++x)
        coarse.values[(z * coarse.points[1] + y) * coarse.points[0] + x] = exact(stride * x, stride * y, stride * z);
  });
  // Further than a block's diagonal and the margin from a block's corner there is no surface that a particle touches.
  const double far = std::sqrt(3.0) * double(stride) * width + margin;
  result.values.resize(result.points[0] * result.points[1] * result.points[2]);
  in_parallel(result.points[2], [&](std::size_t z) {
    for (std::size_t y = 0; y < result.points[1]; ++y)
      for (std::size_t x = 0; x < result.points[0]; ++x)
        result.values[(z * result.points[1] + y) * result.points[0] + x] =
            std::abs(coarse.below(x, y, z)) > far ? coarse.interpolated(x, y, z) : exact(x, y, z);
  });
  return result;
}

}  // namespace ductile::geometry
