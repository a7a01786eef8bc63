#pragma once

#include <cstddef>
#include <cstdint>
#include <sycl/sycl.hpp>

#include "kernels/math/eigen.hpp"
#include "kernels/math/mat3.hpp"
#include "kernels/math/mat3_planes.hpp"
#include "kernels/math/polar.hpp"
#include "kernels/math/pseudo_inverse.hpp"
#include "kernels/math/svd.hpp"
#include "kernels/math/vec3.hpp"
#include "kernels/smoothing/kernels.hpp"

namespace ductile::test {

/// Numbers that depend on the seed alone (SplitMix64), the same on every device.
template <class Real>
struct Random {
  std::uint64_t state;

  std::uint64_t bits() {
    state += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, 1), on 2^24 values.
  Real fraction() { return static_cast<Real>(static_cast<std::uint32_t>(bits() >> 40)) * Real(5.9604644775390625e-08); }
  /// Uniform in [-1, 1).
  Real number() { return Real(2) * fraction() - Real(1); }
  /// 10^-x with x uniform in [0, decades).
  Real power_of_ten(Real decades) { return sycl::exp(Real(-2.302585092994046) * decades * fraction()); }
  /// -2, -1, -0, 0, 1 or 2.
  Real digit() {
    const std::uint32_t k = static_cast<std::uint32_t>(bits() >> 40) % 6;
    const Real magnitude = static_cast<Real>(k >> 1);
    return (k & 1u) != 0 ? -magnitude : magnitude;
  }
  Vec3<Real> vector() { return {number(), number(), number()}; }
  Vec3<Real> digits() { return {digit(), digit(), digit()}; }
  Mat3<Real> matrix() { return Mat3<Real>::from_rows(vector(), vector(), vector()); }

  Mat3<Real> rotation() {
    const Real w = number(), x = number(), y = number(), z = number();
    const Real s = Real(2) / (w * w + x * x + y * y + z * z + Real(1e-20));
    return {{Real(1) - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y), s * (x * y + w * z),
             Real(1) - s * (x * x + z * z), s * (y * z - w * x), s * (x * z - w * y), s * (y * z + w * x),
             Real(1) - s * (x * x + y * y)}};
  }
};

inline constexpr std::size_t matrix_kinds = 16;

/// Principal stretches that make decompositions hard, of order one; each kind from 0 to 8 is another difficulty.
template <class Real>
Vec3<Real> sample_stretches(std::size_t kind, Random<Real>& random) {
  const Real one = Real(1);
  const Real small = random.power_of_ten(Real(18)), smaller = small * random.power_of_ten(Real(18));
  switch (kind) {
    case 0:  // nothing special
      return {one, random.fraction(), random.fraction()};
    case 1:  // a reflection
      return {one, random.fraction(), -random.fraction()};
    case 2:  // the largest repeated
      return {one, one, small};
    case 3:  // the smallest repeated
      return {one, small, small};
    case 4:  // all equal: a rotation
      return {one, one, one};
    case 5:  // all equal in magnitude: a point reflection
      return {-one, -one, -one};
    case 6:  // nearly equal, closer and closer
      return {one, one + small * random.number(), one + smaller * random.number()};
    case 7:  // nearly equal in magnitude, a reflection
      return {one, one + small * random.number(), -one + smaller * random.number()};
    default:  // graded over many decades
      return {one, small, smaller * random.number()};
  }
}

/// Every second block of matrices spans the range of the number format, far beyond what the solvers use.
template <class Real>
Real sample_scale(std::size_t index, Random<Real>& random) {
  const Real decades = sizeof(Real) == 4 ? Real(30) : Real(280);
  return (index / matrix_kinds) % 2 == 0 ? Real(1) : sycl::exp(Real(2.302585092994046) * decades * random.number());
}

template <class Real>
Mat3<Real> sample_unscaled(std::size_t kind, Random<Real>& random) {
  switch (kind) {
    case 9:  // entries without structure
      return random.matrix();
    case 10:  // a deformation gradient of moderate strain
      return Mat3<Real>::identity() + Real(0.3) * random.matrix();
    case 11:  // small integers with many exact zeros of both signs
      return Mat3<Real>::from_rows(random.digits(), random.digits(), random.digits());
    case 12:  // rank two or less, exactly
      return outer(random.digits(), random.digits()) + outer(random.digits(), random.digits());
    case 13:  // rank one or zero, exactly
      return outer(random.digits(), random.digits());
    case 14:  // diagonal in any order
      return Mat3<Real>::diagonal(random.digits());
    case 15:  // one column or row far from the rest
      return random.matrix() * Mat3<Real>::diagonal({random.power_of_ten(Real(18)), Real(1), random.digit()});
    default: {
      const Mat3<Real> left = random.rotation(), right = random.rotation();
      return times_transpose(left * Mat3<Real>::diagonal(sample_stretches(kind, random)), right);
    }
  }
}

template <class Real>
Mat3<Real> sample_matrix(std::size_t index) {
  Random<Real> random{index * 0x632be59bd9b4e019u};
  const Mat3<Real> a = sample_unscaled(index % matrix_kinds, random);
  return a * sample_scale(index, random);
}

template <class Real>
Mat3<Real> sample_symmetric(std::size_t index) {
  Random<Real> random{index * 0x632be59bd9b4e019u};
  const std::size_t kind = index % matrix_kinds;
  Mat3<Real> a = sample_unscaled(kind, random);
  if (kind < 9) {
    const Mat3<Real> axes = random.rotation();
    a = times_transpose(axes * Mat3<Real>::diagonal(sample_stretches(kind, random)), axes);
  }
  return symmetric_part(a) * sample_scale(index, random);
}

template <class Real>
struct SampleMatrices {
  std::size_t first;
  Mat3<Real>* matrices;
  void operator()(std::size_t i) const { matrices[i] = sample_matrix<Real>(first + i); }
};

template <class Real>
struct SampleSymmetric {
  std::size_t first;
  Mat3<Real>* matrices;
  void operator()(std::size_t i) const { matrices[i] = sample_symmetric<Real>(first + i); }
};

template <class Real>
struct ComputeSvd {
  const Mat3<Real>* matrices;
  Svd<Real>* results;
  void operator()(std::size_t i) const { results[i] = svd(matrices[i]); }
};

/// The layout in which a loop over matrices vectorises; GCC has to be told to take so large a body into the loop.
template <class Real>
struct ComputeSvdOfPlanes {
  Mat3Planes<const Real> matrices;
  Mat3Planes<Real> left, right;
  Real* values;

  [[gnu::always_inline]] void operator()(std::size_t i) const {
    const Svd<Real> f = svd(matrices.load(i));
    left.store(i, f.U);
    right.store(i, f.V);
    values[i] = f.s.x;
    values[matrices.stride + i] = f.s.y;
    values[2 * matrices.stride + i] = f.s.z;
  }
};

template <class Real>
struct ComputeSymmetricEigen {
  const Mat3<Real>* matrices;
  SymmetricEigen<Real>* results;
  void operator()(std::size_t i) const { results[i] = symmetric_eigen(matrices[i]); }
};

template <class Real>
struct ComputePolar {
  const Mat3<Real>* matrices;
  Polar<Real>* results;
  void operator()(std::size_t i) const { results[i] = polar(matrices[i]); }
};

template <class Real>
struct ComputePseudoInverse {
  const Mat3<Real>* matrices;
  Real relative_cut;
  Mat3<Real>* results;
  void operator()(std::size_t i) const { results[i] = pseudo_inverse(matrices[i], relative_cut); }
};

/// Residuals of identities of the algebra, for operands of order one.
template <class Real>
struct AlgebraResiduals {
  Real product_transpose, product_determinant, inverse, cofactor, determinant_change, triple_product, lagrange, outer,
      contraction, deviator, symmetric, apply, parts;
};

template <class Real>
struct MeasureAlgebra {
  AlgebraResiduals<Real>* residuals;

  void operator()(std::size_t i) const {
    using M = Mat3<Real>;
    Random<Real> random{i * 0x632be59bd9b4e019u};
    const M a = random.matrix(), b = random.matrix(), d = random.matrix();
    const Vec3<Real> u = random.vector(), v = random.vector(), w = random.vector();
    const M regular = M::identity() + Real(0.2) * a;
    const M skew = a - symmetric_part(a);
    AlgebraResiduals<Real>& r = residuals[i];
    r.product_transpose = norm(transpose(a * b) - times_transpose(transpose(b), a));
    r.product_determinant = sycl::fabs(determinant(a * b) - determinant(a) * determinant(b));
    r.inverse = norm(regular * inverse(regular) - M::identity());
    r.cofactor = norm(transpose_times(cofactor(a), a) - determinant(a) * M::identity());
    // The determinant is cubic: its odd part about A has these two terms and no others.
    r.determinant_change =
        sycl::fabs(determinant(a + d) - determinant(a - d) - Real(2) * (contract(cofactor(a), d) + determinant(d)));
    r.triple_product = norm(cross(cross(u, v), w) - (v * dot(u, w) - u * dot(v, w)));
    r.lagrange = sycl::fabs(squared_norm(cross(u, v)) + square(dot(u, v)) - squared_norm(u) * squared_norm(v));
    r.outer = norm(outer(u, v) * w - u * dot(v, w));
    r.contraction = sycl::fabs(contract(a, b) - trace(transpose_times(a, b)));
    r.deviator = sycl::fabs(trace(deviator(a))) + norm(deviator(a) + (trace(a) / Real(3)) * M::identity() - a);
    r.symmetric = sycl::fabs(contract(symmetric_part(a), skew)) + norm(skew + transpose(skew));
    r.apply = norm(transpose_times(a, u) - (a.row(0) * u.x + a.row(1) * u.y + a.row(2) * u.z)) +
              norm(a * u - (u.x * a.column(0) + u.y * a.column(1) + u.z * a.column(2)));
    r.parts = norm(M::from_columns(a.column(0), a.column(1), a.column(2)) - a) +
              norm(M::from_rows(a.row(0), a.row(1), a.row(2)) - a);
  }
};

/// W, W' and W'/r at given distances.
template <class Real, class Smoothing>
struct EvaluateSmoothing {
  Smoothing kernel;
  const Real* distances;
  Vec3<Real>* results;
  void operator()(std::size_t i) const {
    const Real r = distances[i];
    results[i] = {kernel.value(r), kernel.derivative(r), kernel.gradient_factor(r)};
  }
};

}  // namespace ductile::test
