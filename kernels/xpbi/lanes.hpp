#pragma once

#include "kernels/math/lanes.hpp"
#include "kernels/math/prefetch.hpp"
#include "kernels/xpbi/sweep.hpp"

namespace ductile {

/// Neighbourhoods of a few particles, entry by entry.
template <class Real, bool Memory, int Width>
struct NeighborhoodLanes {
  Mat3Lanes<Real, Width> inverse;
  Sym3Lanes<Real, Width> mobility;
  Vec3Lanes<Real, Width> sum;

  [[gnu::always_inline]] void store(int l, const Neighborhood<Real, Memory>& n) {
    inverse.store(l, n.inverse);
    mobility.store(l, n.mobility);
    sum.store(l, n.sum);
  }
  [[gnu::always_inline]] Neighborhood<Real, Memory> load(int l) const {
    return {inverse.load(l), mobility.load(l), sum.load(l), Sym3<Real>::zero()};
  }
};

template <class Real, int Width>
struct NeighborhoodLanes<Real, true, Width> {
  Mat3Lanes<Real, Width> inverse, misfit_moment;
  Sym3Lanes<Real, Width> mobility, spread;
  Vec3Lanes<Real, Width> sum, lever, misfit_sum;
  Real pair_mobility[Width], current[Width];

  [[gnu::always_inline]] void store(int l, const Neighborhood<Real, true>& n) {
    inverse.store(l, n.inverse);
    mobility.store(l, n.mobility);
    sum.store(l, n.sum);
    spread.store(l, n.spread);
    lever.store(l, n.lever);
    misfit_moment.store(l, n.misfit_moment);
    misfit_sum.store(l, n.misfit_sum);
    pair_mobility[l] = n.pair_mobility;
    current[l] = n.current;
  }
  [[gnu::always_inline]] Neighborhood<Real, true> load(int l) const {
    return {inverse.load(l), mobility.load(l),      sum.load(l),        Sym3<Real>::zero(), spread.load(l),
            lever.load(l),   misfit_moment.load(l), misfit_sum.load(l), pair_mobility[l],   current[l]};
  }
};

/// SweepBlocks with one multiplier per particle, over up to `Width` blocks of a colour, or parts of a block, side by
/// side: the first particle of each is solved, then the second, and so on. They share no neighbour, so each is solved
/// in its order, as if alone. Sums over neighbours run one particle after the other; laws and multipliers run over all
/// lanes, which the compiler turns into vector instructions. Width 1 suits devices that run work-items in lockstep.
template <class Real, bool Memory, class Material, int Width>
struct SweepLanes {
  SweepBlocks<Real, Memory, Material, ScalarMultiplier<Real>> sweep;
  std::size_t blocks, items;  // of this colour; every item has so many of them, at most `Width` unless they have parts

  static constexpr bool heavy = true;  // few, long work-items
  static constexpr bool inline_all = true;

  /// How many work-items solve so many blocks: enough to share, where there are few.
  static std::size_t items_of(std::size_t blocks, std::uint32_t parts) {
    const std::size_t full = (blocks + Width - 1) / Width, shared = sycl::min(blocks, std::size_t(8));
    return parts > 1 ? blocks : sycl::max(full, shared);
  }

  void operator()(std::size_t item) const {
    const std::size_t parts = sweep.blocks.parts, first = blocks * item / items * parts,
                      last = blocks * (item + 1) / items * parts;
    for (std::size_t part = first; part < last; part += Width) solve_parts(part, sycl::min(part + Width, last));
  }

 private:
  void solve_parts(std::size_t part, std::size_t last) const {
    std::uint32_t next[Width], end[Width];
    int lanes = 0;
    for (; part < last; ++part, ++lanes) {
      next[lanes] = sweep.blocks.start[part];
      end[lanes] = sweep.blocks.start[part + 1];
    }
    Lanes at{};
    while (true) {
      int used = 0, left = 0;
      for (int lane = 0; lane < lanes; ++lane) {
        if (next[lane] == end[lane]) continue;
        // Blocks that are done make room.
        next[left] = next[lane];
        end[left] = end[lane];
        const std::size_t i = sweep.blocks.member[next[left]++];
        if (Width > 1 && next[left] < end[left]) fetch_ahead(sweep.blocks.member[next[left]]);
        ++left;
        sweep.keep_apart(i);
        const Neighborhood<Real, Memory>& n = sweep.neighborhood[i];
        if (is_deficient(n))
          sweep.solve(i);
        else
          gather(at, used++, i, n);
      }
      lanes = left;
      if (lanes == 0) return;
      if (used == 0) continue;
      respond(at, used);
      solve(at);
      for (int l = 0; l < used; ++l) hand_out(at, l);
    }
  }

  struct Lanes {
    std::size_t particle[Width];
    NeighborhoodLanes<Real, Memory, Width> n;
    Mat3Lanes<Real, Width> moment, H, G, start, trial, stress, misfit_moment;
    Vec3Lanes<Real, Width> misfit_sum;
    Sym3Lanes<Real, Width> strain;
    Real squares[Width], misfit[Width], energy[Width], yield_strain[Width], held[Width];
    bool crushed[Width];
    Real trace[Width], size[Width], stiffening[Width];
    Real volume[Width], inverse_mass[Width], multiplier[Width], violation[Width], penalty[Width];
    BitsOf<Real> invalid[Width];
  };

  /// What gather() will read of a particle; every colour finds it cold.
  [[gnu::always_inline]] void fetch_ahead(std::size_t i) const {
    prefetch(sweep.neighborhood + i);
    prefetch(sweep.displacement_gradient + i);
    prefetch(sweep.rest + i);
    prefetch(sweep.multiplier.multiplier + i);
    sweep.pairs.fetch_ahead(i);
  }

  [[gnu::always_inline]] void gather(Lanes& at, int l, std::size_t i, const Neighborhood<Real, Memory>& n) const {
    const Mat3<Real> H = sweep.displacement_gradient[i];
    const NeighborSums<Real> sums = sum_step<Real, Memory>(sweep.pairs, sweep.position, sweep.increment, H, i);
    at.particle[l] = i;
    at.n.store(l, n);
    at.H.store(l, H);
    at.moment.store(l, sums.moment);
    if constexpr (Memory) {
      at.misfit_sum.store(l, sums.sum);
      at.squares[l] = sums.squares;
    }
    at.crushed[l] = Material::plastic && sweep.loading[i] == loading_flows;
    if constexpr (Material::fast_form == FastForm::law) at.stiffening[l] = sweep.material.stiffening(i);
    at.volume[l] = sweep.working_volume(i);
    at.inverse_mass[l] = sweep.position[i][3];
    at.multiplier[l] = sweep.multiplier.multiplier[i];
  }

  [[gnu::always_inline]] void respond(Lanes& at, int used) const {
    deform(at);
    if constexpr (Material::fast_form == FastForm::strains) {
      measure_strains(at);
      for (int l = 0; l < used; ++l) {
        const FlowedStrain<Real> flow = sweep.material.flow(at.trace[l], at.size[l], at.particle[l]);
        at.size[l] = flow.deviator_scale;
        at.trace[l] = flow.trace;
        at.yield_strain[l] = flow.yield_strain;
      }
      stress_of_strains(at);
    } else if constexpr (Material::fast_form == FastForm::law) {
      stress_of_law(at);
    }
    for (int l = 0; l < used; ++l) {
      if (Material::fast_form != FastForm::none && at.invalid[l] == 0) continue;
      const auto response = sweep.material.respond({at.G.load(l), at.start.load(l), at.trial.load(l)}, at.particle[l]);
      at.energy[l] = response.energy;
      at.stress.store(l, response.stress);
      at.yield_strain[l] = response.yield_strain;
    }
    if constexpr (Memory)
      for (int l = 0; l < used; ++l)
        at.held[l] = held_misfit(at.misfit[l], at.crushed[l] ? Real(0) : at.yield_strain[l], at.n.spread.load(l));
  }

  [[gnu::always_inline]] static LocalStep<Real> local(const Lanes& at, int l) {
    LocalStep<Real> result{};
    result.deformation = {at.G.load(l), at.start.load(l), at.trial.load(l)};
    if constexpr (Memory) {
      result.misfit_moment = at.misfit_moment.load(l);
      result.misfit_sum = at.misfit_sum.load(l);
      result.misfit = at.misfit[l];
    }
    return result;
  }

  [[gnu::always_inline]] static void deform(Lanes& at) {
    for (int l = 0; l < Width; ++l) {
      NeighborSums<Real> sums{at.moment.load(l), Vec3<Real>::zero(), Real(0)};
      if constexpr (Memory) {
        sums.sum = at.misfit_sum.load(l);
        sums.squares = at.squares[l];
      }
      const LocalStep<Real> step = finish_step<true>(sums, at.H.load(l), at.n.load(l));
      at.G.store(l, step.deformation.G);
      at.start.store(l, step.deformation.start);
      at.trial.store(l, step.deformation.trial);
      if constexpr (Memory) {
        at.misfit_moment.store(l, step.misfit_moment);
        at.misfit_sum.store(l, step.misfit_sum);
        at.misfit[l] = step.misfit;
      }
    }
  }

  /// The left strain, which gives an isotropic tau without a rotation.
  [[gnu::always_inline]] static void measure_strains(Lanes& at) {
    for (int l = 0; l < Width; ++l) {
      const Mat3<Real> trial = at.trial.load(l);
      const Sym3<Real> X = tanh_strain(green_strain(transpose(trial)));
      const Sym3<Real> strain = hencky_strain(X), shear = deviator(strain);
      at.strain.store(l, shear);
      at.trace[l] = trace(strain);
      at.size[l] = sycl::sqrt(squared_norm(shear));
      at.invalid[l] = static_cast<BitsOf<Real>>(!(within_series(X) & (volume_change(trial).j > Real(-1))));
    }
  }
  [[gnu::always_inline]] void stress_of_strains(Lanes& at) const {
    const Hencky<Real> elastic = sweep.material.elastic();
    for (int l = 0; l < Width; ++l) {
      const Sym3<Real> strain = flowed_strain<Real>(at.strain.load(l), {at.size[l], at.trace[l], Real(0)});
      at.energy[l] = elastic.strain_energy(strain);
      at.stress.store(l, elastic.rotated_stress(strain).full() * inverse_transpose(at.G.load(l)));
    }
  }
  [[gnu::always_inline]] void stress_of_law(Lanes& at) const {
    const Material material = sweep.material;
    const Real held = material.held_strain();
    for (int l = 0; l < Width; ++l) {
      const auto fast = material.fast_response(at.trial.load(l), at.stiffening[l]);
      // P F^T (I + G)^-T = P F^nT
      at.stress.store(l, fast.response.stress + times_transpose(fast.response.stress, at.start.load(l)));
      at.energy[l] = fast.response.energy;
      at.yield_strain[l] = held;
      at.invalid[l] = static_cast<BitsOf<Real>>(!fast.valid);
    }
  }

  [[gnu::always_inline]] void solve(Lanes& at) const {
    const StepConstantsXpbi<Real> step = sweep.step;
    for (int l = 0; l < Width; ++l) {
      const Neighborhood<Real, Memory> n = at.n.load(l);
      const auto joint = joint_constraint<true>(at.energy[l], at.stress.load(l), at.held[l], step, n, local(at, l),
                                                at.inverse_mass[l]);
      const auto update = scalar_update(step, joint, at.multiplier[l], at.volume[l]);
      at.multiplier[l] += update.change;
      at.violation[l] = update.violation;
      at.stress.store(l, times_transpose(update.scale * joint.stress, n.inverse));
      at.penalty[l] = update.scale * joint.penalty;
    }
  }

  [[gnu::always_inline]] void hand_out(const Lanes& at, int l) const {
    const std::size_t i = at.particle[l];
    sweep.multiplier.multiplier[i] = at.multiplier[l];
    if (sweep.violation != nullptr) sweep.violation[i] = at.violation[l];
    sweep.push_neighbors(i, at.stress.load(l), at.penalty[l], at.trial.load(l));
  }
};

}  // namespace ductile
