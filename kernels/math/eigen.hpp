#pragma once

#include <sycl/sycl.hpp>

#include "kernels/math/basis.hpp"
#include "kernels/math/mat3.hpp"
#include "kernels/math/scaling.hpp"
#include "kernels/math/sym3.hpp"

namespace ductile {

/// A = vectors * diag(values) * vectors^T, values descending, vectors a rotation (its columns are the eigenvectors).
template <class Real>
struct SymmetricEigen {
  Vec3<Real> values;
  Mat3<Real> vectors;
};

/// c in [cos(pi/6), 1] with 4c^3 - 3c = x for x in [0, 1], i.e. cos(acos(x)/3). The derivative of the cubic is between
/// 6 and 9 there, so Newton's method from a polynomial good to 4e-5 doubles its digits every time: 3e-9, 1e-17.
template <class Real>
[[gnu::always_inline]] inline Real cosine_of_third(Real x) {
  Real c = Real(0.86606633) + x * (Real(0.16533035) + x * (Real(-0.0406911974) + x * Real(0.0093196839)));
  c -= (c * (Real(4) * c * c - Real(3)) - x) / (Real(12) * c * c - Real(3));
  if constexpr (sizeof(Real) > 4) c -= (c * (Real(4) * c * c - Real(3)) - x) / (Real(12) * c * c - Real(3));
  return c;
}

template <class Real>
struct IsolatedEigenvector {
  Vec3<Real> direction;  ///< unit length
  Real is_smallest;      ///< 1 if its eigenvalue is the smallest of the three, 0 if it is the largest
};

/// Eigenvector of the eigenvalue that lies farther from the middle one, which makes it well conditioned whatever the
/// matrix: the eigenvalues are q + 2p cos(angle + 2 pi k/3), and the isolated one is q +- 2pc with c >= cos(pi/6)
/// (Smith, Eigenvalues of a symmetric 3x3 matrix, CACM 4, 1961; Eberly, A Robust Eigensolver for 3x3 Symmetric
/// Matrices, 2014). Entries are expected of order one; a multiple of the identity gives some unit vector.
template <class Real>
[[gnu::always_inline]] inline IsolatedEigenvector<Real> isolated_eigenvector(const Sym3<Real>& a) {
  constexpr Real negligible = sizeof(Real) == 4 ? Real(1e-30) : Real(1e-280);
  const Real q = (a.xx + a.yy + a.zz) * (Real(1) / Real(3));
  Real x = a.xx - q, y = a.yy - q, z = a.zz - q;
  const Real rest = (x + y + z) * (Real(1) / Real(3));  // of the rounding of q: not small against a tiny deviator
  x -= rest;
  y -= rest;
  z -= rest;
  const Real sum = x * x + y * y + z * z + Real(2) * (a.xy * a.xy + a.xz * a.xz + a.yz * a.yz);
  const Real some = negative(negligible - sum);
  const Real inverse_p = some / sycl::sqrt(sum * (Real(1) / Real(6)) + negligible);
  x *= inverse_p;
  y *= inverse_p;
  z *= inverse_p;
  const Real xy = a.xy * inverse_p, xz = a.xz * inverse_p, yz = a.yz * inverse_p;
  const Real determinant = x * (y * z - yz * yz) - xy * (xy * z - yz * xz) + xz * (xy * yz - y * xz);
  const Real is_smallest = negative(determinant);
  const Real c = cosine_of_third(Real(0.5) * sycl::fabs(determinant));
  const Real value = (Real(2) - Real(4) * is_smallest) * c;
  x -= value;
  y -= value;
  z -= value;
  // The adjugate of A - value I is a multiple of the projector on the eigenvector; its longest column is the one with
  // the largest diagonal entry.
  const Vec3<Real> u{y * z - yz * yz, xz * yz - xy * z, xy * yz - y * xz};
  const Vec3<Real> v{u.y, x * z - xz * xz, xy * xz - x * yz};
  const Vec3<Real> w{u.z, v.z, x * y - xy * xy};
  const Real v_over_u = negative(u.x - v.y);
  const Real w_over_both = negative(sycl::max(u.x, v.y) - w.z);
  const Vec3<Real> longest = blend(w_over_both, w, blend(v_over_u, v, u));
  return {longest * (Real(1) / norm(longest)), is_smallest};
}

/// Three numbers in descending order.
template <class Real>
[[gnu::always_inline]] inline Vec3<Real> descending(Real a, Real b, Real c) {
  const Real high = sycl::max(b, c), low = sycl::min(b, c), middle = sycl::min(a, high);
  return {sycl::max(a, high), sycl::max(middle, low), sycl::min(middle, low)};
}

/// Eigenvalues and eigenvectors of a symmetric matrix. No iteration and no branch. Errors are a few rounding units of
/// the largest eigenvalue, at every scale and for repeated eigenvalues too; nearly equal values are put in order
/// without their vectors.
template <class Real>
[[gnu::always_inline]] inline SymmetricEigen<Real> symmetric_eigen(const Mat3<Real>& matrix) {
  const PowerOfTwo<Real> scale = leading_power_of_two(largest_magnitude(matrix));
  const Mat3<Real> a = matrix * scale.reciprocal;
  const auto isolated = isolated_eigenvector(Sym3<Real>::from(a));
  const Vec3<Real> w = isolated.direction;
  const Real is_smallest = isolated.is_smallest;

  const auto [p, r] = complete_basis(w);
  const Vec3<Real> ap = a * p, ar = a * r;
  const auto rotation = diagonalizing_rotation(dot(p, ap) - dot(r, ar), Real(2) * dot(p, ar));
  const auto [larger, smaller] = rotation.turn(p, r);
  const auto [a_larger, a_smaller] = rotation.turn(ap, ar);
  const Real value = dot(w, a * w), larger_value = dot(larger, a_larger), smaller_value = dot(smaller, a_smaller);

  return {descending(value, larger_value, smaller_value) * scale.value,
          Mat3<Real>::from_columns(blend(is_smallest, larger, w), blend(is_smallest, smaller, larger),
                                   blend(is_smallest, w, smaller))};
}

/// Descending.
template <class Real>
[[gnu::always_inline]] inline Vec3<Real> symmetric_eigenvalues(const Mat3<Real>& matrix) {
  return symmetric_eigen(matrix).values;
}

}  // namespace ductile
