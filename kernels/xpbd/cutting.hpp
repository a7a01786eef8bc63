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

  /// The side of p, 1 for that of the normal or -1, if the segment from p to q crosses the triangle: its ends lie on
  /// different sides, and its line passes the three edges on the same side; a line through an edge counts. Else 0. No
  /// segment slips through between two triangles: what they share, an edge, is decided by the same arithmetic for both,
  /// and points of their common plane, which rounding would put here or there, lie on the side of the normal.
  int side_if_crossed(const Vec3<Real>& p, const Vec3<Real>& q) const {
    const Vec3<Real> normal = cross(b - a, c - a);
    const Real below = -in_plane * norm(normal) * norm(q - p);
    const bool above = dot(normal, p - a) > below;
    if (above == (dot(normal, q - a) > below)) return 0;
    const Real ab = passes(a, b, p, q), bc = passes(b, c, p, q), ca = passes(c, a, p, q);
    if (!(ab >= Real(0) && bc >= Real(0) && ca >= Real(0)) && !(ab <= Real(0) && bc <= Real(0) && ca <= Real(0)))
      return 0;
    return above ? 1 : -1;
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

/// A cutting surface in one step, with what its rim sweeps.
template <class Real>
struct Blade {
  const CutTriangle<Real>* triangle;
  std::uint32_t triangles;
  Vec3<Real> low, high;  // bounds of the triangles

  /// On which side of the surface p lies, 1 or -1, if the segment from p to q crosses it; else 0.
  int side_if_crossed(const Vec3<Real>& p, const Vec3<Real>& q) const {
    const Real slack = CutTriangle<Real>::in_plane * norm(q - p);
    const auto overlaps = [slack](Real u, Real v, Real least, Real most) {
      return sycl::fmin(u, v) - slack <= most && sycl::fmax(u, v) + slack >= least;
    };
    if (!overlaps(p.x, q.x, low.x, high.x) || !overlaps(p.y, q.y, low.y, high.y) || !overlaps(p.z, q.z, low.z, high.z))
      return 0;
    for (std::uint32_t t = 0; t < triangles; ++t)
      if (const int side = triangle[t].side_if_crossed(p, q); side != 0) return side;
    return 0;
  }
  /// True if the surface meets the segment or its line within half of its length from an end.
  bool meets(const Vec3<Real>& p, const Vec3<Real>& q) const {
    const Vec3<Real> half = Real(0.5) * (q - p);
    return side_if_crossed(p - half, q + half) != 0;
  }
};

/// The ends of a pair in one order, whichever of them asks: both decide by the same arithmetic.
template <class Real>
struct PairEnds {
  Vec3<Real> p, q;
  bool swapped;  // p is not the one that asks

  static PairEnds of(const Vec4<Real>* position, std::size_t i, std::uint32_t j) {
    const bool swapped = j < i;
    return {xyz(position[swapped ? j : i]), xyz(position[swapped ? i : j]), swapped};
  }
};

/// On which side of a blade the particles beside it are: 1 and -1, or 0 for those it does not meet. The side is that of
/// most pairs when the blade comes, and stays until the blade has gone: what drifts through a blade afterwards stays
/// with its piece instead of being severed from both.
template <class Real>
struct ChooseSides {
  const std::uint32_t* start;
  const std::uint32_t* index;
  const Vec4<Real>* position;
  Blade<Real> blade;
  std::int8_t* side;

  void operator()(std::size_t i) const {
    bool met = false, crossed = false;
    int votes = 0;
    for (std::uint32_t s = start[i]; s < start[i + 1]; ++s) {
      const auto ends = PairEnds<Real>::of(position, i, index[s]);
      if (side[i] == 0) {
        const int of_p = blade.side_if_crossed(ends.p, ends.q);
        votes += ends.swapped ? -of_p : of_p;
        crossed = crossed || of_p != 0;
      }
      met = met || crossed || blade.meets(ends.p, ends.q);
    }
    if (!met)
      side[i] = 0;
    else if (side[i] == 0 && crossed)
      side[i] = votes < 0 ? -1 : 1;
  }
};

/// Severs the rest pairs between the sides of a blade that it meets (P0 sec. 4.4), in both directions, so lists stay
/// symmetric.
template <class Real>
struct SeverPairs {
  const std::uint32_t* start;
  const std::uint32_t* index;
  const Vec4<Real>* position;
  Blade<Real> blade;
  const std::int8_t* side;
  std::uint8_t* severed;
  std::uint32_t* cut;  // of each particle: pairs severed now

  void operator()(std::size_t i) const {
    std::uint32_t found = 0;
    for (std::uint32_t s = start[i]; s < start[i + 1]; ++s) {
      if (severed[s] != 0 || int(side[i]) * int(side[index[s]]) >= 0) continue;
      const auto ends = PairEnds<Real>::of(position, i, index[s]);
      if (!blade.meets(ends.p, ends.q)) continue;
      severed[s] = 1;
      ++found;
    }
    cut[i] = found;
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
