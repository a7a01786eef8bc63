#pragma once

#include "kernels/math/mat3.hpp"

namespace ductile {

/// A symmetric 3x3 matrix in six numbers.
template <class Real>
struct Sym3 {
  Real xx, yy, zz, xy, xz, yz;

  static constexpr Sym3 zero() { return {Real(0), Real(0), Real(0), Real(0), Real(0), Real(0)}; }
  static constexpr Sym3 identity() { return {Real(1), Real(1), Real(1), Real(0), Real(0), Real(0)}; }
  /// The symmetric part of a matrix.
  static constexpr Sym3 from(const Mat3<Real>& a) {
    return {a.m[0],
            a.m[4],
            a.m[8],
            Real(0.5) * (a.m[1] + a.m[3]),
            Real(0.5) * (a.m[2] + a.m[6]),
            Real(0.5) * (a.m[5] + a.m[7])};
  }
  constexpr Mat3<Real> full() const { return {{xx, xy, xz, xy, yy, yz, xz, yz, zz}}; }

  /// this += s v v^T
  constexpr void add_square(const Vec3<Real>& v, Real s) {
    xx += s * v.x * v.x;
    yy += s * v.y * v.y;
    zz += s * v.z * v.z;
    xy += s * v.x * v.y;
    xz += s * v.x * v.z;
    yz += s * v.y * v.z;
  }
  friend constexpr Vec3<Real> operator*(const Sym3& a, const Vec3<Real>& v) {
    return {a.xx * v.x + a.xy * v.y + a.xz * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
            a.xz * v.x + a.yz * v.y + a.zz * v.z};
  }
};

/// D : (D A), the sum over the rows d of D of d^T A d.
template <class Real>
constexpr Real quadratic_form(const Mat3<Real>& d, const Sym3<Real>& a) {
  const auto row = [&](int r) { return dot(d.row(r), a * d.row(r)); };
  return row(0) + row(1) + row(2);
}

}  // namespace ductile
