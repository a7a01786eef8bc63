#pragma once

#include "kernels/materials/strain.hpp"
#include "kernels/math/svd.hpp"

namespace ductile {

template <class Real>
constexpr Real sum(const Vec3<Real>& a) {
  return a.x + a.y + a.z;
}

/// U diag(d) V^T
template <class Real>
constexpr Mat3<Real> recompose(const Svd<Real>& f, const Vec3<Real>& d) {
  const Mat3<Real> scaled = Mat3<Real>::from_columns(f.U.column(0) * d.x, f.U.column(1) * d.y, f.U.column(2) * d.z);
  return times_transpose(scaled, f.V);
}

/// An isotropic law from its principal stretches: P = U diag(dPsi/ds) V^T with the rotation-variant decomposition, in
/// which the smallest stretch carries the sign of det F.
template <class Real, class Law>
[[gnu::noinline]] inline Response<Real> principal_response(const Law& law, const Mat3<Real>& F) {
  const Svd<Real> f = svd(F);
  return {law.principal_energy(f.s), recompose(f, law.principal_gradient(f.s))};
}

}  // namespace ductile
