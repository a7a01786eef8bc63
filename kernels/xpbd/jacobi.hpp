#pragma once

#include "kernels/math/lanes.hpp"
#include "kernels/math/prefetch.hpp"
#include "kernels/xpbd/constraint.hpp"

namespace ductile {

/// What a particle's constraint hands to its neighbours, gathered whole by them: one cache line in single precision.
template <class Real, int Columns>
struct CorrectionLine;

template <class Real>
struct alignas(64) CorrectionLine<Real, 3> {
  Vec4<Real> c0, c1, c2;  // columns of (scale/V)(P M - penalty F); in the fourth places the rest position
  Vec4<Real> position;    // x^n + dx, scale penalty/V: only with a penalty
};

template <class Real>
struct CorrectionLine<Real, 4> {
  Vec4<Real> c0, c1, c2, position;
  Vec4<Real> c3;  // (scale/V) P M's fourth column
};

/// First pass of a Jacobi iteration: deformation gradient, multiplier and stress of every particle. A work-item takes
/// `Width` particles in a row: it sums over the neighbours of one after the other, then runs the law over all of them,
/// which the compiler turns into vector instructions. Width 1 suits devices that run work-items in lockstep.
template <class Real, int Columns, bool Penalty, class Material, int Width>
struct UpdateMultipliers {
  RestNeighbors<Real> pairs;
  MomentPlanes<const Real, Columns> moments;
  const Sym3<Real>* spread;
  const Sym3<Real>* missing;                // directions without neighbours; null: there are none
  const Vec4<Real>* position;               // x^n, inverse mass
  const Vec4<Real>* increment;              // x - x^n
  const Mat3<Real>* displacement_gradient;  // F^n - I
  Material material;
  StepConstants<Real> step;
  std::size_t first, last;  // particles
  Real* multiplier;
  Real* violation;  // null: not wanted
  CorrectionLine<Real, Columns>* line;

  static constexpr bool inline_all = true;
  static constexpr std::size_t coarseness = Width;

  void operator()(std::size_t item) const {
    Lanes at;
    const std::size_t begin = first + item * Width;
    const int count = last - begin < Width ? int(last - begin) : Width;
    for (int l = 0; l < count; ++l) {
      if constexpr (Width > 1) fetch_ahead(begin + Width, std::size_t(l));
      gather(at, begin + std::size_t(l), l);
    }
    respond(at, begin, count);
    const StepConstants<Real> constants = step;
    constants.printed_constraint ? solve<true>(constants, at, begin, count) : solve<false>(constants, at, begin, count);
    for (int l = 0; l < count; ++l) hand_out(at, begin + std::size_t(l), l);
  }

 private:
  struct Lanes {
    Mat3Lanes<Real, Width> H, motions, misfits, stress;
    Real values[3][Width], squares[Width], misfit[Width], energy[Width];
    Real volume[Width], inverse_mass[Width], multiplier[Width], violation[Width], penalty[Width];
    Mat3Lanes<Real, Width> moment;
    BitsOf<Real> invalid[Width];
  };

  /// Particle l's share of what the next work-item will read and write. From so many arrays, and across the pages of
  /// memory, a processor does not fetch that by itself; asked for all at once, it would have to wait for it.
  [[gnu::always_inline]] void fetch_ahead(std::size_t next, std::size_t l) const {
    if (next + Width > last) return;
    const std::size_t i = next + l;
    pairs.fetch_ahead(i);
    prefetch(displacement_gradient + i);
    prefetch(line + i);
    moments.fetch_ahead(next, Width, l);
    const std::size_t j = pairs.last_neighbor(i - Width) + Width;
    if (j >= last) return;
    prefetch(pairs.rest + j);
    prefetch(increment + j);
    if constexpr (Penalty) prefetch(position + j);
  }

  [[gnu::always_inline]] void gather(Lanes& at, std::size_t i, int l) const {
    const Mat3<Real> H = displacement_gradient[i];
    const auto sums = sum_motions<Real, Columns, Penalty>(pairs, position, increment, Mat3<Real>::identity() + H, i);
    at.H.store(l, H);
    at.motions.store(l, sums.motions);
    if constexpr (Columns == 4) {
      at.values[0][l] = sums.values.x;
      at.values[1][l] = sums.values.y;
      at.values[2][l] = sums.values.z;
    }
    if constexpr (Columns == 4 && Penalty) at.misfits.store(l, sums.misfits);
    if constexpr (Penalty) at.squares[l] = sums.squares;
    at.volume[l] = pairs.rest[i][3];
    at.inverse_mass[l] = position[i][3];
    at.multiplier[l] = multiplier[i];
  }

  [[gnu::always_inline]] void respond(Lanes& at, std::size_t begin, int count) const {
    BitsOf<Real> failed = 0;
    for (int l = 0; l < count; ++l) {
      MotionSums<Real> sums{};
      sums.motions = at.motions.load(l);
      Sym3<Real> second = Sym3<Real>::zero();
      if constexpr (Columns == 4) sums.values = {at.values[0][l], at.values[1][l], at.values[2][l]};
      if constexpr (Columns == 4 && Penalty) {
        sums.misfits = at.misfits.load(l);
        second = spread[begin + std::size_t(l)];
      }
      if constexpr (Penalty) sums.squares = at.squares[l];
      const auto motion = local_motion<Penalty>(sums, moments.load(begin + std::size_t(l)), second);
      const Mat3<Real> H = at.H.load(l) + motion.change;
      const auto fast = material.fast_response(H, begin + std::size_t(l));
      at.H.store(l, H);
      at.misfit[l] = motion.misfit;
      if constexpr (Columns == 4 && Penalty) at.moment.store(l, motion.moment);
      at.stress.store(l, fast.response.stress);
      at.energy[l] = fast.response.energy;
      const auto bad = static_cast<BitsOf<Real>>(!fast.valid);
      at.invalid[l] = bad;
      failed |= bad;
    }
    for (std::uint32_t family = 0; family < material.fibers.families; ++family) {
      for (int l = 0; l < count; ++l) {
        const auto fast = material.fibers.fast_response(family, at.H.load(l), begin + std::size_t(l));
        at.stress.store(l, at.stress.load(l) + fast.response.stress);
        at.energy[l] += fast.response.energy;
        const auto bad = static_cast<BitsOf<Real>>(!fast.valid);
        at.invalid[l] |= bad;
        failed |= bad;
      }
    }
    for (int l = 0; missing != nullptr && l < count; ++l) {
      if (rank(missing[begin + std::size_t(l)]) == 0) continue;
      at.H.store(l, completed(at.H.load(l), missing[begin + std::size_t(l)]));
      failed = at.invalid[l] = 1;
    }
    if (failed == 0) return;
    for (int l = 0; l < count; ++l) {
      if (at.invalid[l] == 0) continue;
      const auto response = material.displacement_response(at.H.load(l), begin + std::size_t(l));
      at.stress.store(l, response.stress);
      at.energy[l] = response.energy;
    }
  }

  template <bool Printed>
  [[gnu::always_inline]] void solve(const StepConstants<Real> constants, Lanes& at, std::size_t begin,
                                    int count) const {
    for (int l = 0; l < count; ++l) {
      const std::size_t i = begin + std::size_t(l);
      const RestMoments<Real, Columns> m = moments.load(i);
      Mat3<Real> P = at.stress.load(l);
      const auto penalty = ductile::Penalty<Real>::of(constants.penalty, at.misfit[l]);
      if constexpr (Columns == 4 && Penalty) P -= penalty.stiffness * at.moment.load(l);
      const Mat3<Real> PM = m.matrix.right_multiplied(P);
      Vec3<Real> own = PM * m.lever, P3 = Vec3<Real>::zero();
      if constexpr (Columns == 4) {
        P3 = P * m.matrix.constant;
        own += m.values * P3;
      }
      const Real volume = at.volume[l];
      const auto solved = solve_constraint<Printed>(constants, m, at.energy[l], P, own, penalty, at.misfit[l], volume,
                                                    at.inverse_mass[l], at.multiplier[l]);
      at.multiplier[l] = solved.multiplier;
      at.violation[l] = solved.violation;
      const Real scale = solved.scale / volume;
      Mat3<Real> k = scale * PM;
      if constexpr (Penalty) k -= (scale * penalty.stiffness) * (Mat3<Real>::identity() + at.H.load(l));
      at.motions.store(l, k);
      at.penalty[l] = scale * penalty.stiffness;
      if constexpr (Columns == 4) {
        at.values[0][l] = scale * P3.x;
        at.values[1][l] = scale * P3.y;
        at.values[2][l] = scale * P3.z;
      }
    }
  }

  [[gnu::always_inline]] void hand_out(const Lanes& at, std::size_t i, int l) const {
    multiplier[i] = at.multiplier[l];
    if (violation != nullptr) violation[i] = at.violation[l];
    const Mat3<Real> k = at.motions.load(l);
    const Vec3<Real> X = xyz(pairs.rest[i]);
    CorrectionLine<Real, Columns>& out = line[i];
    out.c0 = padded(k.column(0), X.x);
    out.c1 = padded(k.column(1), X.y);
    out.c2 = padded(k.column(2), X.z);
    if constexpr (Penalty) out.position = padded(xyz(position[i] + increment[i]), at.penalty[l]);
    if constexpr (Columns == 4) out.c3 = padded(Vec3<Real>{at.values[0][l], at.values[1][l], at.values[2][l]});
  }
};

/// Second pass: every particle gathers the corrections of the constraints it takes part in. What is read is fetched
/// `Ahead` particles before, on processors that gain by it.
template <class Real, int Columns, bool Penalty, int Ahead>
struct ApplyCorrections {
  RestNeighbors<Real> pairs;
  MomentPlanes<const Real, Columns> moments;
  const CorrectionLine<Real, Columns>* line;
  const Vec4<Real>* position;
  std::size_t particles;
  Vec4<Real>* increment;
  Vec4<Real>* held;  // what the constraints did to particles of infinite mass, N s^2; null: not wanted

  void operator()(std::size_t i) const {
    if constexpr (Ahead > 0) fetch_ahead(i);
    const CorrectionLine<Real, Columns>& own = line[i];
    const Vec8<Real> X0(own.c0[3]), X1(own.c1[3]), X2(own.c2[3]);
    // The fourth place of a difference of positions is then the sum of both penalties.
    const Vec8<Real> x = twice(padded(xyz(own.position), -own.position[3]));
    Vec8<Real> sum(Real(0));
    pairs.for_each_two(i, [&](std::size_t s, std::size_t t, std::uint32_t j, std::uint32_t k, const Vec8<Real>& w) {
      const CorrectionLine<Real, Columns>&a = line[j], &b = line[k];
      const Vec8<Real> k0(a.c0, b.c0), k1(a.c1, b.c1), k2(a.c2, b.c2);
      Vec8<Real> push = k0 * (component<3>(k0) - X0) + k1 * (component<3>(k1) - X1) + k2 * (component<3>(k2) - X2);
      if constexpr (Penalty) {
        const Vec8<Real> r = Vec8<Real>(a.position, b.position) - x;
        push += r * component<3>(r);
      }
      sum += push * w;
      if constexpr (Columns == 4)
        sum += (twice(own.c3) - Vec8<Real>(a.c3, b.c3)) * halves(pairs.value[s], t == s ? Real(0) : pairs.value[t]);
    });
    const Vec3<Real> lever = moments.lever(i);
    const Vec4<Real> total = sum_of_halves(sum) + own.c0 * lever.x + own.c1 * lever.y + own.c2 * lever.z;
    // Every pair term carries V_i V_j; V_j is in the weight.
    const Real volume = pairs.rest[i][3], inverse_mass = position[i][3];
    if (held != nullptr && inverse_mass == Real(0)) held[i] -= total * volume;
    increment[i] = padded(xyz(increment[i]) - (inverse_mass * volume) * xyz(total));
  }

 private:
  [[gnu::always_inline]] void fetch_ahead(std::size_t i) const {
    const std::size_t j = pairs.last_neighbor(i) + Ahead;
    if (j >= particles) return;
    prefetch(line + j);
    pairs.fetch_ahead(i + Ahead);
  }
};

}  // namespace ductile
