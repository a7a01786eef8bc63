#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <type_traits>

// As in a SYCL compiler, the arguments of a function have one type: fmin(x, 0.5) of a float x does not compile.
namespace sycl {

#define HOSTSYCL_UNARY(name)          \
  template <std::floating_point Real> \
  inline Real name(Real x) {          \
    return std::name(x);              \
  }
#define HOSTSYCL_BINARY(name)         \
  template <std::floating_point Real> \
  inline Real name(Real x, Real y) {  \
    return std::name(x, y);           \
  }

HOSTSYCL_UNARY(acos)
HOSTSYCL_UNARY(asin)
HOSTSYCL_UNARY(atan)
HOSTSYCL_UNARY(cbrt)
HOSTSYCL_UNARY(ceil)
HOSTSYCL_UNARY(cos)
HOSTSYCL_UNARY(cosh)
HOSTSYCL_UNARY(erf)
HOSTSYCL_UNARY(exp)
HOSTSYCL_UNARY(expm1)
HOSTSYCL_UNARY(fabs)
HOSTSYCL_UNARY(floor)
HOSTSYCL_UNARY(log)
HOSTSYCL_UNARY(log1p)
HOSTSYCL_UNARY(log2)
HOSTSYCL_UNARY(round)
HOSTSYCL_UNARY(sin)
HOSTSYCL_UNARY(sinh)
HOSTSYCL_UNARY(sqrt)
HOSTSYCL_UNARY(tan)
HOSTSYCL_UNARY(tanh)
HOSTSYCL_UNARY(trunc)
HOSTSYCL_BINARY(atan2)
HOSTSYCL_BINARY(copysign)
HOSTSYCL_BINARY(fmod)
HOSTSYCL_BINARY(hypot)
HOSTSYCL_BINARY(pow)

#undef HOSTSYCL_UNARY
#undef HOSTSYCL_BINARY

/// Written as selects, which vectorise; a NaN operand loses against a number, as in std::fmin.
template <std::floating_point Real>
inline Real fmin(Real x, Real y) {
  return (y < x || x != x) ? y : x;
}
template <std::floating_point Real>
inline Real fmax(Real x, Real y) {
  return (y > x || x != x) ? y : x;
}
template <std::floating_point Real>
inline Real fma(Real x, Real y, Real z) {
  return std::fma(x, y, z);
}
template <std::floating_point Real>
inline Real rsqrt(Real x) {
  return Real(1) / std::sqrt(x);
}
template <std::floating_point Real>
inline Real ldexp(Real x, int exponent) {
  return std::ldexp(x, exponent);
}
template <std::floating_point Real>
inline int ilogb(Real x) {
  return std::ilogb(x);
}
template <std::floating_point Real>
inline bool isfinite(Real x) {
  return std::isfinite(x);
}
template <std::floating_point Real>
inline bool isnan(Real x) {
  return std::isnan(x);
}

template <class T>
requires std::is_arithmetic_v<T>
inline T min(T x, T y) { return y < x ? y : x; }
template <class T>
requires std::is_arithmetic_v<T>
inline T max(T x, T y) { return x < y ? y : x; }
template <class T>
requires std::is_arithmetic_v<T>
inline T clamp(T x, T low, T high) { return sycl::min(sycl::max(x, low), high); }
template <std::integral T>
inline T abs(T x) {
  return x < 0 ? static_cast<T>(-x) : x;
}
template <std::integral T>
inline T clz(T x) {
  return static_cast<T>(std::countl_zero(static_cast<std::make_unsigned_t<T>>(x)));
}
template <std::integral T>
inline T popcount(T x) {
  return static_cast<T>(std::popcount(static_cast<std::make_unsigned_t<T>>(x)));
}

using std::bit_cast;

}  // namespace sycl
