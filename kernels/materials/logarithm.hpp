#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/math/scalar.hpp"

namespace ductile {

/// The unsigned integer of a Real's size.
template <class Real>
using BitsOf = std::conditional_t<sizeof(Real) == sizeof(float), std::uint32_t, std::uint64_t>;

/// 1 if the condition holds, else 0, by its bits: a plain conditional tempts compilers to write the code that follows
/// twice, once for each value.
template <class Real>
[[gnu::always_inline]] constexpr Real one_if(bool condition) {
  using Bits = BitsOf<Real>;
  return sycl::bit_cast<Real>((Bits(0) - static_cast<Bits>(condition)) & sycl::bit_cast<Bits>(Real(1)));
}

/// Horner's scheme, coefficients from the highest power down: written out, because a loop in it would keep a loop over
/// particles around it from being vectorised.
template <class Horner, class... Real>
[[gnu::always_inline]] constexpr Horner horner(Horner polynomial, Real... coefficients) {
  (polynomial.times_square_plus(coefficients), ...);
  return polynomial;
}

/// (atanh(x)/x - 1)/z as a polynomial in z = x^2, 0 <= z <= 1/4 (Chebyshev fit). The error of 1 + z p(z) = atanh(x)/x
/// is 3e-10 in single and 2e-18 in double precision, below their rounding.
template <class Real, class Horner>
[[gnu::always_inline]] constexpr Horner atanh_tail(Horner polynomial) {
  if constexpr (sizeof(Real) == sizeof(float))
    return horner(polynomial, Real(0.156291653819L), Real(0.0409162307182L), Real(0.0975194086574L),
                  Real(0.110508303952L), Real(0.142882860428L), Real(0.199999593362L), Real(0.333333334373L));
  else
    return horner(polynomial, Real(0.21098097885975796879L), Real(-0.14450491183414467765L),
                  Real(0.13557903913692298391L), Real(0.012292448728540531716L), Real(0.054419154182345871822L),
                  Real(0.051607698811471620283L), Real(0.058930996925900415975L), Real(0.066658863527018841325L),
                  Real(0.076923459402706383328L), Real(0.090909078815091881442L), Real(0.111111111339389688L),
                  Real(0.14285714285490105024L), Real(0.20000000000000864857L), Real(0.33333333333333332781L));
}

/// Horner's scheme on numbers; stretch.hpp has the one on matrices.
template <class Real>
struct ScalarHorner {
  Real square, value = Real(0);
  [[gnu::always_inline]] constexpr void times_square_plus(Real coefficient) { value = value * square + coefficient; }
};

/// ln(1 + x), and the part of it that a law needs without its first-order term.
template <class Real>
struct Log1p {
  Real value;   ///< ln(1 + x)
  Real excess;  ///< ln(1 + x) - x, with full relative accuracy for small x (about -x^2/2)
};

/// Both logarithms without a branch, so that a loop over particles vectorises. NaN for x <= -1.
/// 1 + x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); ln(1 + f) = 2 atanh(s), s = f/(2 + f), and for k = 0 the
/// excess comes out as the correction f^2/2 - s (f^2/2 + ...) itself, nothing is subtracted.
template <class Real>
[[gnu::always_inline]] inline Log1p<Real> log1p_parts(Real x) {
  constexpr bool single = sizeof(Real) == sizeof(float);
  using Bits = BitsOf<Real>;
  using Signed = std::make_signed_t<Bits>;
  constexpr int mantissa_bits = single ? 23 : 52;
  constexpr Real ln2 = Real(0.69314718055994530941723212145817657L);

  const Real u = Real(1) + x;
  const Bits bits = sycl::bit_cast<Bits>(u);
  const Signed exponent =
      static_cast<Signed>(bits - sycl::bit_cast<Bits>(Real(0.70710678118654752440L))) >> mantissa_bits;
  const Real mantissa = sycl::bit_cast<Real>(bits - (static_cast<Bits>(exponent) << mantissa_bits));
  const Real f = exponent == 0 ? x : mantissa - Real(1);  // x itself: 1 + x has lost its last digits

  const Real s = f / (Real(2) + f);
  const Real z = s * s;
  const Real half_square = Real(0.5) * f * f;
  const Real tail = Real(2) * z * atanh_tail<Real>(ScalarHorner<Real>{z}).value;
  const Real excess = s * (half_square + tail) - half_square;  // ln(1 + f) - f
  const Real shift = static_cast<Real>(exponent) * ln2;
  const Real poison = u > Real(0) ? Real(0) : sycl::bit_cast<Real>(~Bits(0));  // NaN
  return {shift + (f + excess) + poison, shift + ((f - x) + excess) + poison};
}

/// exp(x) - 1 - x, with full relative accuracy for small x.
template <class Real>
inline Real expm1_minus_x(Real x) {
  // Up to 1/2 the Taylor series is cut below rounding; beyond, the difference costs one digit at most.
  if (sycl::fabs(x) > Real(0.5)) return sycl::expm1(x) - x;
  Real sum = Real(0);
  constexpr int terms = sizeof(Real) == sizeof(float) ? 8 : 14;
  for (int k = terms; k >= 2; --k) sum = Real(1) + sum * x / static_cast<Real>(k + 1);
  return Real(0.5) * x * x * sum;
}

}  // namespace ductile
