#include "validation/fem/mesh.hpp"

#include <cmath>

namespace ductile::fem {

namespace {

/// One-dimensional quadratic shape functions of the nodes -1, 0, 1.
std::array<double, 3> values(double t) { return {t * (t - 1) / 2, 1 - t * t, t * (t + 1) / 2}; }
std::array<double, 3> derivatives(double t) { return {t - 0.5, -2 * t, t + 0.5}; }

std::array<ShapePoint, 27> make_gauss_points() {
  const double at[3] = {-std::sqrt(0.6), 0, std::sqrt(0.6)}, weight[3] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
  std::array<ShapePoint, 27> points;
  for (int q = 0; q < 27; ++q) {
    points[std::size_t(q)] = shape_at({at[q / 9], at[q / 3 % 3], at[q % 3]});
    points[std::size_t(q)].weight = weight[q / 9] * weight[q / 3 % 3] * weight[q % 3];
  }
  return points;
}

}  // namespace

HexMesh box_mesh(const Vector3d& corner, const Vector3d& size, const std::array<int, 3>& counts) {
  HexMesh mesh;
  mesh.counts = counts;
  const auto [nx, ny, nz] = counts;
  for (int i = 0; i <= 2 * nx; ++i)
    for (int j = 0; j <= 2 * ny; ++j)
      for (int k = 0; k <= 2 * nz; ++k)
        mesh.nodes.push_back(corner + size.cwiseProduct(Vector3d(0.5 * i / nx, 0.5 * j / ny, 0.5 * k / nz)));
  for (int i = 0; i < nx; ++i)
    for (int j = 0; j < ny; ++j)
      for (int k = 0; k < nz; ++k) {
        std::array<int, 27> element{};
        for (int n = 0; n < 27; ++n)
          element[std::size_t(n)] = mesh.node(2 * i + n / 9, 2 * j + n / 3 % 3, 2 * k + n % 3);
        mesh.elements.push_back(element);
      }
  return mesh;
}

ShapePoint shape_at(const Vector3d& local) {
  ShapePoint point{};
  std::array<std::array<double, 3>, 3> value, slope;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    value[axis] = values(local[Eigen::Index(axis)]);
    slope[axis] = derivatives(local[Eigen::Index(axis)]);
  }
  for (std::size_t n = 0; n < 27; ++n) {
    const std::size_t a = n / 9, b = n / 3 % 3, c = n % 3;
    point.value[n] = value[0][a] * value[1][b] * value[2][c];
    point.derivative[n] = {slope[0][a] * value[1][b] * value[2][c], value[0][a] * slope[1][b] * value[2][c],
                           value[0][a] * value[1][b] * slope[2][c]};
  }
  return point;
}

const std::array<ShapePoint, 27>& gauss_points() {
  static const std::array<ShapePoint, 27> points = make_gauss_points();
  return points;
}

}  // namespace ductile::fem
