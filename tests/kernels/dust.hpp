#pragma once

#include <cstddef>

#include "kernels/math/vec3.hpp"

namespace ductile {

/// Drag of the air on a step's increment: the velocity decays at a rate of `rate` per second.
template <class Real>
struct Drag {
  Real rate, time_step;
  Vec4<Real>* increment;

  void operator()(std::size_t i) const {
    increment[i] = padded(xyz(increment[i]) * (Real(1) / (Real(1) + rate * time_step)));
  }
};

}  // namespace ductile
