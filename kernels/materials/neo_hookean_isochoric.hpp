#pragma once

#include "kernels/materials/strain.hpp"

namespace ductile {

/// Neo-Hookean solid with the isochoric part split off (Borden 2012, Wolper 2019; elasticity of the original cam-clay):
///   Psi = mu/2 (J^{-2/3} |F|^2 - 3) + kappa/2 ((J^2 - 1)/2 - ln J),  tau = mu J^{-2/3} dev(F F^T) + kappa/2 (J^2 - 1)
///   I.
/// Undefined (NaN) for det F <= 0.
template <class Real>
struct IsochoricNeoHookean {
  Real mu, kappa;

  [[gnu::always_inline]] constexpr Response<Real> displacement_response(const Mat3<Real>& H) const {
    const VolumeChange<Real> v = volume_change(H);
    const Mat3<Real> tau = kirchhoff_of(H, v.j);
    return {energy_of(H, v.j), (tau * v.cofactor()) * (Real(1) / (Real(1) + v.j))};
  }
  [[gnu::always_inline]] constexpr Response<Real> response(const Mat3<Real>& F) const {
    return displacement_response(displacement_gradient(F));
  }
  constexpr Real energy(const Mat3<Real>& F) const { return response(F).energy; }
  constexpr Mat3<Real> stress(const Mat3<Real>& F) const { return response(F).stress; }
  constexpr Mat3<Real> kirchhoff(const Mat3<Real>& F) const {
    const Mat3<Real> H = displacement_gradient(F);
    return kirchhoff_of(H, volume_change(H).j);
  }

 private:
  constexpr Real energy_of(const Mat3<Real>& H, Real j) const {
    const Sym3<Real> E = green_strain(H);
    const Log1p<Real> log = log1p_parts(j);
    const Real y = log.value * (Real(-2) / Real(3));
    const Real second = expm1_minus_x(y);
    // J^{-2/3} |F|^2 - 3 = e^y (3 + 2 tr E) - 3; its first-order terms are those of `distortion`.
    const Real shear = Real(3) * second + distortion(E, j, log.value, log.excess) + Real(2) * trace(E) * (y + second);
    return Real(0.5) * (mu * shear + kappa * (Real(0.5) * square(j) - log.excess));
  }
  constexpr Mat3<Real> kirchhoff_of(const Mat3<Real>& H, Real j) const {
    const Sym3<Real> left = green_strain(transpose(H));  // (F F^T - I)/2
    const Real y = log1p_parts(j).value * (Real(-2) / Real(3));
    const Real shear = Real(2) * mu * (Real(1) + y + expm1_minus_x(y));
    return plus_identity(shear * deviator(left), Real(0.5) * kappa * j * (Real(2) + j)).full();
  }
};

}  // namespace ductile
