#pragma once

// Definitions of Xpbi, included by one source file per precision and reference so that they build side by side.

#include "solvers/xpbi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "common/error.hpp"
#include "runtime/algorithms.hpp"
#include "solvers/blocks.hpp"
#include "solvers/cell_index.hpp"
#include "solvers/laws.hpp"
#include "solvers/motion.hpp"
#include "solvers/smoothing.hpp"
#include "solvers/xpbi_sweeps.hpp"

namespace ductile {

namespace xpbi {

// Parameters of pair memory, found on beams, pulled bars, dropped blocks and sand columns.
inline constexpr double stale_in_tension = 0.5;        // plastic strain
inline constexpr double stale_in_compression = 0.004;  // plastic strain
inline constexpr double stranger = 1.05;               // spacings
inline constexpr double largest_reach = 1.6;           // supports
inline constexpr double reach_growth = 1.12;
inline constexpr double enough_spread = 0.3;  // smallest eigenvalue of sum w p p^T, in that of the lattice
inline constexpr double cut = 0.1;            // of the pseudo-inverse, in the moment of the lattice
inline constexpr double crowding = 1.05;      // density that is allowed, in that of the lattice: disorder looks denser
inline constexpr double taken_up = 0.1;       // of the crowding, each time neighbours are chosen

}  // namespace xpbi

template <class Real, bool Memory>
Xpbi<Real, Memory>::Xpbi(const scene::Scene& scene, Queue& queue) : ParticleSolver<Real>(scene, queue) {
  const std::size_t n = particles();
  std::vector<Real> reach(n);
  narrowest_ = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < n; ++i) {
    const double spacing = scene_.bodies[particles_.body[i]].spacing;
    reach[i] = Real(scene_.solver.smoothing.support * spacing);
    widest_ = std::max(widest_, spacing);
    narrowest_ = std::min(narrowest_, spacing);
  }
  travelled_ = widest_;
  const auto lattice = lattice_sums(scene_.solver.smoothing);
  lattice_density_ = Real(lattice.density);
  lattice_moment_ = Real(lattice.moment);
  if (scene_.solver.separation == scene::Separation::density) limit_densities();
  reach_ = {queue_, reach};
  state_ = {queue_, n};
  extent_ = {queue_, n};
  close_ = {queue_, n};
  neighborhood_ = {queue_, n};
  displacement_gradient_.clear_bytes();
  loading_ = {queue_, n};
  loading_.clear_bytes();
  if (scene_.solver.scheme == scene::Scheme::jacobi || scene_.solver.xsph > 0 || scene_.solver.primal_residual)
    change_ = {queue_, n};
  if (scene_.solver.multiplier == scene::Multiplier::pair) second_multiplier_ = {queue_, n};
  if (scene_.solver.multiplier == scene::Multiplier::tensor || scene_.solver.release) stress_multiplier_ = {queue_, n};
  build_groups();
  if constexpr (Memory) {
    flowed_ = {queue_, n};
    flowed_.clear_bytes();
    stale_ = {queue_, n};
    stale_.clear_bytes();
    build_rest_lists();
    if (std::ranges::any_of(scene_.bodies, [](const auto& body) { return !body.initial.at_rest(); })) fit_deformation();
  } else {
    volume_ = {queue_, n};
    start_volumes();
    build_lists();
  }
  hold(0);
  evaluate();
  this->start_from_here();
}

template <class Real, bool Memory>
void Xpbi<Real, Memory>::build_groups() {
  const double dt = scene_.solver.time_step;
  for (std::size_t m = 0; m < scene_.materials.size(); ++m) {
    const auto& source = scene_.materials[m];
    Group group;
    group.range = particles_.of_material[m];
    if (group.range.count == 0) continue;
    group.material = make_material(source, group.range);
    group.plastic =
        !std::holds_alternative<std::monostate>(source.plastic) && scene_.solver.plasticity != scene::Plasticity::none;
    const double modulus = source.elastic.youngs_modulus;
    group.constants.inverse_squared_step = Real(1 / (dt * dt));
    group.constants.penalty = Real(scene_.solver.hourglass * modulus);
    group.constants.held_part = Real(held_part(scene_.solver));
    group.constants.stiffening = Penalty<Real>::usual_stiffening / lattice_moment_;
    // Pair and tensor multipliers are made for stresses in the present shape.
    group.unloaded_shape = Memory && scene_.solver.multiplier == scene::Multiplier::scalar &&
                           std::holds_alternative<std::monostate>(source.plastic);
    // A strain of one rounding unit has no direction left.
    group.constants.tiny = Real(double(std::numeric_limits<Real>::epsilon()) * std::sqrt(modulus));
    group.constants.violation_scale = Real(1 / std::sqrt(modulus));
    group.wave_way = Real(wave_speed(source) * dt);
    if (group.rests()) {
      const auto blocks = colour_blocks(scene_, particles_, group.range);
      group.blocks = {{queue_, blocks.start}, {queue_, blocks.member}, blocks.colour, 1};
    }
    groups_.push_back(std::move(group));
  }
}

template <class Real, bool Memory>
template <class State>
State* Xpbi<Real, Memory>::states() {
  static_assert(sizeof(State) <= sizeof(Real));
  return reinterpret_cast<State*>(state_.data());
}

template <class Real, bool Memory>
auto Xpbi<Real, Memory>::make_material(const scene::Material& source, Range range) -> Material {
  const auto start_from = [&](double value) {
    queue_.native().fill(state_.data() + range.first, Real(value), range.count);
  };
  const auto flowing = [&]<class Mapping>(const Mapping& mapping) -> Material {
    return Flowing<Mapping>{mapping, Real(scene_.solver.time_step), states<typename Mapping::State>(),
                            scene_.solver.plasticity != scene::Plasticity::none,
                            scene_.solver.plasticity == scene::Plasticity::implicit};
  };
  const auto elastic = [&]<class Law>(InversionSafe<Law> law) -> Material {
    // Strains as multipliers have the plain law at every stretch: energies and stresses are those that moved the body.
    if (scene_.solver.multiplier != scene::Multiplier::scalar) law.critical_stretch = Real(0);
    return ElasticPoint<Real, InversionSafe<Law>>{law};
  };
  return std::visit(
      [&](const auto& model) -> Material {
        if constexpr (requires { initial_state(model); }) {
          start_from(initial_state(model));
          return with_mapping<Real>(model, lame_of(source.elastic), flowing);
        } else {
          start_from(0);
          if (source.elastic.model == scene::ElasticModel::neo_hookean)
            return elastic(inversion_safe<NeoHookean<Real>>(source.elastic));
          return elastic(inversion_safe<Hencky<Real>>(source.elastic));
        }
      },
      source.plastic);
}

template <class Real, bool Memory>
bool Xpbi<Real, Memory>::flows() const {
  return std::ranges::any_of(groups_, &Group::plastic);
}

/// What a lattice has and a little more; particles that lie denser at rest, as on rounded surfaces, may stay so.
template <class Real, bool Memory>
void Xpbi<Real, Memory>::limit_densities() {
  const double support = scene_.solver.smoothing.support;
  const Real lattice = Real(lattice_sums(Wendland<double, 3>(support), support).density);
  most_density_ = {queue_, particles()};
  const auto lists = find_neighbors<Real>(queue_, rest_, Real(support * widest_));
  launch(queue_, "xpbi.limits", particles(),
         LimitDensity<Real>{lists.start.data(), lists.index.data(), rest_.data(), radius_.data(), Real(2 * support),
                            lattice, Real(xpbi::crowding), most_density_.data()});
  queue_.wait();
  allowed_density_ = {queue_, particles()};
}

template <class Real, bool Memory>
void Xpbi<Real, Memory>::allow_densities() {
  if (most_density_.empty()) return;
  for (const auto& group : groups_)
    launch(queue_, "xpbi.limits", group.range.count,
           AllowDensity<Real>{lists_.start.data(), lists_.index.data(), position_.data(), rest_.data(), radius_.data(),
                              Real(2 * scene_.solver.smoothing.support), group.wave_way, most_density_.data(),
                              group.range.first, allowed_density_.data()});
}

template <class Real, bool Memory>
bool Xpbi<Real, Memory>::follows_volumes() const {
  return !Memory && scene_.solver.volumes == scene::Volumes::total;
}

template <class Real, bool Memory>
PairList<Real, Memory> Xpbi<Real, Memory>::pairs() const {
  if constexpr (Memory)
    return {lists_.start.data(), lists_.index.data(), pair_.data()};
  else
    return {lists_.start.data(), lists_.index.data(), weight_.data()};
}

/// Neighbours at rest inside each body; those of other bodies join when they come close.
template <class Real, bool Memory>
void Xpbi<Real, Memory>::build_rest_lists() {
  const std::size_t n = particles();
  std::vector<Vec4<Real>> scaled(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto& body = scene_.bodies[particles_.body[i]];
    scaled[i] = padded(to_vec3<Real>((particles_.rest[i] - body.shape.position) / body.spacing));
  }
  const DeviceArray<Vec4<Real>> units(queue_, scaled);
  const DeviceArray<std::uint32_t> group(queue_, particles_.body);
  // On a lattice the neighbours on the rim have no weight.
  const Real support = Real(scene_.solver.smoothing.support * (1 - 2e-6));
  lists_ = find_neighbors<Real>(queue_, units, support, SameGroup{group.data()});
  pair_ = {queue_, lists_.index.size()};
  with_smoothing<Real>(scene_.solver.smoothing.kernel, Real(1), [&](auto smoothing) {
    launch(queue_, "xpbi.pairs", n,
           WeighRestPairs<Real, decltype(smoothing)>{lists_.start.data(), lists_.index.data(), rest_.data(),
                                                     reach_.data(), smoothing, pair_.data()});
  });
  queue_.wait();
  if (scene_.contact.enabled) {
    std::vector<std::uint32_t> may_join(n, 0);
    for (const auto& part : groups_)
      if (part.plastic) std::fill_n(may_join.begin() + std::ptrdiff_t(part.range.first), part.range.count, 1u);
    may_join_ = {queue_, may_join};
    bodies_touch_ = BodyContact<Real>(queue_, scene_, particles_, radius_.data(), rest_.data(), may_join);
  }
}

/// F of bodies that do not start in their rest shape: a step without motion takes up what it misses.
template <class Real, bool Memory>
void Xpbi<Real, Memory>::fit_deformation() {
  increment_.clear_bytes();
  build_neighborhoods();
  commit();
}

template <class Real, bool Memory>
void Xpbi<Real, Memory>::start_volumes() {
  // As long as nothing has moved the elastic volume is that at rest, where volumes that are followed start.
  launch(queue_, "xpbi.volumes", particles(),
         PresentVolume<Real>{rest_.data(), displacement_gradient_.data(), volume_.data()});
  if (scene_.solver.volumes != scene::Volumes::density) return;
  density_ = {queue_, particles()};
  completion_ = {queue_, particles()};
}

/// V^n of the weights (methods: choice in 3.1); volumes that are followed change when a step ends.
template <class Real, bool Memory>
void Xpbi<Real, Memory>::update_volumes() {
  const std::size_t n = particles();
  if (scene_.solver.volumes == scene::Volumes::elastic)
    launch(queue_, "xpbi.volumes", n, PresentVolume<Real>{rest_.data(), displacement_gradient_.data(), volume_.data()});
  if (scene_.solver.volumes != scene::Volumes::density) return;
  with_smoothing<Real>(scene_.solver.smoothing.kernel, Real(1), [&](auto smoothing) {
    const auto sum = [&](const Real* divisor, Real* target) {
      launch(queue_, "xpbi.volumes", n,
             SumVolumes<Real, decltype(smoothing)>{lists_.start.data(), lists_.index.data(), position_.data(),
                                                   rest_.data(), reach_.data(), smoothing, divisor, target});
    };
    sum(nullptr, density_.data());
    sum(density_.data(), completion_.data());
  });
  launch(queue_, "xpbi.volumes", n,
         VolumeOfDensity<Real>{rest_.data(), density_.data(), completion_.data(), lattice_density_, volume_.data()});
}

/// As in P1: all particles within the support, weighted by the present volumes.
template <class Real, bool Memory>
void Xpbi<Real, Memory>::build_lists() {
  const std::size_t n = particles();
  const Real support = Real(scene_.solver.smoothing.support * widest_ * (1 - 2e-6));
  lists_ = find_neighbors<Real>(queue_, position_, support);
  update_volumes();
  if (weight_.size() < lists_.index.size()) weight_ = DeviceArray<Real>(queue_, lists_.index.size() * 9 / 8);
  with_smoothing<Real>(scene_.solver.smoothing.kernel, Real(1), [&](auto smoothing) {
    launch(queue_, "xpbi.pairs", n,
           WeighCurrentPairs<Real, decltype(smoothing)>{lists_.start.data(), lists_.index.data(), position_.data(),
                                                        volume_.data(), reach_.data(), smoothing, weight_.data()});
  });
}

/// Lets particles that flowed far, or to which a stranger came close, choose their neighbours anew.
template <class Real, bool Memory>
void Xpbi<Real, Memory>::refresh_lists() {
  const double support = scene_.solver.smoothing.support * widest_;
  const StoredPairs<Real> stored{lists_.start.data(), lists_.index.data(), pair_.data()};
  travelled_ += scene_.solver.time_step * last_.max_speed;
  const bool look = 2 * travelled_ > 0.05 * narrowest_;
  if (look) travelled_ = 0;
  std::optional<CellIndex<Real>> cells;
  NeighborSearch<Real, AnyPair> near{};
  if (look) near = cells.emplace(queue_, position_, Real(support)).within(Real(xpbi::stranger * widest_));
  for (const auto& group : groups_)
    if (group.plastic)
      launch(queue_, "xpbi.stale", group.range.count,
             MarkStale<Real>{stored, near, position_.data(), radius_.data(), loading_.data(), may_join_.data(),
                             Real(xpbi::stale_in_tension), Real(xpbi::stale_in_compression),
                             Real(look ? xpbi::stranger : 0.0), flowed_.data(), group.range.first, stale_.data()});
  if (reduce<PairTotal>(queue_, "xpbi.stale", particles(), PairsOf{stale_.data()}).pairs == 0) return;
  if (!cells) cells.emplace(queue_, position_, Real(support));
  rebuild_pairs({cells->within(Real(support * xpbi::largest_reach * 1.05)), stored, position_.data(),
                 displacement_gradient_.data(), loading_.data(), may_join_.data()});
}

template <class Real, bool Memory>
void Xpbi<Real, Memory>::rebuild_pairs(const NewNeighbors<Real>& neighbors) {
  const std::size_t n = particles();
  NeighborLists lists;
  lists.start = DeviceArray<std::uint32_t>(queue_, n + 1);
  DeviceArray<Vec4<Real>> pair;
  with_smoothing<Real>(scene_.solver.smoothing.kernel, Real(1), [&](auto smoothing) {
    using Smoothing = decltype(smoothing);
    for (const auto& group : groups_)
      if (group.plastic)
        launch(queue_, "xpbi.choose", group.range.count,
               ChooseReach<Real, Smoothing>{
                   neighbors, stale_.data(), rest_.data(), smoothing, Real(2 * scene_.solver.smoothing.support),
                   radius_.data(), Real(xpbi::reach_growth), Real(xpbi::largest_reach),
                   Real(xpbi::enough_spread) * lattice_moment_, group.range.first, reach_.data()});
    launch(queue_, "xpbi.choose", n, CountNewPairs<Real>{neighbors, stale_.data(), reach_.data(), lists.start.data()});
    const auto total = reduce<PairTotal>(queue_, "xpbi.choose", n, PairsOf{lists.start.data()}).pairs;
    if (total > std::numeric_limits<std::uint32_t>::max())
      throw SimulationError("There are more neighbour relations than a list can hold: particles have collapsed.");
    exclusive_scan(queue_, "xpbi.choose", lists.start.data(), lists.start.data(), n);
    lists.index = DeviceArray<std::uint32_t>(queue_, total);
    pair = DeviceArray<Vec4<Real>>(queue_, total);
    launch(queue_, "xpbi.choose", n,
           FillNewPairs<Real, Smoothing>{neighbors, stale_.data(), reach_.data(), rest_.data(), smoothing,
                                         lists.start.data(), lists.index.data(), pair.data(), flowed_.data()});
  });
  queue_.wait();
  lists_ = std::move(lists);
  pair_ = std::move(pair);
  take_up_crowding();
}

template <class Real, bool Memory>
void Xpbi<Real, Memory>::weigh_crushed() {
  with_smoothing<Real>(scene_.solver.smoothing.kernel, Real(1), [&](auto smoothing) {
    using Smoothing = std::remove_cvref_t<decltype(smoothing)>;  // GCC 12 makes a reference of it in lambdas
    for (const auto& group : groups_)
      if (group.plastic)
        launch(this->queue_, "xpbi.pairs", group.range.count,
               WeighCrushedPairs<Real, Smoothing>{lists_.start.data(), lists_.index.data(), loading_.data(),
                                                  this->rest_.data(), reach_.data(), smoothing, group.range.first,
                                                  pair_.data()});
  });
}

template <class Real, bool Memory>
void Xpbi<Real, Memory>::take_up_crowding() {
  if (scene_.solver.separation == scene::Separation::density) return;  // keeps crowds apart itself
  with_smoothing<Real>(scene_.solver.smoothing.kernel, Real(1), [&](auto smoothing) {
    using Smoothing = std::remove_cvref_t<decltype(smoothing)>;  // GCC 12 makes a reference of it in lambdas
    for (const auto& group : groups_)
      std::visit(
          [&](const auto& material) {
            using Point = std::decay_t<decltype(material)>;
            if constexpr (Point::keeps_volume)
              launch(this->queue_, "xpbi.choose", group.range.count,
                     TakeUpCrowding<Real, Smoothing, Point>{
                         stale_.data(), loading_.data(), lists_.start.data(), lists_.index.data(), this->rest_.data(),
                         reach_.data(), smoothing, Real(xpbi::crowding) * lattice_density_, Real(xpbi::taken_up),
                         material, group.range.first, this->displacement_gradient_.data(), pair_.data()});
          },
          group.material);
  });
}

template <class Real, bool Memory>
void Xpbi<Real, Memory>::build_neighborhoods() {
  // Pairs that may come too close during the step, in radii; a density counts everything within a spacing.
  const Real near = Real(!most_density_.empty() ? 2.0 : 2 * scene_.solver.least_distance + 0.2);
  for (const auto& group : groups_)
    launch(queue_, "xpbi.neighborhoods", group.range.count,
           BuildNeighborhoods<Real, Memory>{pairs(), position_.data(), displacement_gradient_.data(), radius_.data(),
                                            Real(xpbi::cut) * lattice_moment_, near, group.unloaded_shape,
                                            group.range.first, neighborhood_.data(), extent_.data(), close_.data()});
}

/// Blocks of space in the present positions, at least twice as wide as the farthest neighbour: two of one colour never
/// move the same particle.
template <class Real, bool Memory>
void Xpbi<Real, Memory>::colour_blocks_now() {
  const auto bounds = reduce<Bounds<Real>>(queue_, "xpbi.blocks", particles(), PositionBounds<Real>{position_.data()});
  const double size = std::max({double(bounds.high.x - bounds.low.x), double(bounds.high.y - bounds.low.y),
                                double(bounds.high.z - bounds.low.z)});
  for (auto& group : groups_) {
    if (group.rests()) continue;
    const auto extent = reduce<Largest<Real>>(queue_, "xpbi.blocks", group.range.count,
                                              LargestOf<Real>{extent_.data() + group.range.first});
    const double support = scene_.solver.smoothing.support;
    const double width =
        std::max(2 * double(extent.value), widest_) * 1.0001 + 16 * double(std::numeric_limits<Real>::epsilon()) * size;
    const bool nested = sweep_width == 8 && group.range.count > fewest_for_nested_blocks(support);
    const auto grid = make_block_grid(bounds, width, nested, group.range.count);
    auto& blocks = group.blocks;
    blocks.parts = grid.parts();
    const std::size_t buckets = 8 * std::size_t(grid.blocks) * blocks.parts;
    if (blocks.start.size() != buckets + 1) blocks.start = {queue_, buckets + 1};
    if (blocks.member.empty()) blocks.member = {queue_, group.range.count};
    sort_into_buckets(queue_, "xpbi.blocks", grid, position_.data(), group.range, blocks.start, blocks.member);
    for (std::size_t c = 0; c < 8; ++c) blocks.colour[c] = {c * grid.blocks, grid.blocks};
    queue_.wait();
  }
}

template <class Real, bool Memory>
void Xpbi<Real, Memory>::begin_step() {
  hold(time());
  if constexpr (Memory) {
    if (flows()) {
      refresh_lists();
      weigh_crushed();
    }
  } else {
    build_lists();
  }
  build_neighborhoods();
  allow_densities();
  colour_blocks_now();
  this->predict();
  if (bodies_touch_.active())
    bodies_touch_.find_pairs(queue_, position_.data(), displacement_gradient_.data(),
                             this->farthest_move(bodies_touch_.farthest_reach()));
  second_multiplier_.clear_bytes();
  stress_multiplier_.clear_bytes();
  if (Memory && scene_.solver.multiplier == scene::Multiplier::tensor) {
    if (misfit_multiplier_.size() < lists_.index.size())
      misfit_multiplier_ = DeviceArray<Vec4<Real>>(queue_, lists_.index.size() * 9 / 8);
    misfit_multiplier_.clear_bytes();
  }
}

template <class Real, bool Memory>
void Xpbi<Real, Memory>::iterate() {
  const bool jacobi = scene_.solver.scheme == scene::Scheme::jacobi;
  const double tolerance = scene_.solver.tolerance;
  for (iterations_ = 0; iterations_ < scene_.solver.iterations;) {
    const Real relaxation = this->relaxation(iterations_);
    ++iterations_;
    if (jacobi) change_.clear_bytes();
    for (auto& group : groups_) {
      group.constants.relaxation = relaxation;
      sweep(group, tolerance > 0 || iterations_ == scene_.solver.iterations);
    }
    if (jacobi) launch(queue_, "xpbi.apply", particles(), AddVectors<Real>{change_.data(), increment_.data()});
    if (bodies_touch_.active()) bodies_touch_.resolve(queue_, increment_.data(), held_.data());
    this->resolve_colliders();
    if (tolerance > 0 && this->residual() < tolerance) break;
  }
}

template <class Real, bool Memory>
void Xpbi<Real, Memory>::sweep(Group& group, bool last) {
  Vec4<Real>* const target = scene_.solver.scheme == scene::Scheme::jacobi ? change_.data() : increment_.data();
  Real* const violation = last ? violation_.data() : nullptr;
  switch (scene_.solver.multiplier) {
    case scene::Multiplier::scalar:
      if (scene_.solver.release) return sweep_general(group, MultiplierKind::releasing, target, violation);
      return launch_sweeps(group, "xpbi.sweep", ScalarMultiplier<Real>{multiplier_.data()}, target, violation, true);
    case scene::Multiplier::pair:
      return sweep_general(group, MultiplierKind::pair, target, violation);
    case scene::Multiplier::tensor:
      return sweep_general(group, MultiplierKind::tensor, target, violation);
  }
}

/// Root mean square of what is missing between inertia and the forces of the present state, as a part of the former.
template <class Real, bool Memory>
double Xpbi<Real, Memory>::primal_residual() {
  change_.clear_bytes();
  for (auto& group : groups_) sweep_general(group, MultiplierKind::balance, change_.data(), nullptr);
  const auto ratio = [&]<class Sum>(Sum) {
    const auto total = reduce<Imbalance<Sum>>(
        queue_, "measure", particles(),
        MeasureImbalance<Real, Sum>{position_.data(), velocity_.data(), increment_.data(), change_.data(),
                                    this->colliders_.contacts(), to_vec3<Real>(scene_.gravity),
                                    Real(scene_.solver.time_step)});
    return total.inertia > Sum(0) ? std::sqrt(double(total.residual) / double(total.inertia)) : 0.0;
  };
  return queue_.device().double_precision ? ratio(double()) : ratio(float());
}

template <class Real, bool Memory>
void Xpbi<Real, Memory>::smooth_velocities() {
  if (!(scene_.solver.xsph > 0)) return;
  change_.clear_bytes();
  const auto strength = Real(scene_.solver.xsph);
  const auto smooth = [&]<class Pairs>(const Group& group, const Pairs& pairs) {
    for (const Range& colour : group.blocks.colour)
      launch(this->queue_, "xpbi.xsph", colour.count,
             SmoothVelocities<Real, Pairs>{pairs, this->position_.data(), group.blocks.of(colour), change_.data(),
                                           this->held_.data()});
  };
  for (const auto& group : groups_) {
    if constexpr (Memory)
      smooth(group,
             VelocityDeviations<Real>{pairs(), neighborhood_.data(), position_.data(), displacement_gradient_.data(),
                                      radius_.data(), strength, group.wave_way, increment_.data()});
    else
      with_smoothing<Real>(scene_.solver.smoothing.kernel, Real(1), [&](auto smoothing) {
        using Smoothing = std::remove_cvref_t<decltype(smoothing)>;  // GCC 12 makes a reference of it in lambdas
        smooth(group, WholeVelocities<Real, Smoothing>{lists_.start.data(), lists_.index.data(), this->position_.data(),
                                                       this->rest_.data(), reach_.data(), smoothing, strength,
                                                       this->increment_.data()});
      });
  }
  launch(queue_, "xpbi.xsph", particles(), AddVectors<Real>{change_.data(), increment_.data()});
}

/// Stores the state at the end of a step, flow included.
template <class Real, bool Memory>
void Xpbi<Real, Memory>::commit() {
  Real* const followed = follows_volumes() ? volume_.data() : nullptr;
  for (auto& group : groups_)
    std::visit(
        [&](const auto& material) {
          launch(queue_, "xpbi.commit", group.range.count,
                 CommitStep<Real, Memory, std::decay_t<decltype(material)>>{
                     pairs(), neighborhood_.data(), position_.data(), increment_.data(), material, group.constants,
                     group.range.first, displacement_gradient_.data(), energy(), loading_.data(), flowed_.data(),
                     pair_.data(), followed});
        },
        group.material);
}

template <class Real, bool Memory>
void Xpbi<Real, Memory>::end_step() {
  smooth_velocities();
  commit();
  this->take_step();
}

template <class Real, bool Memory>
StepReport Xpbi<Real, Memory>::advance() {
  begin_step();
  iterate();
  const double balance = scene_.solver.primal_residual ? primal_residual() : 0;
  end_step();
  StepReport report = this->step_done();
  report.primal_residual = balance;
  report.iterations = iterations_;
  return report;
}

template <class Real, bool Memory>
void Xpbi<Real, Memory>::evaluate() {
  for (auto& group : groups_)
    std::visit(
        [&](const auto& material) {
          launch(queue_, "xpbi.evaluate", group.range.count,
                 EvaluateEnergy<Real, std::decay_t<decltype(material)>>{displacement_gradient_.data(), material,
                                                                        group.range.first, energy()});
        },
        group.material);
}

template <class Real, bool Memory>
std::vector<Mat3<Real>> Xpbi<Real, Memory>::cauchy_stress() {
  DeviceArray<Mat3<Real>> stress(queue_, particles());
  for (auto& group : groups_)
    std::visit(
        [&](const auto& material) {
          launch(queue_, "output.stress", group.range.count,
                 PresentStress<Real, std::decay_t<decltype(material)>>{displacement_gradient_.data(), material,
                                                                       group.range.first, stress.data()});
        },
        group.material);
  return stress.download();
}

template <class Real, bool Memory>
std::vector<StateBlock> Xpbi<Real, Memory>::save() {
  std::vector<StateBlock> blocks;
  blocks.push_back(pack("position", position_));
  blocks.push_back(pack("velocity", velocity_));
  blocks.push_back(pack("displacement_gradient", displacement_gradient_));
  blocks.push_back(pack("plastic_state", state_));
  blocks.push_back(pack("loading", loading_));
  if (follows_volumes()) blocks.push_back(pack("volume", volume_));
  if (Memory && flows()) {
    blocks.push_back(pack("neighbour_start", lists_.start));
    blocks.push_back(pack("neighbour_index", lists_.index));
    blocks.push_back(pack("neighbour_pair", pair_));
    blocks.push_back(pack("reach", reach_));
    blocks.push_back(pack("flowed", flowed_));
    blocks.push_back(pack("travelled", DeviceArray<double>(queue_, std::vector{travelled_})));
  }
  return blocks;
}

template <class Real, bool Memory>
void Xpbi<Real, Memory>::restore(long long step, const std::vector<StateBlock>& blocks) {
  unpack(blocks, "position", position_);
  unpack(blocks, "velocity", velocity_);
  unpack(blocks, "displacement_gradient", displacement_gradient_);
  unpack(blocks, "plastic_state", state_);
  unpack(blocks, "loading", loading_);
  if (follows_volumes()) unpack(blocks, "volume", volume_);
  if (Memory && flows()) {
    unpack(blocks, "neighbour_start", lists_.start);
    unpack_all(blocks, "neighbour_index", queue_, lists_.index);
    unpack_all(blocks, "neighbour_pair", queue_, pair_);
    unpack(blocks, "reach", reach_);
    unpack(blocks, "flowed", flowed_);
    DeviceArray<double> travelled(queue_, 1);
    unpack(blocks, "travelled", travelled);
    travelled_ = travelled.download().front();
  }
  step_ = step;
  // As the run that wrote the state left it: what was held in its last step is still held.
  hold(time() - scene_.solver.time_step);
  evaluate();
  this->start_from_here();
}

}  // namespace ductile
