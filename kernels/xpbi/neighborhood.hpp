#pragma once

#include <sycl/sycl.hpp>

#include <cstddef>
#include <cstdint>

#include "kernels/math/prefetch.hpp"
#include "kernels/math/pseudo_inverse.hpp"
#include "kernels/math/sym3.hpp"

namespace ductile {

/// The pairs of a step as the kernels read them. g_pb = Q_p^T w_pb p_pb is the discrete gradient of the velocity:
///   sum_b x_pb (x) g_pb = I,   x_pb = x_b - x_p,   Q_p = pinv(sum_b w_pb x_pb (x) p_pb).
/// With memory, p_pb is the unloaded pair vector (methods: elastic pair memory), stored with its weight; without, it is
/// x_pb itself and only the weight is stored, as in P1.
template <class Real, bool Memory>
struct PairList;

/// Pairs that are fetched ahead, whether a particle has fewer or more: a loop over its own number would cost more.
inline constexpr std::size_t usual_neighbors = 32;

template <class Real>
struct PairList<Real, true> {
  const std::uint32_t* start;
  const std::uint32_t* index;
  const Vec4<Real>* pair;  // p_pb, w_pb

  Vec4<Real> vector(std::uint32_t s, const Vec4<Real>&) const { return pair[s]; }
  static Real weight(const Vec4<Real>& p, std::uint32_t) { return p[3]; }
  [[gnu::always_inline]] void fetch_ahead(std::size_t i) const {
    prefetch(index + start[i], usual_neighbors);
    prefetch(pair + start[i], usual_neighbors);
  }
};

template <class Real>
struct PairList<Real, false> {
  const std::uint32_t* start;
  const std::uint32_t* index;
  const Real* pair_weight;

  Vec4<Real> vector(std::uint32_t, const Vec4<Real>& apart) const { return apart; }
  Real weight(const Vec4<Real>&, std::uint32_t s) const { return pair_weight[s]; }
  [[gnu::always_inline]] void fetch_ahead(std::size_t i) const {
    prefetch(index + start[i], usual_neighbors);
    prefetch(pair_weight + start[i], usual_neighbors);
  }
};

/// Constants of a particle's neighbourhood during a step.
template <class Real, bool Memory>
struct Neighborhood {
  Mat3<Real> inverse;   // Q
  Sym3<Real> mobility;  // sum_b g g^T / m_b: the denominator needs no loop
  Vec3<Real> sum;       // sum_b g
  Sym3<Real> missing;   // projector on the directions without neighbours, where Q has been cut

  static constexpr Real current = Real(1);
};

template <class Real>
struct Neighborhood<Real, true> {
  Mat3<Real> inverse;
  Sym3<Real> mobility;
  Vec3<Real> sum;
  Sym3<Real> missing;
  Sym3<Real> spread;         // sum_b w p p^T
  Vec3<Real> lever;          // sum_b w p
  Mat3<Real> misfit_moment;  // sum_b w e (x) p at the start of the step, e = x_pb - F p
  Vec3<Real> misfit_sum;     // sum_b w e
  Real pair_mobility;        // largest w_pb / m_b
  Real current;              // 1; 0: Q = (sum_b w p (x) p)^-1 acts on F - F^n instead of on (F - F^n) F^n^-1
};

/// Whether the neighbours of a particle do not span space.
template <class Real, bool Memory>
inline bool is_deficient(const Neighborhood<Real, Memory>& n) {
  return n.missing.xx + n.missing.yy + n.missing.zz > Real(0.5);
}

/// Velocity gradient of a neighbourhood with missing directions N: along them it turns with the rest, G - G^T N, which
/// for a rotation is exact.
template <class Real, bool Memory>
inline Mat3<Real> completed(const Neighborhood<Real, Memory>& n, const Mat3<Real>& G) {
  return is_deficient(n) ? G - transpose_times(G, n.missing.full()) : G;
}
/// The stress that works on the gradient before it is completed: symmetric on the span, so that it exerts no torque.
template <class Real, bool Memory>
inline Mat3<Real> on_span(const Neighborhood<Real, Memory>& n, const Mat3<Real>& stress) {
  return is_deficient(n) ? stress - times_transpose(n.missing.full(), stress) : stress;
}

template <class Real, bool Memory>
struct BuildNeighborhoods {
  PairList<Real, Memory> pairs;
  const Vec4<Real>* position;               // inverse mass in the fourth place
  const Mat3<Real>* displacement_gradient;  // F^n - I
  const Real* radius;                       // half a spacing
  Real cut;
  Real near;      // in radii: pairs closer than this may need the distance correction
  bool unloaded;  // gradients in the unloaded shape, which no deformation makes singular (elastic bodies)
  std::size_t first;
  Neighborhood<Real, Memory>* neighborhood;
  Real* extent;          // farthest neighbour, for the colouring
  std::uint32_t* close;  // how many neighbours are near

  static constexpr bool inline_all = true;

  void operator()(std::size_t item) const {
    const std::size_t i = first + item;
    const Vec4<Real> x = position[i];
    const Mat3<Real> H = displacement_gradient[i];
    const Vec4<Real> h0 = padded(H.column(0)), h1 = padded(H.column(1)), h2 = padded(H.column(2));
    const Real limit = square(near * radius[i]);
    Columns moments{}, mobilities{}, spreads{}, misfits{};
    Vec4<Real> lever(Real(0)), misfit_sum(Real(0));  // sum_b w p, sum_b w e
    Real farthest = Real(0);
    std::uint32_t found = 0;
    Neighborhood<Real, Memory> n{};
    for (std::uint32_t s = pairs.start[i]; s < pairs.start[i + 1]; ++s) {
      const Vec4<Real> other = position[pairs.index[s]];
      const Vec4<Real> apart = other - x;
      const Vec4<Real> pair = pairs.vector(s, apart);
      const Real weight = pairs.weight(pair, s);
      const Vec4<Real> wp = pair * weight;
      moments.add(apart * weight, pair);
      mobilities.add(wp * (weight * other[3]), pair);
      lever += wp;
      const Real squared = squared_norm(xyz(apart));
      farthest = sycl::fmax(farthest, squared);
      found += squared < limit ? 1u : 0u;
      if constexpr (Memory) {
        const Vec4<Real> we = ((apart - pair) - h0 * pair[0] - h1 * pair[1] - h2 * pair[2]) * weight;
        spreads.add(wp, pair);
        misfits.add(we, pair);
        misfit_sum += we;
        n.pair_mobility = sycl::fmax(n.pair_mobility, weight * other[3]);
      }
    }
    const Mat3<Real> moment = moments.matrix(), mobility = mobilities.matrix();  // the second: sum_b w^2 p p^T / m_b
    if constexpr (Memory) {
      n.lever = xyz(lever);
      n.spread = Sym3<Real>::from(spreads.matrix());
      n.misfit_moment = misfits.matrix();
      n.misfit_sum = xyz(misfit_sum);
      n.current = unloaded && take_inverse(n, n.spread.full()) ? Real(0) : Real(1);
      if (n.current == Real(1)) set_inverse(n, moment);
    } else {
      set_inverse(n, moment);
    }
    // With g = Q^T w p both sums over gradients follow from sums over pairs.
    const Mat3<Real> gradient = transpose(n.inverse);
    n.mobility = Sym3<Real>::from(gradient * mobility * n.inverse);
    n.sum = gradient * xyz(lever);
    neighborhood[i] = n;
    extent[i] = sycl::sqrt(farthest);
    close[i] = found;
  }

 private:
  /// A sum of a (x) p, column by column.
  struct Columns {
    Vec4<Real> c0{Real(0)}, c1{Real(0)}, c2{Real(0)};

    [[gnu::always_inline]] void add(const Vec4<Real>& a, const Vec4<Real>& p) {
      c0 += a * p[0];
      c1 += a * p[1];
      c2 += a * p[2];
    }
    Mat3<Real> matrix() const { return Mat3<Real>::from_columns(xyz(c0), xyz(c1), xyz(c2)); }
  };

  /// The inverse of a moment whose singular values are not below `cut`: true, or false.
  bool take_inverse(Neighborhood<Real, Memory>& n, const Mat3<Real>& moment) const {
    n.inverse = inverse(moment);
    n.missing = Sym3<Real>::zero();
    // 1/|A^-1| is a lower bound of the smallest singular value; false for a singular matrix.
    return squared_norm(n.inverse) * square(cut) < Real(1);
  }
  /// Near the identity in the bulk; directions without neighbours (singular values below `cut`) are left out.
  void set_inverse(Neighborhood<Real, Memory>& n, const Mat3<Real>& moment) const {
    if (take_inverse(n, moment)) return;
    n.inverse = pseudo_inverse_absolute(moment, cut);
    const Mat3<Real> missing = Mat3<Real>::identity() - moment * n.inverse;
    if (trace(missing) > Real(0.5)) n.missing = Sym3<Real>::from(missing);
  }
};

}  // namespace ductile
