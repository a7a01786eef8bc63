#pragma once

#include <sycl/sycl.hpp>

#include "kernels/math/scalar.hpp"
#include "kernels/math/vec3.hpp"

namespace ductile {

/// 3x3 matrix, row-major. Products are written out, without loops, so that every entry stays in a register.
template <class Real>
struct Mat3 {
  Real m[9];

  static constexpr Mat3 zero() {
    return {{Real(0), Real(0), Real(0), Real(0), Real(0), Real(0), Real(0), Real(0), Real(0)}};
  }
  static constexpr Mat3 identity() {
    return {{Real(1), Real(0), Real(0), Real(0), Real(1), Real(0), Real(0), Real(0), Real(1)}};
  }
  static constexpr Mat3 diagonal(const Vec3<Real>& d) {
    return {{d.x, Real(0), Real(0), Real(0), d.y, Real(0), Real(0), Real(0), d.z}};
  }
  static constexpr Mat3 from_columns(const Vec3<Real>& a, const Vec3<Real>& b, const Vec3<Real>& c) {
    return {{a.x, b.x, c.x, a.y, b.y, c.y, a.z, b.z, c.z}};
  }
  static constexpr Mat3 from_rows(const Vec3<Real>& a, const Vec3<Real>& b, const Vec3<Real>& c) {
    return {{a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z}};
  }

  constexpr Real operator()(int row, int column) const { return m[3 * row + column]; }
  constexpr Real& operator()(int row, int column) { return m[3 * row + column]; }

  constexpr Vec3<Real> row(int i) const { return {m[3 * i], m[3 * i + 1], m[3 * i + 2]}; }
  constexpr Vec3<Real> column(int i) const { return {m[i], m[3 + i], m[6 + i]}; }

  constexpr Mat3 operator-() const { return {{-m[0], -m[1], -m[2], -m[3], -m[4], -m[5], -m[6], -m[7], -m[8]}}; }

  constexpr Mat3& operator+=(const Mat3& b) { return *this = *this + b; }
  constexpr Mat3& operator-=(const Mat3& b) { return *this = *this - b; }
  constexpr Mat3& operator*=(Real s) { return *this = *this * s; }

  friend constexpr Mat3 operator+(const Mat3& a, const Mat3& b) {
    return {{a.m[0] + b.m[0], a.m[1] + b.m[1], a.m[2] + b.m[2], a.m[3] + b.m[3], a.m[4] + b.m[4], a.m[5] + b.m[5],
             a.m[6] + b.m[6], a.m[7] + b.m[7], a.m[8] + b.m[8]}};
  }
  friend constexpr Mat3 operator-(const Mat3& a, const Mat3& b) {
    return {{a.m[0] - b.m[0], a.m[1] - b.m[1], a.m[2] - b.m[2], a.m[3] - b.m[3], a.m[4] - b.m[4], a.m[5] - b.m[5],
             a.m[6] - b.m[6], a.m[7] - b.m[7], a.m[8] - b.m[8]}};
  }
  friend constexpr Mat3 operator*(const Mat3& a, Real s) {
    return {
        {a.m[0] * s, a.m[1] * s, a.m[2] * s, a.m[3] * s, a.m[4] * s, a.m[5] * s, a.m[6] * s, a.m[7] * s, a.m[8] * s}};
  }
  friend constexpr Mat3 operator*(Real s, const Mat3& a) { return a * s; }
  friend constexpr Mat3 operator/(const Mat3& a, Real s) {
    return {
        {a.m[0] / s, a.m[1] / s, a.m[2] / s, a.m[3] / s, a.m[4] / s, a.m[5] / s, a.m[6] / s, a.m[7] / s, a.m[8] / s}};
  }
  friend constexpr Vec3<Real> operator*(const Mat3& a, const Vec3<Real>& v) {
    return {a.m[0] * v.x + a.m[1] * v.y + a.m[2] * v.z, a.m[3] * v.x + a.m[4] * v.y + a.m[5] * v.z,
            a.m[6] * v.x + a.m[7] * v.y + a.m[8] * v.z};
  }
  friend constexpr Mat3 operator*(const Mat3& a, const Mat3& b) {
    return {{a.m[0] * b.m[0] + a.m[1] * b.m[3] + a.m[2] * b.m[6], a.m[0] * b.m[1] + a.m[1] * b.m[4] + a.m[2] * b.m[7],
             a.m[0] * b.m[2] + a.m[1] * b.m[5] + a.m[2] * b.m[8], a.m[3] * b.m[0] + a.m[4] * b.m[3] + a.m[5] * b.m[6],
             a.m[3] * b.m[1] + a.m[4] * b.m[4] + a.m[5] * b.m[7], a.m[3] * b.m[2] + a.m[4] * b.m[5] + a.m[5] * b.m[8],
             a.m[6] * b.m[0] + a.m[7] * b.m[3] + a.m[8] * b.m[6], a.m[6] * b.m[1] + a.m[7] * b.m[4] + a.m[8] * b.m[7],
             a.m[6] * b.m[2] + a.m[7] * b.m[5] + a.m[8] * b.m[8]}};
  }
};

template <class Real>
constexpr Mat3<Real> transpose(const Mat3<Real>& a) {
  return {{a.m[0], a.m[3], a.m[6], a.m[1], a.m[4], a.m[7], a.m[2], a.m[5], a.m[8]}};
}

/// A^T v
template <class Real>
constexpr Vec3<Real> transpose_times(const Mat3<Real>& a, const Vec3<Real>& v) {
  return transpose(a) * v;
}

/// A^T B
template <class Real>
constexpr Mat3<Real> transpose_times(const Mat3<Real>& a, const Mat3<Real>& b) {
  return transpose(a) * b;
}

/// A B^T
template <class Real>
constexpr Mat3<Real> times_transpose(const Mat3<Real>& a, const Mat3<Real>& b) {
  return a * transpose(b);
}

/// a (x) b, entries a_k b_l
template <class Real>
constexpr Mat3<Real> outer(const Vec3<Real>& a, const Vec3<Real>& b) {
  return {{a.x * b.x, a.x * b.y, a.x * b.z, a.y * b.x, a.y * b.y, a.y * b.z, a.z * b.x, a.z * b.y, a.z * b.z}};
}

template <class Real>
constexpr Real trace(const Mat3<Real>& a) {
  return a.m[0] + a.m[4] + a.m[8];
}

/// dJ/dF = J F^{-T}, J = det F; defined for singular F too.
template <class Real>
constexpr Mat3<Real> cofactor(const Mat3<Real>& f) {
  return Mat3<Real>::from_rows(cross(f.row(1), f.row(2)), cross(f.row(2), f.row(0)), cross(f.row(0), f.row(1)));
}

template <class Real>
constexpr Real determinant(const Mat3<Real>& a) {
  return dot(a.row(0), cross(a.row(1), a.row(2)));
}

/// A^{-1} by cofactors: for matrices known to be well conditioned and of ordinary scale (a^3 representable);
/// pseudo_inverse is for the others.
template <class Real>
constexpr Mat3<Real> inverse(const Mat3<Real>& a) {
  const Mat3<Real> c = cofactor(a);
  return transpose(c) * (Real(1) / dot(a.row(0), c.row(0)));
}

template <class Real>
constexpr Mat3<Real> symmetric_part(const Mat3<Real>& a) {
  const Real xy = Real(0.5) * (a.m[1] + a.m[3]);
  const Real xz = Real(0.5) * (a.m[2] + a.m[6]);
  const Real yz = Real(0.5) * (a.m[5] + a.m[7]);
  return {{a.m[0], xy, xz, xy, a.m[4], yz, xz, yz, a.m[8]}};
}

/// A - tr(A)/3 I
template <class Real>
constexpr Mat3<Real> deviator(const Mat3<Real>& a) {
  const Real mean = trace(a) * (Real(1) / Real(3));
  return {{a.m[0] - mean, a.m[1], a.m[2], a.m[3], a.m[4] - mean, a.m[5], a.m[6], a.m[7], a.m[8] - mean}};
}

/// A : B = sum A_kl B_kl
template <class Real>
constexpr Real contract(const Mat3<Real>& a, const Mat3<Real>& b) {
  return dot(a.row(0), b.row(0)) + dot(a.row(1), b.row(1)) + dot(a.row(2), b.row(2));
}

/// Square of the Frobenius norm.
template <class Real>
constexpr Real squared_norm(const Mat3<Real>& a) {
  return contract(a, a);
}

/// Frobenius norm.
template <class Real>
inline Real norm(const Mat3<Real>& a) {
  return sycl::sqrt(squared_norm(a));
}

}  // namespace ductile
