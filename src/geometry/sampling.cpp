#include "geometry/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <tuple>

#include "common/error.hpp"
#include "geometry/voronoi.hpp"

namespace ductile::geometry {
namespace {

using Eigen::Vector3d;

/// Fraction of the spacing within which a lattice point counts as on the surface.
constexpr double surface_tolerance = 1e-9;

/// Coordinates of the lattice points along each axis of the shape.
struct Lattice {
  std::array<std::vector<double>, 3> points;
  double cell_volume = 0;
};

Vector3d cell_counts(const Shape& shape, double spacing) {
  const Vector3d counts = (bounds(Shape{.kind = shape.kind}).sizes() / spacing).array().round();
  // Cells of a box stretch to its size: however thin, a sheet has one layer and a rod one row.
  return std::holds_alternative<Box>(shape.kind) && counts.maxCoeff() >= 1 ? counts.cwiseMax(1.0) : counts;
}

Lattice make_lattice(const Shape& shape, double spacing) {
  const Vector3d counts = cell_counts(shape, spacing);
  if (counts.minCoeff() < 1) return {};
  const auto* box = std::get_if<Box>(&shape.kind);
  const auto* mesh = std::get_if<Mesh>(&shape.kind);
  const Vector3d cell = box ? Vector3d(box->size.cwiseQuotient(counts)) : Vector3d(Vector3d::Constant(spacing));
  const Vector3d centre = mesh ? Vector3d(mesh->triangles->bounds().center()) : Vector3d(Vector3d::Zero());
  Lattice lattice;
  for (int axis = 0; axis < 3; ++axis)
    for (double i = 0; i < counts[axis]; ++i)
      lattice.points[static_cast<std::size_t>(axis)].push_back(
          std::fma(i - (counts[axis] - 1) / 2, cell[axis], centre[axis]));
  lattice.cell_volume = cell.prod();
  return lattice;
}

std::vector<Vector3d> points_by_distance(const ShapeKind& kind, const Lattice& lattice, double tolerance) {
  const Shape unplaced{.kind = kind};
  const bool all = std::holds_alternative<Box>(kind);
  std::vector<Vector3d> inside;
  for (const double x : lattice.points[0])
    for (const double y : lattice.points[1])
      for (const double z : lattice.points[2])
        if (const Vector3d p(x, y, z); all || signed_distance(unplaced, p) <= tolerance) inside.push_back(p);
  return inside;
}

/// A piece of the vertical lattice line (i, j) that lies in the solid.
struct Piece {
  std::uint32_t i, j;
  double low, high;
};

void add_pieces(const TriangleMesh& mesh, std::span<const double> x, std::span<const double> y,
                std::vector<Piece>& pieces) {
  int depth = 0;
  double low = 0;
  for (const auto& crossing : mesh.column_crossings(x, y)) {
    const int before = depth;
    depth -= crossing.sign;
    if (before <= 0 && depth > 0) low = crossing.z;
    if (before > 0 && depth <= 0) pieces.push_back({crossing.i, crossing.j, low, crossing.z});
  }
}

std::vector<double> shifted(std::vector<double> values, double by) {
  for (double& value : values) value += by;
  return values;
}

/// Lattice points inside the mesh, by vertical lines. The lines are taken on all four sides of the lattice points, so
/// that points on upright walls are kept on every side.
std::vector<Vector3d> points_by_columns(const TriangleMesh& mesh, const Lattice& lattice, double tolerance) {
  const auto& [x, y, z] = lattice.points;
  std::vector<Piece> pieces;
  for (const double dx : {-tolerance, tolerance})
    for (const double dy : {-tolerance, tolerance}) add_pieces(mesh, shifted(x, dx), shifted(y, dy), pieces);
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return std::tie(a.i, a.j, a.low, a.high) < std::tie(b.i, b.j, b.low, b.high);
  });
  std::vector<Vector3d> inside;
  auto next = z.begin();  // first point of the line that no piece has covered yet
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    const auto& piece = pieces[k];
    if (k == 0 || piece.i != pieces[k - 1].i || piece.j != pieces[k - 1].j) next = z.begin();
    next = std::max(next, std::lower_bound(z.begin(), z.end(), piece.low - tolerance));
    for (; next != z.end() && *next <= piece.high + tolerance; ++next)
      inside.emplace_back(x[piece.i], y[piece.j], *next);
  }
  return inside;
}

std::vector<Vector3d> points_inside(const ShapeKind& kind, const Lattice& lattice, double tolerance) {
  if (const auto* mesh = std::get_if<Mesh>(&kind)) return points_by_columns(*mesh->triangles, lattice, tolerance);
  return points_by_distance(kind, lattice, tolerance);
}

[[noreturn]] void refuse_empty(const Shape& shape, double spacing) {
  const Vector3d size = bounds(Shape{.kind = shape.kind}).sizes();
  throw InputError(
      fmt::format("a spacing of {} m leaves no particle in a shape of {:.4g} x {:.4g} x {:.4g} m\n    "
                  "choose a spacing well below its thickness",
                  spacing, size.x(), size.y(), size.z()));
}

/// SplitMix64's finalizer (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// rotation*p + position with the roundings written out, so that no compiler changes the last digit.
Vector3d placed(const Shape& shape, const Vector3d& p) {
  const auto& R = shape.rotation;
  Vector3d world;
  for (int row = 0; row < 3; ++row)
    world[row] =
        std::fma(R(row, 0), p.x(), std::fma(R(row, 1), p.y(), std::fma(R(row, 2), p.z(), shape.position[row])));
  return world;
}

}  // namespace

double random_number(std::uint64_t seed, std::uint64_t particle, std::uint64_t axis) {
  const auto bits = mix(mix(seed) + 0x9e3779b97f4a7c15u * (3 * particle + axis + 1));
  return static_cast<double>(bits >> 11) * 0x1p-52 - 1.0;
}

double estimate_count(const Shape& shape, double spacing) { return cell_counts(shape, spacing).prod(); }

Samples sample_lattice(const Shape& shape, double spacing, double jitter, int relax, std::uint64_t seed) {
  if (std::holds_alternative<Plane>(shape.kind))
    throw InputError("a plane has no volume to fill with particles\n    give the body another shape, e.g. a box");
  if (!(spacing > 0))
    throw InputError(fmt::format("a spacing of {} m is not possible\n    it must be positive", spacing));
  if (!(estimate_count(shape, spacing) <= 0x1p32))
    throw InputError(fmt::format("a spacing of {} m makes about {:.2g} particles, more than 2^32\n    enlarge it",
                                 spacing, estimate_count(shape, spacing)));
  const auto lattice = make_lattice(shape, spacing);
  Samples samples;
  samples.positions = points_inside(shape.kind, lattice, surface_tolerance * spacing);
  if (samples.positions.empty()) refuse_empty(shape, spacing);
  samples.volumes.assign(samples.positions.size(), lattice.cell_volume);
  for (std::size_t particle = 0; particle < samples.positions.size() && jitter > 0; ++particle)
    for (int axis = 0; axis < 3; ++axis) {
      double& x = samples.positions[particle][axis];
      x = std::fma(jitter * spacing, random_number(seed, particle, static_cast<std::uint64_t>(axis)), x);
    }
  if (jitter > 0 || relax > 0 || !std::holds_alternative<Box>(shape.kind)) {
    const VoronoiCells cells(shape.kind, spacing);
    for (int step = 0; step < relax; ++step) samples.positions = cells.of(samples.positions).centres;
    samples.volumes = cells.of(samples.positions).volumes;
  }
  for (auto& p : samples.positions) p = placed(shape, p);
  return samples;
}

}  // namespace ductile::geometry
