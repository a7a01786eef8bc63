#pragma once

#include "kernels/materials/stvk.hpp"

namespace ductile {

/// Fung's solid, soft at first and exponentially stiffer: Psi = (exp(b q) - 1)/b with q the energy of
/// St. Venant-Kirchhoff (Fung 1967). `stiffening` b in 1/Pa.
template <class Real>
struct Fung {
  StVK<Real> base;
  Real stiffening;

  Response<Real> displacement_response(const Mat3<Real>& H) const {
    const Response<Real> q = base.displacement_response(H);
    const Real grown = sycl::expm1(stiffening * q.energy);  // keeps the digits of a small strain
    return {grown / stiffening, q.stress * (Real(1) + grown)};
  }
  Response<Real> response(const Mat3<Real>& F) const { return displacement_response(displacement_gradient(F)); }
};

}  // namespace ductile
