#pragma once

#include "kernels/math/sym3.hpp"

namespace ductile {

template <class Real>
constexpr Sym3<Real> operator+(const Sym3<Real>& a, const Sym3<Real>& b) {
  return {a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}
template <class Real>
constexpr Sym3<Real> operator-(const Sym3<Real>& a, const Sym3<Real>& b) {
  return {a.xx - b.xx, a.yy - b.yy, a.zz - b.zz, a.xy - b.xy, a.xz - b.xz, a.yz - b.yz};
}
template <class Real>
constexpr Sym3<Real> operator*(Real s, const Sym3<Real>& a) {
  return {s * a.xx, s * a.yy, s * a.zz, s * a.xy, s * a.xz, s * a.yz};
}
template <class Real>
constexpr Mat3<Real> operator*(const Mat3<Real>& a, const Sym3<Real>& b) {
  return a * b.full();
}

/// A + s I
template <class Real>
constexpr Sym3<Real> plus_identity(const Sym3<Real>& a, Real s) {
  return {a.xx + s, a.yy + s, a.zz + s, a.xy, a.xz, a.yz};
}

template <class Real>
constexpr Real trace(const Sym3<Real>& a) {
  return a.xx + a.yy + a.zz;
}

/// Sum of the principal minors of order two, (tr(A)^2 - tr(A^2))/2.
template <class Real>
constexpr Real second_invariant(const Sym3<Real>& a) {
  return (a.xx * a.yy - a.xy * a.xy) + (a.xx * a.zz - a.xz * a.xz) + (a.yy * a.zz - a.yz * a.yz);
}

template <class Real>
constexpr Real determinant(const Sym3<Real>& a) {
  return a.xx * (a.yy * a.zz - a.yz * a.yz) - a.xy * (a.xy * a.zz - a.yz * a.xz) + a.xz * (a.xy * a.yz - a.yy * a.xz);
}

/// Square of the Frobenius norm of the whole matrix.
template <class Real>
constexpr Real squared_norm(const Sym3<Real>& a) {
  return a.xx * a.xx + a.yy * a.yy + a.zz * a.zz + Real(2) * (a.xy * a.xy + a.xz * a.xz + a.yz * a.yz);
}

/// A A
template <class Real>
constexpr Sym3<Real> squared(const Sym3<Real>& a) {
  return {a.xx * a.xx + a.xy * a.xy + a.xz * a.xz, a.xy * a.xy + a.yy * a.yy + a.yz * a.yz,
          a.xz * a.xz + a.yz * a.yz + a.zz * a.zz, a.xx * a.xy + a.xy * a.yy + a.xz * a.yz,
          a.xx * a.xz + a.xy * a.yz + a.xz * a.zz, a.xy * a.xz + a.yy * a.yz + a.yz * a.zz};
}

/// A - tr(A)/3 I
template <class Real>
constexpr Sym3<Real> deviator(const Sym3<Real>& a) {
  return plus_identity(a, -trace(a) * (Real(1) / Real(3)));
}

/// All eigenvalues above zero, by the leading minors; all are evaluated, since a branch keeps loops from vectorising.
template <class Real>
[[gnu::always_inline]] constexpr bool positive_definite(const Sym3<Real>& a) {
  return (a.xx > Real(0)) & (a.xx * a.yy - a.xy * a.xy > Real(0)) & (determinant(a) > Real(0));
}

}  // namespace ductile
