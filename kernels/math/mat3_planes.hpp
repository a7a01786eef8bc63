#pragma once

#include <cstddef>
#include <type_traits>

#include "kernels/math/mat3.hpp"

namespace ductile {

/// An array of matrices as nine arrays of numbers: entry k of matrix i at data[k * stride + i]. Loops over particles
/// that load and store matrices so vectorise; with an array of Mat3, nine numbers apart, GCC gives up.
template <class Entry>
struct Mat3Planes {
  using Real = std::remove_const_t<Entry>;
  Entry* data;
  std::size_t stride;

  [[gnu::always_inline]] Mat3<Real> load(std::size_t i) const {
    const Entry* a = data + i;
    return {{a[0], a[stride], a[2 * stride], a[3 * stride], a[4 * stride], a[5 * stride], a[6 * stride], a[7 * stride],
             a[8 * stride]}};
  }
  [[gnu::always_inline]] void store(std::size_t i, const Mat3<Real>& value) const {
    Entry* a = data + i;
    a[0] = value.m[0];
    a[stride] = value.m[1];
    a[2 * stride] = value.m[2];
    a[3 * stride] = value.m[3];
    a[4 * stride] = value.m[4];
    a[5 * stride] = value.m[5];
    a[6 * stride] = value.m[6];
    a[7 * stride] = value.m[7];
    a[8 * stride] = value.m[8];
  }
};

}  // namespace ductile
