#pragma once

#include "kernels/math/vec3.hpp"

namespace ductile {

/// The padded vectors of two neighbours side by side, which fill a vector register of the processor.
template <class Real>
using Vec8 = sycl::vec<Real, 8>;

template <class Real>
inline Vec8<Real> twice(const Vec4<Real>& a) {
  return Vec8<Real>(a, a);
}

/// The numbers a and b, each for all places of its half.
template <class Real>
inline Vec8<Real> halves(Real a, Real b) {
  return Vec8<Real>(Vec4<Real>(a), Vec4<Real>(b));
}

/// Component K of each half, for all places of that half.
template <int K, class Real>
inline Vec8<Real> component(const Vec8<Real>& a) {
  return a.template swizzle<K, K, K, K, 4 + K, 4 + K, 4 + K, 4 + K>();
}

template <class Real>
inline Vec4<Real> sum_of_halves(const Vec8<Real>& a) {
  const Vec4<Real> low = a.lo(), high = a.hi();
  return low + high;
}

}  // namespace ductile
