#pragma once

#include <cstdint>
#include <sycl/sycl.hpp>
#include <type_traits>

#include "kernels/math/mat3.hpp"

namespace ductile {

/// A power of two and its reciprocal: multiplying by either is exact.
template <class Real>
struct PowerOfTwo {
  Real value, reciprocal;
};

/// The largest power of two not above x > 0, by its exponent bits. Zero and subnormal numbers count as the smallest
/// normal number, infinities and NaN as the largest, so that both members are always finite and positive.
template <class Real>
[[gnu::always_inline]] inline PowerOfTwo<Real> leading_power_of_two(Real x) {
  constexpr bool single = sizeof(Real) == 4;
  using Bits = std::conditional_t<single, std::int32_t, std::int64_t>;
  constexpr Bits fraction_bits = single ? 23 : 52;
  constexpr Bits largest = (single ? 253 : 2045) * (Bits(1) << fraction_bits);  // its reciprocal is normal too
  constexpr Bits smallest = Bits(1) << fraction_bits;
  Bits exponent = sycl::bit_cast<Bits>(x) & (smallest * (single ? 255 : 2047));
  exponent = exponent < smallest ? smallest : exponent;
  exponent = exponent > largest ? largest : exponent;
  return {sycl::bit_cast<Real>(exponent), sycl::bit_cast<Real>(largest + smallest - exponent)};
}

template <class Real>
[[gnu::always_inline]] inline Real largest_magnitude(const Mat3<Real>& a) {
  Real largest = sycl::fabs(a.m[0]);
  largest = sycl::max(largest, sycl::fabs(a.m[1]));
  largest = sycl::max(largest, sycl::fabs(a.m[2]));
  largest = sycl::max(largest, sycl::fabs(a.m[3]));
  largest = sycl::max(largest, sycl::fabs(a.m[4]));
  largest = sycl::max(largest, sycl::fabs(a.m[5]));
  largest = sycl::max(largest, sycl::fabs(a.m[6]));
  largest = sycl::max(largest, sycl::fabs(a.m[7]));
  return sycl::max(largest, sycl::fabs(a.m[8]));
}

}  // namespace ductile
