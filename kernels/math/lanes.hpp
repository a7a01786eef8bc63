#pragma once

#include "kernels/math/sym3.hpp"

namespace ductile {

/// Matrices of a few particles, entry by entry: loops over them become vector instructions.
template <class Real, int Width>
struct Mat3Lanes {
  Real m[9][Width];

  [[gnu::always_inline]] Mat3<Real> load(int l) const {
    return {{m[0][l], m[1][l], m[2][l], m[3][l], m[4][l], m[5][l], m[6][l], m[7][l], m[8][l]}};
  }
  [[gnu::always_inline]] void store(int l, const Mat3<Real>& a) {
    m[0][l] = a.m[0];
    m[1][l] = a.m[1];
    m[2][l] = a.m[2];
    m[3][l] = a.m[3];
    m[4][l] = a.m[4];
    m[5][l] = a.m[5];
    m[6][l] = a.m[6];
    m[7][l] = a.m[7];
    m[8][l] = a.m[8];
  }
};

template <class Real, int Width>
struct Sym3Lanes {
  Real m[6][Width];

  [[gnu::always_inline]] Sym3<Real> load(int l) const { return {m[0][l], m[1][l], m[2][l], m[3][l], m[4][l], m[5][l]}; }
  [[gnu::always_inline]] void store(int l, const Sym3<Real>& a) {
    m[0][l] = a.xx;
    m[1][l] = a.yy;
    m[2][l] = a.zz;
    m[3][l] = a.xy;
    m[4][l] = a.xz;
    m[5][l] = a.yz;
  }
};

template <class Real, int Width>
struct Vec3Lanes {
  Real m[3][Width];

  [[gnu::always_inline]] Vec3<Real> load(int l) const { return {m[0][l], m[1][l], m[2][l]}; }
  [[gnu::always_inline]] void store(int l, const Vec3<Real>& a) {
    m[0][l] = a.x;
    m[1][l] = a.y;
    m[2][l] = a.z;
  }
};

}  // namespace ductile
