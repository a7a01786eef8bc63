#pragma once

#include "kernels/materials/strain.hpp"

namespace ductile {

/// Compressible Neo-Hookean solid: Psi = mu/2 (|F|^2 - 3) - mu ln J + lambda/2 ln^2 J (P0 eq. 14).
/// Undefined (NaN) for det F <= 0: use it through InversionSafe.
template <class Real>
struct NeoHookean {
  Real mu, lambda;

  [[gnu::always_inline]] constexpr Response<Real> displacement_response(const Mat3<Real>& H) const {
    const VolumeChange<Real> v = volume_change(H);
    const Log1p<Real> log = log1p_parts(v.j);
    const Real shear = distortion(green_strain(H), v.j, log.value, log.excess);
    const Mat3<Real> difference = scaled_difference(H, v);
    const Real inverse_volume = Real(1) / (Real(1) + v.j);
    return {Real(0.5) * (mu * shear + lambda * square(log.value)),
            difference * (mu * inverse_volume) + v.cofactor() * (lambda * log.value * inverse_volume)};
  }
  [[gnu::always_inline]] constexpr FastResponse<Real> fast_response(const Mat3<Real>& H) const {
    return {displacement_response(H), true};
  }
  [[gnu::always_inline]] constexpr Response<Real> response(const Mat3<Real>& F) const {
    return displacement_response(displacement_gradient(F));
  }
  constexpr Real energy(const Mat3<Real>& F) const { return response(F).energy; }
  constexpr Mat3<Real> stress(const Mat3<Real>& F) const { return response(F).stress; }

  Real principal_energy(const Vec3<Real>& s) const {
    // s^2 - 1 - 2 ln s = (s - 1)^2 - 2 (ln s - (s - 1)) for each stretch.
    const auto shear = [](Real stretch, const Log1p<Real>& log) {
      return square(stretch - Real(1)) - Real(2) * log.excess;
    };
    const auto x = log1p_parts(s.x - Real(1)), y = log1p_parts(s.y - Real(1)), z = log1p_parts(s.z - Real(1));
    return Real(0.5) *
           (mu * (shear(s.x, x) + shear(s.y, y) + shear(s.z, z)) + lambda * square(x.value + y.value + z.value));
  }
  Vec3<Real> principal_gradient(const Vec3<Real>& s) const {
    const Real pressure = lambda * log_volume(s);
    const auto gradient = [this, pressure](Real x) { return (mu * (x - Real(1)) * (x + Real(1)) + pressure) / x; };
    return {gradient(s.x), gradient(s.y), gradient(s.z)};
  }
  Mat3<Real> principal_hessian(const Vec3<Real>& s) const {
    const Vec3<Real> inverse = {Real(1) / s.x, Real(1) / s.y, Real(1) / s.z};
    const Real pressure = lambda * log_volume(s);
    const auto diagonal = [this, pressure](Real r) { return mu + (mu - pressure) * r * r; };
    return Mat3<Real>::diagonal({diagonal(inverse.x), diagonal(inverse.y), diagonal(inverse.z)}) +
           outer(inverse, inverse) * lambda;
  }

 private:
  /// J F - cof F, near rest with the ones cancelled by hand.
  [[gnu::always_inline]] static constexpr Mat3<Real> scaled_difference(const Mat3<Real>& H,
                                                                       const VolumeChange<Real>& v) {
    const Real J = Real(1) + v.j;
    const Real d = (Real(1) - v.c) * J + v.c * v.higher_order;  // J (I - c I) + c (J - 1 - tr H) I
    return {{J * H.m[0] - v.area.m[0] + d, J * H.m[1] - v.area.m[1], J * H.m[2] - v.area.m[2], J * H.m[3] - v.area.m[3],
             J * H.m[4] - v.area.m[4] + d, J * H.m[5] - v.area.m[5], J * H.m[6] - v.area.m[6], J * H.m[7] - v.area.m[7],
             J * H.m[8] - v.area.m[8] + d}};
  }
  static Real log_volume(const Vec3<Real>& s) {
    return log1p_parts(s.x - Real(1)).value + log1p_parts(s.y - Real(1)).value + log1p_parts(s.z - Real(1)).value;
  }
};

}  // namespace ductile
