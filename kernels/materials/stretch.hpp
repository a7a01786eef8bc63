#pragma once

#include "kernels/materials/strain.hpp"

namespace ductile {

/// X = E (I + E)^{-1} = (C - I)(C + I)^{-1}, C = F^T F: the hyperbolic tangent of the Hencky strain, defined for every
/// F. The right stretch and its logarithm are short series in X^2, so that no eigenvalue problem stands in the way of a
/// law.
template <class Real>
[[gnu::always_inline]] constexpr Sym3<Real> tanh_strain(const Sym3<Real>& E) {
  const Real e1 = trace(E), e2 = second_invariant(E), e3 = determinant(E);
  const Real scale = Real(1) / (Real(1) + e1 + e2 + e3);  // 1/det(I + E); I + E = (C + I)/2 is never singular
  return scale * plus_identity((Real(1) + e1) * E - squared(E), e3);
}

/// |X| <= 1/2, the range of the series below: one stretch alone may go from 1/sqrt(3) to sqrt(3), three together from
/// 0.74 to 1.35. X does not know a reflection from its mirror image: test det F > 0 beside.
template <class Real>
[[gnu::always_inline]] constexpr bool within_series(const Sym3<Real>& X) {
  return squared_norm(X) <= Real(0.25);
}

/// A series in X: by Cayley-Hamilton it is a I + b X + c X^2, and multiplication by X acts on the three coefficients
/// through the invariants of X alone.
template <class Real>
struct IsotropicSeries {
  Real i1, i2, i3;
  Real a, b, c;

  [[gnu::always_inline]] static constexpr IsotropicSeries in(const Sym3<Real>& X) {
    return {trace(X), second_invariant(X), determinant(X), Real(0), Real(0), Real(0)};
  }
  [[gnu::always_inline]] constexpr void times_argument() {
    const Real top = c;
    c = b + top * i1;
    b = a - top * i2;
    a = top * i3;
  }
  [[gnu::always_inline]] constexpr void times_square_plus(Real coefficient) {
    times_argument();
    times_argument();
    a += coefficient;
  }
  [[gnu::always_inline]] constexpr Sym3<Real> at(const Sym3<Real>& X) const {
    return plus_identity(b * X + c * squared(X), a);
  }
};

/// Hencky strain ln U = atanh X, U = (F^T F)^{1/2}; for within_series(X).
template <class Real>
[[gnu::always_inline]] constexpr Sym3<Real> hencky_strain(const Sym3<Real>& X) {
  IsotropicSeries<Real> series = atanh_tail<Real>(IsotropicSeries<Real>::in(X));
  series.times_argument();
  series.times_argument();
  series.times_argument();
  series.b += Real(1);
  return series.at(X);
}

/// Right stretch, without its ones.
template <class Real>
struct RightStretch {
  Sym3<Real> strain;    ///< U - I
  Sym3<Real> backward;  ///< I - U^{-1} = U^{-1} (U - I)
};

/// (1/sqrt(1 - z) - 1)/z as a polynomial in z, 0 <= z <= 1/4 (Chebyshev fit); the error of 1 + z p(z) = 1/sqrt(1 - z)
/// is 1.2e-9 in single and 9e-18 in double precision, below their rounding.
template <class Real>
[[gnu::always_inline]] constexpr IsotropicSeries<Real> inverse_root_tail(const IsotropicSeries<Real>& series) {
  if constexpr (sizeof(Real) == sizeof(float))
    return horner(series, Real(0.519206182434L), Real(0.100144593088L), Real(0.269210189342L), Real(0.271325007172L),
                  Real(0.312590234712L), Real(0.374998572369L), Real(0.500000003651L));
  else
    return horner(series, Real(0.97377324752166026091L), Real(-0.69878224913670280586L), Real(0.61220134469300565065L),
                  Real(0.020719536846317341444L), Real(0.20839865934423742885L), Real(0.18061705206143546187L),
                  Real(0.19689043682362000855L), Real(0.20943561702588256497L), Real(0.22558775381601693423L),
                  Real(0.24609369254926946444L), Real(0.27343750108465976323L), Real(0.31249999998934643708L),
                  Real(0.37500000000004110343L), Real(0.49999999999999997377L));
}

/// U = (I + X)(I - X^2)^{-1/2}, U^{-1} = (I - X)(I - X^2)^{-1/2}; for within_series(X).
template <class Real>
[[gnu::always_inline]] constexpr RightStretch<Real> right_stretch(const Sym3<Real>& X) {
  IsotropicSeries<Real> even = inverse_root_tail<Real>(IsotropicSeries<Real>::in(X));
  even.times_argument();
  even.times_argument();
  IsotropicSeries<Real> odd = even;
  odd.times_argument();
  odd.b += Real(1);
  const Sym3<Real> e = even.at(X), o = odd.at(X);
  return {o + e, o - e};
}

}  // namespace ductile
