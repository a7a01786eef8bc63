#pragma once

#include <sycl/sycl.hpp>

namespace ductile {

template <class Real>
inline constexpr Real pi = Real(3.14159265358979323846);

/// Distance from 1 to the next number: twice the unit roundoff.
template <class Real>
inline constexpr Real rounding_unit = sizeof(Real) == sizeof(float) ? Real(1.1920928955078125e-07)
                                                                    : Real(2.220446049250313e-16);

template <class Real>
constexpr Real square(Real x) {
  return x * x;
}

template <class Real>
constexpr Real cube(Real x) {
  return x * x * x;
}

/// x limited to [low, high]; NaN becomes low.
template <class Real>
inline Real clamp(Real x, Real low, Real high) {
  return sycl::fmin(sycl::fmax(x, low), high);
}

/// -1 for negative x, +1 otherwise (both zeros included).
template <class Real>
constexpr Real sign_or_one(Real x) {
  return x < Real(0) ? Real(-1) : Real(1);
}

/// 1 where the sign bit of x is set (negative numbers, -0), 0 elsewhere. A choice written as `a * t + b * (1 - t)` with
/// this t stays straight-line code, where compilers turn `x < 0 ? a : b` into a branch and then do not vectorise loops.
template <class Real>
inline Real negative(Real x) {
  return Real(0.5) - sycl::copysign(Real(0.5), x);
}

}  // namespace ductile
