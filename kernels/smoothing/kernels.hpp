#pragma once

#include <sycl/sycl.hpp>

#include "kernels/math/scalar.hpp"

namespace ductile {

// Smoothing kernels W(r), normalised to integral 1 in Dim dimensions (units 1/m^Dim, r in m). Every one is built from
// its SUPPORT RADIUS H, at and beyond which it is exactly zero; the papers' parameter is given with each.
//   value(r)            W
//   derivative(r)       W' = dW/dr (never positive)
//   gradient_factor(r)  W'/r, so that grad_i W(x_i - x_j) = gradient_factor(r) (x_i - x_j) needs no unit vector;
//                       0 at r = 0 for the kernels whose W'/r is singular there

/// The distance to the rim in units of the support, 1 - r/H; exactly zero at and beyond it.
template <class Real>
inline Real rim_distance(Real r, Real support, Real inverse_support) {
  return sycl::max((support - r) * inverse_support, Real(0));
}

/// 1/r, and 0 for coincident particles.
template <class Real>
inline Real reciprocal_or_zero(Real r) {
  constexpr Real coincident = sizeof(Real) == 4 ? Real(1e-25) : Real(1e-250);  // W'/r stays representable above
  const Real apart = negative(coincident - r);
  return apart / (r + (Real(1) - apart));
}

/// Poly6 of P0: H = h.
template <class Real, int Dim = 3>
struct Poly6 {
  static_assert(Dim == 2 || Dim == 3);
  Real support, inverse_square, scale;

  explicit Poly6(Real support_radius)
      : support(support_radius),
        inverse_square(Real(1) / square(support_radius)),
        scale(Dim == 3 ? Real(315) / (Real(64) * pi<Real> * cube(support_radius))
                       : Real(4) / (pi<Real> * square(support_radius))) {}

  Real value(Real r) const { return scale * cube(rim(r)); }
  Real derivative(Real r) const { return gradient_factor(r) * r; }
  Real gradient_factor(Real r) const { return Real(-6) * scale * inverse_square * square(rim(r)); }

 private:
  /// 1 - (r/H)^2
  Real rim(Real r) const { return sycl::max((support - r) * (support + r) * inverse_square, Real(0)); }
};

/// Wendland C2 of P1: H = 2 r_k.
template <class Real, int Dim = 3>
struct Wendland {
  static_assert(Dim == 2 || Dim == 3);
  Real support, inverse_support, scale;

  explicit Wendland(Real support_radius)
      : support(support_radius),
        inverse_support(Real(1) / support_radius),
        scale(Dim == 3 ? Real(21) / (Real(2) * pi<Real> * cube(support_radius))
                       : Real(7) / (pi<Real> * square(support_radius))) {}

  Real value(Real r) const {
    const Real rim = rim_distance(r, support, inverse_support);
    return scale * square(square(rim)) * (Real(4) * r * inverse_support + Real(1));
  }
  Real derivative(Real r) const { return gradient_factor(r) * r; }
  Real gradient_factor(Real r) const {
    return Real(-20) * scale * square(inverse_support) * cube(rim_distance(r, support, inverse_support));
  }
};

/// Spiky kernel of Desbrun and Gascuel (P3): H = 2h. Its slope does not vanish at r = 0, which keeps particles apart.
template <class Real, int Dim = 3>
struct Spiky {
  static_assert(Dim == 2 || Dim == 3);
  Real support, inverse_support, scale;

  explicit Spiky(Real support_radius)
      : support(support_radius),
        inverse_support(Real(1) / support_radius),
        scale(Dim == 3 ? Real(15) / (pi<Real> * cube(support_radius))
                       : Real(10) / (pi<Real> * square(support_radius))) {}

  Real value(Real r) const { return scale * cube(rim_distance(r, support, inverse_support)); }
  Real derivative(Real r) const {
    return Real(-3) * scale * inverse_support * square(rim_distance(r, support, inverse_support));
  }
  Real gradient_factor(Real r) const { return derivative(r) * reciprocal_or_zero(r); }
};

/// Cubic spline of P2 and P3: H = 2h.
template <class Real, int Dim = 3>
struct CubicSpline {
  static_assert(Dim == 2 || Dim == 3);
  Real support, inverse_half, scale;  // inverse_half = 2/H = 1/h

  explicit CubicSpline(Real support_radius)
      : support(support_radius),
        inverse_half(Real(2) / support_radius),
        scale(Dim == 3 ? Real(8) / (pi<Real> * cube(support_radius))
                       : Real(40) / (Real(7) * pi<Real> * square(support_radius))) {}

  /// With q = r/h: 1 - 3/2 q^2 + 3/4 q^3 up to q = 1, (2 - q)^3 / 4 up to q = 2.
  Real value(Real r) const {
    const Real outer = rim_distance(r, support, inverse_half);
    const Real inner = sycl::max(outer - Real(1), Real(0));
    return Real(0.25) * scale * (cube(outer) - Real(4) * cube(inner));
  }
  Real derivative(Real r) const { return gradient_factor(r) * r; }
  /// -3 + 9/4 q up to q = 1, -3/4 (2 - q)^2 / q up to q = 2, in units of 1/h^2.
  Real gradient_factor(Real r) const {
    const Real q = r * inverse_half;
    const Real is_inner = negative(q - Real(1));
    const Real inner = Real(2.25) * q - Real(3);
    const Real outer = Real(-0.75) * square(rim_distance(r, support, inverse_half)) / (q + is_inner);
    return scale * square(inverse_half) * (inner * is_inner + outer * (Real(1) - is_inner));
  }
};

/// Cosine kernel of Solenthaler, Schlaefli and Pajarola 2007 (P4): H = h. Its slope does not vanish at r = 0.
/// 1 + cos(pi (r + h)/2h) = 2 sin^2(pi (1 - r/h)/4), which does not cancel near the rim.
template <class Real, int Dim = 3>
struct Cosine {
  static_assert(Dim == 2 || Dim == 3);
  Real support, inverse_support, slope;  // slope = -W'(0)

  explicit Cosine(Real support_radius)
      : support(support_radius),
        inverse_support(Real(1) / support_radius),
        // pi / (8 (pi/3 - 8/pi + 16/pi^2)) and 1 / (4 (1/2 - 4/pi^2)), whose sums would cancel in single precision
        slope(Dim == 3 ? Real(3.2226116894573126) / square(square(support_radius))
                       : Real(2.6394900427434425) / cube(support_radius)) {}

  Real value(Real r) const {
    const Real sine = sycl::sin(Real(0.25) * pi<Real> * rim_distance(r, support, inverse_support));
    return slope * support * (Real(4) / pi<Real>)*square(sine);
  }
  Real derivative(Real r) const {
    return -slope * sycl::sin(Real(0.5) * pi<Real> * rim_distance(r, support, inverse_support));
  }
  Real gradient_factor(Real r) const { return derivative(r) * reciprocal_or_zero(r); }
};

}  // namespace ductile
