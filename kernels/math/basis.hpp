#pragma once

#include <sycl/sycl.hpp>

#include "kernels/math/scalar.hpp"
#include "kernels/math/vec3.hpp"

namespace ductile {

/// a where t = 1, b where t = 0; both must be finite.
template <class Real>
[[gnu::always_inline]] constexpr Vec3<Real> blend(Real t, const Vec3<Real>& a, const Vec3<Real>& b) {
  return a * t + b * (Real(1) - t);
}

template <class Real>
struct Vec3Pair {
  Vec3<Real> first, second;
};

/// Two vectors that complete the unit vector n to a right-handed orthonormal basis (n, first, second).
/// Duff et al., Building an Orthonormal Basis, Revisited, JCGT 6(1), 2017.
template <class Real>
[[gnu::always_inline]] inline Vec3Pair<Real> complete_basis(const Vec3<Real>& n) {
  const Real sign = sycl::copysign(Real(1), n.z);
  const Real a = Real(-1) / (sign + n.z);
  const Real b = n.x * n.y * a;
  return {{Real(1) + sign * n.x * n.x * a, sign * b, -sign * n.x}, {b, sign + n.y * n.y * a, -n.y}};
}

/// Cosine and sine of a rotation in a plane.
template <class Real>
struct PlaneRotation {
  Real cosine, sine;

  /// The two vectors x c + y s and y c - x s.
  [[gnu::always_inline]] constexpr Vec3Pair<Real> turn(const Vec3<Real>& x, const Vec3<Real>& y) const {
    return {x * cosine + y * sine, y * cosine - x * sine};
  }
};

/// Rotation that diagonalises the symmetric matrix [[a, b], [b, c]], the larger eigenvalue first, from
/// difference = a - c and twice_b = 2b: the angle is half of atan2(2b, a - c). Entries are expected of order one;
/// those whose differences are below `negligible` are left as they are.
template <class Real>
[[gnu::always_inline]] inline PlaneRotation<Real> diagonalizing_rotation(Real difference, Real twice_b) {
  constexpr Real negligible = sizeof(Real) == 4 ? Real(1e-18) : Real(1e-150);  // its square is a normal number
  const Real radius = sycl::sqrt(difference * difference + twice_b * twice_b);
  const Real near = sycl::fabs(difference) + radius + negligible;
  const Real scale = Real(1) / sycl::sqrt(near * near + twice_b * twice_b);
  const Real swap = negative(difference);
  const Real sign = sycl::copysign(Real(1), twice_b);
  const Real far = sycl::fabs(twice_b);
  return {scale * (near * (Real(1) - swap) + far * swap), scale * sign * (far * (Real(1) - swap) + near * swap)};
}

}  // namespace ductile
