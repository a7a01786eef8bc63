#include "validation/fem/cases.hpp"

#include <Eigen/LU>

#include <cmath>
#include <numbers>
#include <random>
#include <utility>

#include "common/error.hpp"
#include "kernels/materials/strain.hpp"

namespace ductile::fem {

Solid make_beam(const Beam& beam) {
  if (beam.half && (beam.elements[1] % 2 != 0 || beam.gravity.y() != 0))
    throw InputError("Half a beam needs an even number of elements across and no gravity along y.");
  auto counts = beam.elements;
  Vector3d size = beam.size;
  if (beam.half) {
    counts[1] /= 2;
    size.y() /= 2;
  }
  HexMesh mesh = box_mesh({0, beam.half ? 0 : -size.y() / 2, -size.z() / 2}, size, counts);
  for (Vector3d& node : mesh.nodes) node.x() = size.x() * std::pow(node.x() / size.x(), beam.grading);
  Solid solid(std::move(mesh), make_law(beam.law), beam.density);
  for (std::size_t n = 0; n < solid.mesh().nodes.size(); ++n) {
    const Vector3d at = solid.mesh().nodes[n];
    for (int axis = 0; axis < 3; ++axis)
      if (at.x() == 0 || (beam.half && axis == 1 && at.y() == 0)) solid.hold(int(n), axis, at[axis]);
  }
  solid.load([weight = Vector3d(beam.density * beam.gravity)](const Vector3d&) { return weight; });
  return solid;
}

double patch_error(const LawParameters& law) {
  HexMesh mesh = box_mesh({0, 0, 0}, {1, 1, 1}, {2, 2, 2});
  const auto inner = [](const Vector3d& at) { return (at.array() > 0).all() && (at.array() < 1).all(); };
  std::mt19937 random(1);
  std::vector<bool> is_inner;
  const auto part = [&] { return 2 * double(random()) / double(std::mt19937::max()) - 1; };
  for (auto& node : mesh.nodes) {
    is_inner.push_back(inner(node));
    if (is_inner.back()) node += 0.05 * Vector3d(part(), part(), part());
  }
  Matrix3d F;
  F << 1.2, 0.3, -0.1, 0.0, 0.9, 0.2, 0.1, -0.2, 1.1;
  Solid solid(mesh, make_law(law), 1);
  for (std::size_t n = 0; n < mesh.nodes.size(); ++n)
    for (int axis = 0; axis < 3; ++axis)
      if (!is_inner[n]) solid.hold(int(n), axis, (F * mesh.nodes[n])[axis]);
  VectorXd start = solid.rest();
  for (std::size_t n = 0; n < mesh.nodes.size(); ++n)
    start.segment<3>(Eigen::Index(3 * n)) = F * mesh.nodes[n] + 0.03 * Vector3d(part(), part(), part());
  solid.place(start);
  solid.equilibrate(1, 1e-12);
  double error = 0;
  for (std::size_t n = 0; n < mesh.nodes.size(); ++n)
    error = std::max(error, (solid.position().segment<3>(Eigen::Index(3 * n)) - F * mesh.nodes[n]).norm());
  return error;
}

double smooth_error(int count) {
  const auto lame = Lame<double>::from(1e5, 0.3);
  const double mu = lame.mu, lambda = lame.lambda;
  const double k = std::numbers::pi;
  // u = (sin kx sin ky sin kz) (1, 0, 0), zero on the surface of the cube.
  const auto displacement = [k](const Vector3d& x) -> Vector3d {
    return {0.1 * std::sin(k * x.x()) * std::sin(k * x.y()) * std::sin(k * x.z()), 0, 0};
  };
  // b = -mu lap u - (lambda + mu) grad div u
  const auto force = [=](const Vector3d& x) -> Vector3d {
    const double a = 0.1 * k * k, s = std::sin(k * x.x()), c = std::cos(k * x.x());
    const double sy = std::sin(k * x.y()), cy = std::cos(k * x.y());
    const double sz = std::sin(k * x.z()), cz = std::cos(k * x.z());
    return a *
           Vector3d((3 * mu + (lambda + mu)) * s * sy * sz, -(lambda + mu) * c * cy * sz, -(lambda + mu) * c * sy * cz);
  };
  Solid solid(box_mesh({0, 0, 0}, {1, 1, 1}, {count, count, count}), make_law({"linear", 1e5, 0.3, 0}), 1);
  for (std::size_t n = 0; n < solid.mesh().nodes.size(); ++n) {
    const Vector3d at = solid.mesh().nodes[n];
    const bool outside = (at.array() == 0).any() || (at.array() == 1).any();
    for (int axis = 0; axis < 3 && outside; ++axis) solid.hold(int(n), axis, at[axis]);
  }
  solid.load(force);
  solid.equilibrate(1);
  return solid.l2_error(displacement);
}

}  // namespace ductile::fem
