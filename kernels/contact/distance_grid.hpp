#pragma once

#include <sycl/sycl.hpp>

#include <cstddef>
#include <cstdint>

#include "kernels/contact/signed_distance.hpp"

namespace ductile {

/// Signed distance of any closed surface, sampled on the points of a cubic grid and interpolated trilinearly. The grid
/// reaches beyond the surface on every side.
template <class Real>
struct DistanceGrid {
  const Real* value;  // x fastest
  Vec3<Real> origin;
  Real width, inverse_width;
  std::uint32_t points_x, points_y, points_z;  // at least two each

  DistanceNormal<Real> at(const Vec3<Real>& p) const {
    const Vec3<Real> last{width * Real(points_x - 1), width * Real(points_y - 1), width * Real(points_z - 1)};
    const Vec3<Real> local = p - origin;
    const Vec3<Real> q{clamp(local.x, Real(0), last.x), clamp(local.y, Real(0), last.y),
                       clamp(local.z, Real(0), last.z)};
    const DistanceNormal<Real> inside = interpolated(q);
    // Outside the grid: no nearer than the way to it, and away from it.
    const auto beyond = length_direction(local - q, inside.normal);
    if (!(beyond.distance > Real(0))) return inside;
    return {inside.distance + beyond.distance, beyond.normal};
  }

 private:
  struct Place {
    std::uint32_t cell;
    Real fraction;
  };
  Place place(Real x, std::uint32_t points) const {
    const Real scaled = x * inverse_width;
    std::uint32_t cell = std::uint32_t(scaled);
    if (cell > points - 2) cell = points - 2;
    return {cell, scaled - Real(cell)};
  }
  DistanceNormal<Real> interpolated(const Vec3<Real>& q) const {
    const Place x = place(q.x, points_x), y = place(q.y, points_y), z = place(q.z, points_z);
    const std::size_t row = points_x, layer = row * points_y;
    const Real* const v = value + z.cell * layer + y.cell * row + x.cell;
    const auto mix = [](Real a, Real b, Real t) { return a + t * (b - a); };
    // Along x on the four edges: value and slope.
    const Real v00 = mix(v[0], v[1], x.fraction), v10 = mix(v[row], v[row + 1], x.fraction);
    const Real v01 = mix(v[layer], v[layer + 1], x.fraction);
    const Real v11 = mix(v[layer + row], v[layer + row + 1], x.fraction);
    const Real s00 = v[1] - v[0], s10 = v[row + 1] - v[row];
    const Real s01 = v[layer + 1] - v[layer], s11 = v[layer + row + 1] - v[layer + row];
    const Vec3<Real> slope{mix(mix(s00, s10, y.fraction), mix(s01, s11, y.fraction), z.fraction),
                           mix(v10 - v00, v11 - v01, z.fraction),
                           mix(v01, v11, y.fraction) - mix(v00, v10, y.fraction)};
    const auto direction = length_direction(slope, Vec3<Real>{Real(0), Real(0), Real(1)});
    return {mix(mix(v00, v10, y.fraction), mix(v01, v11, y.fraction), z.fraction), direction.normal};
  }
};

}  // namespace ductile
