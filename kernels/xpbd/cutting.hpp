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

  static constexpr Real in_plane = Real(1e-3f);  // parts of a segment that a point of the plane may lie off it

  /// True if the segment from p to q crosses the triangle: its ends lie on different sides, and its line passes the
  /// three edges on the same side; a line through an edge counts. No segment slips through between two triangles: what
  /// they share, an edge, is decided by the same arithmetic for both, and points of their common plane, which rounding
  /// would put here or there, lie on the side of the normal.
  bool crossed_by(const Vec3<Real>& p, const Vec3<Real>& q) const {
    const Vec3<Real> normal = cross(b - a, c - a);
    const Real below = -in_plane * norm(normal) * norm(q - p);
    if ((dot(normal, p - a) > below) == (dot(normal, q - a) > below)) return false;
    const Real ab = passes(a, b, p, q), bc = passes(b, c, p, q), ca = passes(c, a, p, q);
    return (ab >= Real(0) && bc >= Real(0) && ca >= Real(0)) || (ab <= Real(0) && bc <= Real(0) && ca <= Real(0));
  }

 private:
  /// On which side the line from p to q passes the edge from u to v; exactly the opposite for the edge from v to u.
  static Real passes(const Vec3<Real>& u, const Vec3<Real>& v, const Vec3<Real>& p, const Vec3<Real>& q) {
    return before(u, v) ? volume(u - p, v - p, q - p) : -volume(v - p, u - p, q - p);
  }
  static bool before(const Vec3<Real>& u, const Vec3<Real>& v) {
    if (u.x != v.x) return u.x < v.x;
    if (u.y != v.y) return u.y < v.y;
    return u.z < v.z;
  }
  /// (u x v) . w, with every rounding written out: left to the compiler, it would not be the same everywhere.
  static Real volume(const Vec3<Real>& u, const Vec3<Real>& v, const Vec3<Real>& w) {
    const Real x = sycl::fma(u.y, v.z, -(u.z * v.y));
    const Real y = sycl::fma(u.z, v.x, -(u.x * v.z));
    const Real z = sycl::fma(u.x, v.y, -(u.y * v.x));
    return sycl::fma(x, w.x, sycl::fma(y, w.y, z * w.z));
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
    const Real slack = CutTriangle<Real>::in_plane * norm(q - p);
    const auto overlaps = [slack](Real u, Real v, Real least, Real most) {
      return sycl::fmin(u, v) - slack <= most && sycl::fmax(u, v) + slack >= least;
    };
    return overlaps(p.x, q.x, low.x, high.x) && overlaps(p.y, q.y, low.y, high.y) && overlaps(p.z, q.z, low.z, high.z);
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
