#pragma once

#include "kernels/materials/logarithm.hpp"
#include "kernels/materials/symmetric.hpp"

namespace ductile {

/// Energy density [Pa = J/m^3 of rest volume] and first Piola stress dEnergy/dF [Pa] of a law at one F.
template <class Real>
struct Response {
  Real energy;
  Mat3<Real> stress;

  constexpr Response& operator+=(const Response& other) {
    energy += other.energy;
    stress += other.stress;
    return *this;
  }
};

/// A response computed without branches, so that a loop over particles vectorises. Where `valid` is false it holds
/// nothing of use, and displacement_response of the same law has the answer.
template <class Real>
struct FastResponse {
  Response<Real> response;
  bool valid;
};

/// Lame parameters [Pa] of Young's modulus [Pa] and Poisson's ratio.
template <class Real>
struct Lame {
  Real mu, lambda;

  static constexpr Lame from(Real youngs_modulus, Real poisson_ratio) {
    return {youngs_modulus / (Real(2) * (Real(1) + poisson_ratio)),
            youngs_modulus * poisson_ratio / ((Real(1) + poisson_ratio) * (Real(1) - Real(2) * poisson_ratio))};
  }
  constexpr Real bulk_modulus() const { return lambda + mu * (Real(2) / Real(3)); }
};

/// Cauchy stress of a Kirchhoff stress. Matter without volume has none that is finite: |J| counts as 1e-3 at least.
template <class Real>
Mat3<Real> cauchy_stress(const Mat3<Real>& kirchhoff, Real volume_ratio) {
  const Real J = sycl::copysign(sycl::fmax(sycl::fabs(volume_ratio), Real(1e-3)), volume_ratio);
  return kirchhoff * (Real(1) / J);
}

/// Displacement gradient H = F - I. The subtraction is exact where it matters (near rest); a solver that sums
/// displacement differences has H itself and should not round it to F first.
template <class Real>
constexpr Mat3<Real> displacement_gradient(const Mat3<Real>& F) {
  return F - Mat3<Real>::identity();
}

/// F = c I + A: near rest c = 1 and A = H, which keeps every digit of a small H; where H is as large as F (a body that
/// has turned, a large strain) c = 0 and A = F, since there the terms of I + H only cancel each other. One formula
/// serves both, without a branch.
template <class Real>
struct OffsetGradient {
  Real c;
  Vec3<Real> row0, row1, row2;
};

template <class Real>
[[gnu::always_inline]] constexpr OffsetGradient<Real> offset_gradient(const Mat3<Real>& H) {
  const Real c = one_if<Real>(squared_norm(H) < Real(0.25));
  const Real d = Real(1) - c;
  return {c, {H.m[0] + d, H.m[1], H.m[2]}, {H.m[3], H.m[4] + d, H.m[5]}, {H.m[6], H.m[7], H.m[8] + d}};
}

/// Green strain E = (F^T F - I)/2 = sym(H) + H^T H/2: to rounding of H near rest, to rounding of 1 under any rotation.
template <class Real>
[[gnu::always_inline]] constexpr Sym3<Real> green_strain(const Mat3<Real>& H) {
  const auto [c, x, y, z] = offset_gradient(H);
  constexpr Real half = Real(0.5);
  const Real d = half * (c - Real(1));
  return {d + c * x.x + half * (x.x * x.x + y.x * y.x + z.x * z.x),
          d + c * y.y + half * (x.y * x.y + y.y * y.y + z.y * z.y),
          d + c * z.z + half * (x.z * x.z + y.z * y.z + z.z * z.z),
          half * (c * (x.y + y.x) + x.x * x.y + y.x * y.y + z.x * z.y),
          half * (c * (x.z + z.x) + x.x * x.z + y.x * y.z + z.x * z.z),
          half * (c * (y.z + z.y) + x.y * x.z + y.y * y.z + z.y * z.z)};
}

/// Change of volume and of area of F = c I + A, near rest without the ones.
template <class Real>
struct VolumeChange {
  Real j;             ///< J - 1
  Real c;             ///< of the offset
  Real trace;         ///< c tr A
  Real higher_order;  ///< J - 1 - tr H for c = 1
  Mat3<Real> area;    ///< cof F - c (1 + tr A) I

  /// cof F = J F^{-T} = dJ/dF
  [[gnu::always_inline]] constexpr Mat3<Real> cofactor() const {
    const Real d = c + trace;
    return {{area.m[0] + d, area.m[1], area.m[2], area.m[3], area.m[4] + d, area.m[5], area.m[6], area.m[7],
             area.m[8] + d}};
  }
};

template <class Real>
[[gnu::always_inline]] constexpr VolumeChange<Real> volume_change(const Mat3<Real>& H) {
  const auto [c, x, y, z] = offset_gradient(H);
  const Vec3<Real> yz = cross(y, z), zx = cross(z, x), xy = cross(x, y);  // rows of cof A
  const Real tr = c * (x.x + y.y + z.z);
  const Real higher_order = c * (yz.x + zx.y + xy.z) + dot(x, yz);
  return {(c - Real(1)) + (tr + higher_order),
          c,
          tr,
          higher_order,
          {{yz.x - c * x.x, yz.y - c * y.x, yz.z - c * z.x, zx.x - c * x.y, zx.y - c * y.y, zx.z - c * z.y,
            xy.x - c * x.z, xy.y - c * y.z, xy.z - c * z.z}}};
}

/// |F|^2 - 3 - 2 ln J, second order in the strain. `excess` is ln J - (J - 1). Written by the invariants of E the
/// first-order terms are gone before any rounding: |F|^2 - 3 = 2 tr E, J^2 - 1 = 2 tr E + 4 I2(E) + 8 det E.
template <class Real>
[[gnu::always_inline]] constexpr Real distortion(const Sym3<Real>& E, Real j, Real log_volume, Real excess) {
  const Real small = j * j - Real(4) * second_invariant(E) - Real(8) * determinant(E) - Real(2) * excess;
  const Real large = Real(2) * (trace(E) - log_volume);
  return j * j < Real(0.25) ? small : large;
}

}  // namespace ductile
