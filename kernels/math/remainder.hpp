#pragma once

#include <sycl/sycl.hpp>

#include <cstdint>

#include "kernels/math/scalar.hpp"
#include "kernels/math/vec3.hpp"

namespace ductile {

/// What the rounding of a sum of two vectors has cut off, exactly (Knuth's two-sum).
template <class Real>
inline Vec3<Real> cut_off(const Vec3<Real>& a, const Vec3<Real>& b, const Vec3<Real>& sum) {
  const Vec3<Real> second = sum - a;
  return (a - (sum - second)) + (b - second);
}

/// The remainders of three single-precision coordinates in the bits of one number: a slow body moves by less per step
/// than the rounding of its position, and would stand still or go at a wrong speed without them. Each is kept to a
/// thousandth of the rounding. Double precision needs none.
template <class Real>
struct Remainder {
  static constexpr bool kept = sizeof(Real) == sizeof(float);

  static Real pack(const Vec3<Real>& rest, const Vec3<Real>& of) {
    if constexpr (!kept) {
      return Real(0);
    } else {
      const std::uint32_t bits = field(rest.x, of.x) | field(rest.y, of.y) << 10 | field(rest.z, of.z) << 20;
      return sycl::bit_cast<Real>(bits | in_use);
    }
  }
  /// Zero for a number that holds none.
  static Vec3<Real> unpack(Real packed, const Vec3<Real>& of) {
    if constexpr (!kept) {
      return Vec3<Real>::zero();
    } else {
      const std::uint32_t bits = sycl::bit_cast<std::uint32_t>(packed);
      if ((bits & in_use) == 0) return Vec3<Real>::zero();
      return {part(bits, of.x), part(bits >> 10, of.y), part(bits >> 20, of.z)};
    }
  }

 private:
  static constexpr std::uint32_t in_use = 1u << 30;  // with fields below 1016 the number is never infinite or no number
  static constexpr std::uint32_t middle = 512, mask = 1023;
  static constexpr Real most = Real(500);

  static Real unit(Real of) { return sycl::fabs(of) * rounding_unit<Real>; }
  static std::uint32_t field(Real rest, Real of) {
    const Real largest = unit(of);
    const Real scaled = largest > Real(0) ? clamp(most * (rest / largest), -most, most) : Real(0);
    return std::uint32_t(scaled + (Real(middle) + Real(0.5)));  // rounded, since it is positive
  }
  static Real part(std::uint32_t bits, Real of) {
    return (Real(std::int32_t(bits & mask) - std::int32_t(middle)) / most) * unit(of);
  }
};

}  // namespace ductile
