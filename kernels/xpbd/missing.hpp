#pragma once

#include "kernels/xpbd/rest_shape.hpp"

namespace ductile {

/// A sheet or a chain of particles, or what a cut has left of a neighbourhood, does not span space: along the missing
/// directions its gradients are zero. F is completed there as if the matter turned with the rest and kept its
/// thickness, so that a rigid motion stores no energy. For an isotropic law the stress along the completed directions
/// does no work, and the gradients leave it out by themselves.

/// Projector on the directions in which a particle has no neighbours: singular values of sum_j V_j phi_ij p p^T that
/// are below `cut` times the largest one.
template <class Real>
inline Sym3<Real> missing_directions(const RestNeighbors<Real>& pairs, std::size_t i, Real cut) {
  Sym3<Real> s = Sym3<Real>::zero();
  pairs.for_each(i, [&](std::uint32_t n, const Vec3<Real>& p) { s.add_square(p, pairs.weight[n]); });
  const Mat3<Real> spread = s.full();
  return Sym3<Real>::from(Mat3<Real>::identity() - spread * pseudo_inverse(spread, cut));
}

/// How many directions a projector keeps.
template <class Real>
[[gnu::always_inline]] inline int rank(const Sym3<Real>& projector) {
  return int(projector.xx + projector.yy + projector.zz + Real(0.5f));
}

/// Unit vector of a projector of rank one.
template <class Real>
inline Vec3<Real> direction_of(const Sym3<Real>& projector) {
  const Sym3<Real>& p = projector;
  Vec3<Real> longest{p.xx, p.xy, p.xz};
  if (p.yy > p.xx && p.yy >= p.zz) longest = {p.xy, p.yy, p.yz};
  if (p.zz > p.xx && p.zz > p.yy) longest = {p.xz, p.yz, p.zz};
  return longest / norm(longest);
}

/// The rotation that turns the unit vector `from` into the unit vector `to` by the smallest angle.
template <class Real>
inline Mat3<Real> shortest_rotation(const Vec3<Real>& from, const Vec3<Real>& to) {
  const Real c = dot(from, to);
  if (c < Real(-0.9999f)) {
    // Half a turn about any direction across.
    const Vec3<Real> axis =
        sycl::fabs(from.x) < Real(0.6f) ? Vec3<Real>{Real(1), Real(0), Real(0)} : Vec3<Real>{Real(0), Real(1), Real(0)};
    const Vec3<Real> across = cross(from, axis), u = across / norm(across);
    return Real(2) * outer(u, u) - Mat3<Real>::identity();
  }
  const Vec3<Real> v = cross(from, to);
  const Mat3<Real> turn{{Real(0), -v.z, v.y, v.z, Real(0), -v.x, -v.y, v.x, Real(0)}};
  return Mat3<Real>::identity() + turn + turn * turn * (Real(1) / (Real(1) + c));
}

/// F - I of a neighbourhood, completed along its missing directions.
template <class Real>
inline Mat3<Real> completed(const Mat3<Real>& H, const Sym3<Real>& missing) {
  const Mat3<Real> I = Mat3<Real>::identity();
  const int directions = rank(missing);
  if (directions == 0) return H;
  if (directions == 3) return Mat3<Real>::zero();
  const Mat3<Real> spanned = I - missing.full();
  const Mat3<Real> known = spanned + H * spanned;
  if (directions == 1) {
    // The normal of the deformed sheet; one that is crushed to a line keeps that of its rest.
    const Vec3<Real> n = direction_of(missing), normal = cofactor(known) * n;
    const Real area = norm(normal);
    return known + outer(area > Real(1e-6f) ? normal / area : n, n) - I;
  }
  const Vec3<Real> t = direction_of(Sym3<Real>::from(spanned)), image = known * t;
  const Real length = norm(image);
  const Mat3<Real> turn = length > Real(1e-6f) ? shortest_rotation(t, image / length) : I;
  return known + turn * missing.full() - I;
}

/// 1 for particles whose neighbours do not span space.
template <class Real>
struct MarkMissing {
  RestNeighbors<Real> pairs;
  Real cut;
  std::uint32_t* mark;

  void operator()(std::size_t i) const { mark[i] = rank(missing_directions(pairs, i, cut)) > 0 ? 1u : 0u; }
};

template <class Real>
struct FindMissing {
  RestNeighbors<Real> pairs;
  Real cut;
  Sym3<Real>* missing;

  void operator()(std::size_t i) const { missing[i] = missing_directions(pairs, i, cut); }
};

}  // namespace ductile
