#pragma once

#include <sycl/sycl.hpp>

#include <cstddef>
#include <cstdint>

#include "kernels/math/vec3.hpp"

namespace ductile {

/// A triangle of a cutting surface, or of what its rim sweeps in one step.
template <class Real>
struct CutTriangle {
  Vec3<Real> a, b, c;

  /// Six times the signed volume of the tetrahedron (u, v, w, apex).
  static Real side(const Vec3<Real>& u, const Vec3<Real>& v, const Vec3<Real>& w, const Vec3<Real>& apex) {
    return dot(cross(u - apex, v - apex), w - apex);
  }
  /// True if the segment from p to q crosses the triangle: its ends lie on different sides (a point of the plane counts
  /// to the side of the normal) and its line passes the three edges on the same side; a line through an edge counts, so
  /// that no segment slips through between two triangles.
  bool crossed_by(const Vec3<Real>& p, const Vec3<Real>& q) const {
    const Vec3<Real> normal = cross(b - a, c - a);
    const Real start = dot(normal, p - a), end = dot(normal, q - a);
    if ((start >= Real(0)) == (end >= Real(0))) return false;
    const Real ab = side(a, b, q, p), bc = side(b, c, q, p), ca = side(c, a, q, p);
    return (ab >= Real(0) && bc >= Real(0) && ca >= Real(0)) || (ab <= Real(0) && bc <= Real(0) && ca <= Real(0));
  }
};

/// Severs the rest pairs whose present segment crosses a cutting surface (P0 sec. 4.4): both directions of a pair are
/// decided by the same arithmetic, so lists stay symmetric.
template <class Real>
struct SeverPairs {
  const std::uint32_t* start;
  const std::uint32_t* index;
  const Vec4<Real>* position;
  const CutTriangle<Real>* triangle;
  std::uint32_t triangles;
  Vec3<Real> low, high;  // bounds of the triangles
  std::uint8_t* severed;
  std::uint32_t* cut;  // of each particle: pairs severed now

  void operator()(std::size_t i) const {
    std::uint32_t found = 0;
    for (std::uint32_t s = start[i]; s < start[i + 1]; ++s) {
      if (severed[s] != 0) continue;
      const std::uint32_t j = index[s], first = std::uint32_t(i);
      const Vec3<Real> p = xyz(position[first < j ? first : j]), q = xyz(position[first < j ? j : first]);
      if (!near(p, q) || !crosses(p, q)) continue;
      severed[s] = 1;
      ++found;
    }
    cut[i] = found;
  }

 private:
  bool near(const Vec3<Real>& p, const Vec3<Real>& q) const {
    return sycl::fmin(p.x, q.x) <= high.x && sycl::fmax(p.x, q.x) >= low.x && sycl::fmin(p.y, q.y) <= high.y &&
           sycl::fmax(p.y, q.y) >= low.y && sycl::fmin(p.z, q.z) <= high.z && sycl::fmax(p.z, q.z) >= low.z;
  }
  bool crosses(const Vec3<Real>& p, const Vec3<Real>& q) const {
    for (std::uint32_t t = 0; t < triangles; ++t)
      if (triangle[t].crossed_by(p, q)) return true;
    return false;
  }
};

/// Takes severed pairs out of every sum: their weights become zero.
template <class Real>
struct DropSevered {
  const std::uint8_t* severed;
  Real* weight;
  Real* value;  // may be null

  void operator()(std::size_t s) const {
    if (severed[s] == 0) return;
    weight[s] = Real(0);
    if (value != nullptr) value[s] = Real(0);
  }
};

}  // namespace ductile
