#pragma once

#include <sycl/sycl.hpp>

namespace ductile {

template <class Real>
struct Vec3 {
  Real x, y, z;

  static constexpr Vec3 zero() { return {Real(0), Real(0), Real(0)}; }

  // Selects instead of an address computation: a vector indexed by a constant stays in registers.
  constexpr Real operator[](int i) const { return i == 0 ? x : (i == 1 ? y : z); }
  constexpr Real& operator[](int i) { return i == 0 ? x : (i == 1 ? y : z); }

  constexpr Vec3 operator-() const { return {-x, -y, -z}; }

  constexpr Vec3& operator+=(const Vec3& b) {
    x += b.x;
    y += b.y;
    z += b.z;
    return *this;
  }
  constexpr Vec3& operator-=(const Vec3& b) {
    x -= b.x;
    y -= b.y;
    z -= b.z;
    return *this;
  }
  constexpr Vec3& operator*=(Real s) {
    x *= s;
    y *= s;
    z *= s;
    return *this;
  }

  friend constexpr Vec3 operator+(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend constexpr Vec3 operator-(const Vec3& a, const Vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend constexpr Vec3 operator*(const Vec3& a, Real s) { return {a.x * s, a.y * s, a.z * s}; }
  friend constexpr Vec3 operator*(Real s, const Vec3& a) { return {a.x * s, a.y * s, a.z * s}; }
  friend constexpr Vec3 operator/(const Vec3& a, Real s) { return {a.x / s, a.y / s, a.z / s}; }
  friend constexpr bool operator==(const Vec3&, const Vec3&) = default;
};

template <class Real>
constexpr Real dot(const Vec3<Real>& a, const Vec3<Real>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

template <class Real>
constexpr Vec3<Real> cross(const Vec3<Real>& a, const Vec3<Real>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

template <class Real>
constexpr Real squared_norm(const Vec3<Real>& a) {
  return dot(a, a);
}

template <class Real>
inline Real norm(const Vec3<Real>& a) {
  return sycl::sqrt(squared_norm(a));
}

/// Storage of a 3-vector padded to a full vector register.
template <class Real>
using Vec4 = sycl::vec<Real, 4>;

template <class Real>
inline Vec4<Real> padded(const Vec3<Real>& a, Real w = Real(0)) {
  return Vec4<Real>(a.x, a.y, a.z, w);
}

template <class Real>
inline Vec3<Real> xyz(const Vec4<Real>& a) {
  return {a[0], a[1], a[2]};
}

}  // namespace ductile
