#pragma once

#include <sycl/sycl.hpp>

#include <cstddef>
#include <cstdint>

#include "kernels/math/mat3_planes.hpp"
#include "kernels/math/prefetch.hpp"
#include "kernels/math/pseudo_inverse.hpp"
#include "kernels/math/sym3.hpp"
#include "kernels/math/vec8.hpp"

namespace ductile {

/// Which discrete gradient a total-Lagrangian body uses. All have the form g_ij = M_i a_ij with pair numbers a_ij that
/// need one or two scalars per pair and a matrix M_i per particle:
///   a_ij = V_j (phi_ij p_ij [, W_ij]),   p_ij = X_j - X_i,   phi = -W'(r)/r  (mlsrk_linear: phi = W).
/// The volume V_j is part of g_ij: F_i = I + sum_j (u_j - u_i) (x) g_ij.
enum class GradientKind : int {
  least_squares,   ///< minimises sum_j V_j phi_ij |x_ij - F p_ij|^2; exact on affine maps (3 columns)
  raw,             ///< plain SPH, not even exact for rotations (4 columns, the last zero)
  corrected,       ///< P0: Shepard kernel, corrected by L_i; exact on affine maps (4 columns)
  mlsrk_constant,  ///< Shepard kernel without L_i (4 columns)
  mlsrk_linear     ///< linear basis, diffuse derivative; exact on affine maps (4 columns)
};

/// Rest neighbourhoods as the kernels read them. Two numbers per pair: p_ij is gathered from the rest positions, which
/// are in the cache because neighbours in space are neighbours in memory.
template <class Real>
struct RestNeighbors {
  const std::uint32_t* start;
  const std::uint32_t* index;
  const Real* weight;      // V_j phi_ij
  const Real* value;       // V_j W_ij, only for gradients of four columns
  const Vec4<Real>* rest;  // X_i, V_i

  /// The neighbour of particle i that lies last in memory: where particles lie in rows and layers, those before i have
  /// not read it. Of a particle without any, that of another.
  [[gnu::always_inline]] std::uint32_t last_neighbor(std::size_t i) const {
    return start[i + 1] == 0 ? 0 : index[start[i + 1] - 1];
  }
  /// Asks for the pairs of particle i, as many as most have.
  [[gnu::always_inline]] void fetch_ahead(std::size_t i) const {
    const std::uint32_t first = start[i];
    prefetch(index + first);
    prefetch(index + first + 16);
    prefetch(weight + first);
    prefetch(weight + first + 64 / sizeof(Real));
  }
  /// Calls visit(s, p_ij) for every pair s of particle i.
  template <class Visit>
  void for_each(std::size_t i, const Visit& visit) const {
    const Vec3<Real> center = xyz(rest[i]);
    for (std::uint32_t s = start[i]; s < start[i + 1]; ++s) visit(s, xyz(rest[index[s]]) - center);
  }
  /// Calls visit(s, t, j, k, w) for two pairs s and t with the neighbours j and k at a time, w holding both weights.
  /// The last of an odd number comes with the particle itself, at weight zero.
  template <class Visit>
  [[gnu::always_inline]] void for_each_two(std::size_t i, const Visit& visit) const {
    const std::size_t end = start[i + 1];
    std::size_t s = start[i];
    for (; s + 1 < end; s += 2) visit(s, s + 1, index[s], index[s + 1], halves(weight[s], weight[s + 1]));
    if (s < end) visit(s, s, index[s], std::uint32_t(i), halves(weight[s], Real(0)));
  }
};

/// M_i of the gradient: a symmetric 3x3 part for p and, with four columns, a general 3x3 part and a vector for W.
template <class Real, int Columns>
struct GradientMatrix;

template <class Real>
struct GradientMatrix<Real, 3> {
  Sym3<Real> linear;

  Mat3<Real> right_multiplied(const Mat3<Real>& t) const { return t * linear.full(); }              // t M
  Mat3<Real> right_multiplied_transpose(const Mat3<Real>& t) const { return right_multiplied(t); }  // t M^T
  Vec3<Real> gradient(const Vec3<Real>& p, Real weight, Real) const { return linear * (weight * p); }
};

template <class Real>
struct GradientMatrix<Real, 4> {
  Mat3<Real> linear;
  Vec3<Real> constant;

  Mat3<Real> right_multiplied(const Mat3<Real>& t) const { return t * linear; }
  Mat3<Real> right_multiplied_transpose(const Mat3<Real>& t) const { return times_transpose(t, linear); }
  Vec3<Real> gradient(const Vec3<Real>& p, Real weight, Real value) const {
    return linear * (weight * p) + value * constant;
  }
};

/// Constants of a particle's neighbourhood.
template <class Real, int Columns>
struct RestMoments {
  GradientMatrix<Real, Columns> matrix;
  Sym3<Real> mobility;    // sum_j w_j g_ij g_ij^T: the denominator needs no loop (w = inverse mass)
  Vec3<Real> lever;       // sum_j V_j phi_ij p_ij
  Real values;            // sum_j V_j W_ij: four columns only
  Real penalty_mobility;  // bound of the zero-energy penalty's part of the denominator
};

/// The constants of all particles as arrays of numbers: entry k of particle i at data[k * stride + i], so that loops
/// over particles vectorise.
template <class Entry, int Columns>
struct MomentPlanes {
  using Real = std::remove_const_t<Entry>;
  static constexpr std::size_t matrix_numbers = Columns == 3 ? 6 : 12;
  static constexpr std::size_t numbers = matrix_numbers + (Columns == 3 ? 10 : 11);  // per particle

  Entry* data;
  std::size_t stride;

  [[gnu::always_inline]] RestMoments<Real, Columns> load(std::size_t i) const {
    RestMoments<Real, Columns> m;
    if constexpr (Columns == 3) {
      m.matrix.linear = symmetric(0, i);
    } else {
      m.matrix.linear = Mat3Planes<Entry>{data, stride}.load(i);
      m.matrix.constant = vector(9, i);
    }
    m.mobility = symmetric(matrix_numbers, i);
    m.lever = lever(i);
    m.values = Columns == 4 ? at(matrix_numbers + 10, i) : Real(0);
    m.penalty_mobility = at(matrix_numbers + 9, i);
    return m;
  }
  [[gnu::always_inline]] Vec3<Real> lever(std::size_t i) const { return vector(matrix_numbers + 6, i); }
  /// Asks for the share l of what `width` particles from `first` on have.
  [[gnu::always_inline]] void fetch_ahead(std::size_t first, std::size_t width, std::size_t l) const {
    constexpr std::size_t line = 64 / sizeof(Real);
    const std::size_t lines = width / line;  // of a plane
    for (std::size_t k = l * numbers * lines / width; k < (l + 1) * numbers * lines / width; ++k)
      prefetch(data + k / lines * stride + first + k % lines * line);
  }
  void store(std::size_t i, const RestMoments<Real, Columns>& m) const {
    if constexpr (Columns == 3) {
      put_symmetric(0, i, m.matrix.linear);
    } else {
      Mat3Planes<Entry>{data, stride}.store(i, m.matrix.linear);
      put_vector(9, i, m.matrix.constant);
    }
    put_symmetric(matrix_numbers, i, m.mobility);
    put_vector(matrix_numbers + 6, i, m.lever);
    if (Columns == 4) at(matrix_numbers + 10, i) = m.values;
    at(matrix_numbers + 9, i) = m.penalty_mobility;
  }

 private:
  [[gnu::always_inline]] Entry& at(std::size_t plane, std::size_t i) const { return data[plane * stride + i]; }
  [[gnu::always_inline]] Vec3<Real> vector(std::size_t k, std::size_t i) const {
    return {at(k, i), at(k + 1, i), at(k + 2, i)};
  }
  [[gnu::always_inline]] Sym3<Real> symmetric(std::size_t k, std::size_t i) const {
    return {at(k, i), at(k + 1, i), at(k + 2, i), at(k + 3, i), at(k + 4, i), at(k + 5, i)};
  }
  void put_vector(std::size_t k, std::size_t i, const Vec3<Real>& v) const {
    at(k, i) = v.x;
    at(k + 1, i) = v.y;
    at(k + 2, i) = v.z;
  }
  void put_symmetric(std::size_t k, std::size_t i, const Sym3<Real>& a) const {
    put_vector(k, i, {a.xx, a.yy, a.zz});
    put_vector(k + 3, i, {a.xy, a.xz, a.yz});
  }
};

/// V_j phi_ij and V_j W_ij of every pair.
template <class Real, class Smoothing>
struct WeighPairs {
  const std::uint32_t* start;
  const std::uint32_t* index;
  const Vec4<Real>* rest;
  Smoothing smoothing;
  bool weight_is_value;  // mlsrk_linear
  std::size_t first;
  Real* weight;
  Real* value;  // may be null

  void operator()(std::size_t item) const {
    const std::size_t i = first + item;
    const Vec3<Real> center = xyz(rest[i]);
    for (std::uint32_t s = start[i]; s < start[i + 1]; ++s) {
      const Vec4<Real> other = rest[index[s]];
      const Real r = norm(xyz(other) - center), w = smoothing.value(r);
      weight[s] = other[3] * (weight_is_value ? w : -smoothing.gradient_factor(r));
      if (value != nullptr) value[s] = other[3] * w;
    }
  }
};

/// Gradient matrices and what follows from them (methods: P0 2.1, MLSRK 8.1, least squares 13).
template <class Real, int Columns>
struct BuildMoments {
  RestNeighbors<Real> pairs;
  const Vec4<Real>* position;  // inverse mass in the fourth place
  GradientKind kind;
  Real self_value;  // W(0)
  Real cut;         // singular values below this part of the largest are dropped
  std::size_t first;
  MomentPlanes<Real, Columns> moments;
  Sym3<Real>* spread;  // sum_j V_j phi_ij p p^T, for the penalty of gradients other than least squares; may be null

  void operator()(std::size_t item) const {
    const std::size_t i = first + item;
    const auto matrix = gradient_matrix(i);
    RestMoments<Real, Columns> m{};
    m.matrix = matrix;
    Real weights = Real(0), largest = Real(0);
    Sym3<Real> second = Sym3<Real>::zero();
    pairs.for_each(i, [&](std::uint32_t s, const Vec3<Real>& p) {
      const Real weight = pairs.weight[s], inverse_mass = position[pairs.index[s]][3];
      const Vec3<Real> g = matrix.gradient(p, weight, Columns == 4 ? pairs.value[s] : Real(0));
      m.mobility.add_square(g, inverse_mass);
      m.lever += weight * p;
      if (Columns == 4) m.values += pairs.value[s];
      second.add_square(p, weight);
      weights += weight;
      largest = sycl::fmax(largest, inverse_mass * weight);
    });
    m.penalty_mobility = largest + position[i][3] * weights;
    moments.store(i, m);
    if (spread != nullptr) spread[i] = second;
  }

 private:
  GradientMatrix<Real, Columns> gradient_matrix(std::size_t i) const {
    if constexpr (Columns == 3) {
      Sym3<Real> s = Sym3<Real>::zero();
      pairs.for_each(i, [&](std::uint32_t n, const Vec3<Real>& p) { s.add_square(p, pairs.weight[n]); });
      return {Sym3<Real>::from(pseudo_inverse(s.full(), cut))};
    } else {
      if (kind == GradientKind::raw) return {Mat3<Real>::identity(), Vec3<Real>::zero()};
      return kind == GradientKind::mlsrk_linear ? linear_basis(i) : shepard(i);
    }
  }

  /// G_ij = (grad W_ij - W_ij gamma_i)/S_i, and with L_i = (sum_j V_j G_ij (x) p_ij)^-1 for the corrected gradient.
  GradientMatrix<Real, 4> shepard(std::size_t i) const {
    Real sum = pairs.rest[i][3] * self_value;
    Vec3<Real> gamma = Vec3<Real>::zero(), mean = Vec3<Real>::zero();
    Mat3<Real> second = Mat3<Real>::zero();
    pairs.for_each(i, [&](std::uint32_t n, const Vec3<Real>& p) {
      const Real weight = pairs.weight[n];
      sum += pairs.value[n];
      gamma += weight * p;  // grad_i W points from i to j
      mean += pairs.value[n] * p;
      second += weight * outer(p, p);
    });
    gamma = gamma / sum;
    GradientMatrix<Real, 4> result{Mat3<Real>::identity() / sum, -gamma / sum};
    if (kind == GradientKind::mlsrk_constant) return result;
    const Mat3<Real> correction = pseudo_inverse((second - outer(gamma, mean)) / sum, cut);
    return {correction * result.linear, correction * result.constant};
  }

  /// Rows 2 to 4 of the inverse of sum_j V_j W_ij (1, p)(1, p)^T, by the Schur complement of the first moment.
  GradientMatrix<Real, 4> linear_basis(std::size_t i) const {
    Real sum = pairs.rest[i][3] * self_value;
    Vec3<Real> mean = Vec3<Real>::zero();
    Sym3<Real> second = Sym3<Real>::zero();
    pairs.for_each(i, [&](std::uint32_t n, const Vec3<Real>& p) {
      const Real weight = pairs.weight[n];
      sum += weight;
      mean += weight * p;
      second.add_square(p, weight);
    });
    second.add_square(mean, -Real(1) / sum);
    const Mat3<Real> inverse = pseudo_inverse(second.full(), cut);
    return {inverse, -(inverse * mean) / sum};
  }
};

}  // namespace ductile
