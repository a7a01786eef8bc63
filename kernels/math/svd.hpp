#pragma once

#include <sycl/sycl.hpp>

#include "kernels/math/basis.hpp"
#include "kernels/math/eigen.hpp"
#include "kernels/math/mat3.hpp"
#include "kernels/math/scaling.hpp"
#include "kernels/math/sym3.hpp"

namespace ductile {

/// A = U diag(s) V^T with rotations U and V: s.x >= s.y >= |s.z|, and s.z has the sign of det A.
template <class Real>
struct Svd {
  Mat3<Real> U;
  Vec3<Real> s;
  Mat3<Real> V;
};

template <class Real>
struct UnitVector {
  Vec3<Real> direction;
  Real length;
};

/// Direction and length of a vector of order one; a zero vector points along z.
template <class Real>
[[gnu::always_inline]] inline UnitVector<Real> direction_and_length(const Vec3<Real>& a) {
  constexpr Real negligible = sizeof(Real) == 4 ? Real(1e-30) : Real(1e-280);
  const Real none = negative(squared_norm(a) - negligible);
  const Real length = norm(a);
  return {blend(none, Vec3<Real>{Real(0), Real(0), Real(1)}, a * (Real(1) / (length + none))), length};
}

/// Rotation that turns the x axis into the direction of (x, y), and the length of that vector.
template <class Real>
struct PolarAngle {
  Real cosine, sine, length;
};

template <class Real>
[[gnu::always_inline]] inline PolarAngle<Real> polar_angle(Real x, Real y) {
  constexpr Real negligible = sizeof(Real) == 4 ? Real(1e-30) : Real(1e-280);
  const Real squared = x * x + y * y;
  const Real none = negative(squared - negligible);
  const Real length = sycl::sqrt(squared);
  const Real scale = (Real(1) - none) / (length + none);
  return {x * scale + none, y * scale, length};
}

/// Singular value decomposition without iteration and without branches, so that it vectorises across particles.
/// The eigenvector v1 of A^T A for the largest eigenvalue gives A [v1 v2 v3] = [u1 u2 u3] [s1, ~0; 0, M], where the
/// rest of the first row is at rounding level however bad the condition of A is; the 2x2 block M is decomposed without
/// loss. So the errors of orthogonality and of U diag(s) V^T - A are a few rounding units (times |A|) for every matrix
/// and scale, though A^T A was formed; nearly equal values are put in order without their vectors. Input that is not
/// finite gives output that is not.
template <class Real>
[[gnu::always_inline]] inline Svd<Real> svd(const Mat3<Real>& matrix) {
  const PowerOfTwo<Real> scale = leading_power_of_two(largest_magnitude(matrix));
  const Mat3<Real> a = matrix * scale.reciprocal;
  const Vec3<Real> x = a.column(0), y = a.column(1), z = a.column(2);
  const auto isolated =
      isolated_eigenvector(Sym3<Real>{dot(x, x), dot(y, y), dot(z, z), dot(x, y), dot(x, z), dot(y, z)});
  const Vec3<Real> w = isolated.direction;
  const Real is_smallest = isolated.is_smallest;
  const auto [p, r] = complete_basis(w);
  const Vec3<Real> ap = a * p, ar = a * r;
  const auto [larger, smaller] =
      diagonalizing_rotation(squared_norm(ap) - squared_norm(ar), Real(2) * dot(ap, ar)).turn(p, r);
  const Vec3<Real> v1 = blend(is_smallest, larger, w);
  const Vec3<Real> v2 = blend(is_smallest, smaller, larger);
  const Vec3<Real> v3 = blend(is_smallest, w, smaller);

  const auto [u1, s1] = direction_and_length(a * v1);
  const auto [u2, u3] = complete_basis(u1);
  const Vec3<Real> b2 = a * v2, b3 = a * v3;
  const Real m22 = dot(u2, b2), m23 = dot(u2, b3), m32 = dot(u3, b2), m33 = dot(u3, b3);
  const auto right =
      diagonalizing_rotation(m22 * m22 + m32 * m32 - m23 * m23 - m33 * m33, Real(2) * (m22 * m23 + m32 * m33));
  const auto left = polar_angle(m22 * right.cosine + m23 * right.sine, m32 * right.cosine + m33 * right.sine);
  const Real s3 =
      (m33 * right.cosine - m32 * right.sine) * left.cosine - (m23 * right.cosine - m22 * right.sine) * left.sine;
  const auto [right2, right3] = right.turn(v2, v3);
  const auto [left2, left3] = PlaneRotation<Real>{left.cosine, left.sine}.turn(u2, u3);
  const Vec3<Real> s = descending(s1, left.length, sycl::fabs(s3));
  return {Mat3<Real>::from_columns(u1, left2, left3), Vec3<Real>{s.x, s.y, sycl::copysign(s.z, s3)} * scale.value,
          Mat3<Real>::from_columns(v1, right2, right3)};
}

}  // namespace ductile
