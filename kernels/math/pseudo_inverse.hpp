#pragma once

#include <sycl/sycl.hpp>

#include "kernels/math/mat3.hpp"
#include "kernels/math/scalar.hpp"
#include "kernels/math/svd.hpp"

namespace ductile {

/// 1/s where |s| > limit, else 0.
template <class Real>
[[gnu::always_inline]] inline Real reciprocal_above(Real s, Real limit) {
  const Real kept = negative(limit - sycl::fabs(s));
  return kept / (kept * s + (Real(1) - kept));
}

/// Moore-Penrose inverse of A without its singular values at or below `cut` (in the units of A).
template <class Real>
[[gnu::always_inline]] inline Mat3<Real> pseudo_inverse_absolute(const Svd<Real>& a, Real cut) {
  const Mat3<Real> scaled = Mat3<Real>::from_columns(a.V.column(0) * reciprocal_above(a.s.x, cut),
                                                     a.V.column(1) * reciprocal_above(a.s.y, cut),
                                                     a.V.column(2) * reciprocal_above(a.s.z, cut));
  return times_transpose(scaled, a.U);
}

template <class Real>
[[gnu::always_inline]] inline Mat3<Real> pseudo_inverse_absolute(const Mat3<Real>& a, Real cut) {
  return pseudo_inverse_absolute(svd(a), cut);
}

/// The same without the singular values at or below `relative_cut` times the largest one. Zero has the inverse zero.
template <class Real>
[[gnu::always_inline]] inline Mat3<Real> pseudo_inverse(const Mat3<Real>& a, Real relative_cut) {
  const Svd<Real> decomposed = svd(a);
  return pseudo_inverse_absolute(decomposed, relative_cut * decomposed.s.x);
}

}  // namespace ductile
