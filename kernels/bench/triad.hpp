#pragma once

#include <sycl/sycl.hpp>

#include <cstddef>

#include "kernels/math/svd.hpp"

namespace ductile {

/// The memory-bound loop by which machines are compared: two streams in, one out.
template <class Real>
struct Triad {
  const Real* b;
  const Real* c;
  Real factor;
  Real* a;

  void operator()(std::size_t i) const { a[i] = b[i] + factor * c[i]; }
};

/// Decompositions of matrices that differ from the identity by up to `spread` per entry.
template <class Real>
struct DecomposeMany {
  Real spread;
  Vec3<Real>* stretches;

  void operator()(std::size_t i) const {
    Mat3<Real> a = Mat3<Real>::identity();
    std::uint32_t state = std::uint32_t(i) * 747796405u + 2891336453u;
    for (int k = 0; k < 9; ++k) {
      state = state * 1664525u + 1013904223u;
      a.m[k] += spread * (Real(state >> 8) * Real(1.1920929e-7f) - Real(1));
    }
    stretches[i] = svd(a).s;
  }
};

}  // namespace ductile
