#pragma once

#include <sycl/sycl.hpp>

#include "kernels/math/mat3.hpp"
#include "kernels/math/svd.hpp"

namespace ductile {

/// F = R S with a rotation R (det R = +1 for reflections too) and a symmetric S, whose smallest eigenvalue has the sign
/// of det F.
template <class Real>
struct Polar {
  Mat3<Real> R, S;
};

template <class Real>
[[gnu::always_inline]] inline Polar<Real> polar(const Svd<Real>& f) {
  const Mat3<Real> vs = Mat3<Real>::from_columns(f.V.column(0) * f.s.x, f.V.column(1) * f.s.y, f.V.column(2) * f.s.z);
  return {times_transpose(f.U, f.V), symmetric_part(times_transpose(vs, f.V))};
}

template <class Real>
[[gnu::always_inline]] inline Polar<Real> polar(const Mat3<Real>& f) {
  return polar(svd(f));
}

}  // namespace ductile
