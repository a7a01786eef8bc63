#pragma once

// Definitions of TotalLagrangian, included by one source file per precision and gradient so that they build side by
// side.

#include "solvers/total_lagrangian.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/error.hpp"
#include "kernels/neighbors/cell_grid.hpp"
#include "runtime/algorithms.hpp"
#include "solvers/laws.hpp"
#include "solvers/motion.hpp"
#include "solvers/smoothing.hpp"

namespace ductile {

namespace detail {

inline GradientKind kind_of(scene::Gradient gradient) {
  switch (gradient) {
    case scene::Gradient::least_squares:
      return GradientKind::least_squares;
    case scene::Gradient::raw:
      return GradientKind::raw;
    case scene::Gradient::corrected:
      return GradientKind::corrected;
    case scene::Gradient::mlsrk_constant:
      return GradientKind::mlsrk_constant;
    case scene::Gradient::mlsrk_linear:
      return GradientKind::mlsrk_linear;
  }
  return GradientKind::least_squares;
}

/// Directions in which the neighbours of a particle are spread by less than this part of the most are left out.
inline constexpr double least_spread = 0.05;

/// Whether the deformation gradient of a turned body is its rotation.
inline bool knows_rotations(scene::Gradient gradient) {
  return gradient != scene::Gradient::raw && gradient != scene::Gradient::mlsrk_constant;
}

}  // namespace detail

template <class Real, int Columns>
TotalLagrangian<Real, Columns>::TotalLagrangian(const scene::Scene& scene, Queue& queue)
    : ParticleSolver<Real>(scene, queue) {
  build_pairs();
  find_missing();
  build_groups();
  cuts_ = Cuts<Real>(queue_, scene_, lists_, particles_.id);
  if (scene_.contact.enabled)
    bodies_touch_ = BodyContact<Real>(queue_, scene_, particles_, radius_.data(), rest_.data());
  hold(0);
  build_moments();
  evaluate();
  this->start_from_here();
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::build_pairs() {
  const std::size_t n = particles();
  {
    // In units of its own spacing every body has the same support, so one search serves all.
    std::vector<Vec4<Real>> scaled(n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto& body = scene_.bodies[particles_.body[i]];
      scaled[i] = padded(to_vec3<Real>((particles_.rest[i] - body.shape.position) / body.spacing));
    }
    const DeviceArray<Vec4<Real>> units(queue_, scaled);
    const DeviceArray<std::uint32_t> group(queue_, particles_.body);
    lists_ = find_neighbors<Real>(queue_, units, Real(scene_.solver.smoothing.support), SameGroup{group.data()});
  }
  weight_ = {queue_, lists_.index.size()};
  if (Columns == 4) value_ = {queue_, lists_.index.size()};
  moments_ = {queue_, MomentPlanes<Real, Columns>::numbers * n};
  const GradientKind kind = detail::kind_of(scene_.solver.gradient);
  if (kind != GradientKind::least_squares && scene_.solver.hourglass > 0) spread_ = {queue_, n};
  // Bodies of one spacing share a kernel; each body is one run of particles.
  for (std::size_t begin = 0, end = 0; begin < n; begin = end) {
    while (end < n && particles_.body[end] == particles_.body[begin]) ++end;
    const Real support = Real(scene_.solver.smoothing.support * scene_.bodies[particles_.body[begin]].spacing);
    with_smoothing<Real>(scene_.solver.smoothing.kernel, support, [&](auto smoothing) {
      launch(queue_, "xpbd.weights", end - begin,
             WeighPairs<Real, decltype(smoothing)>{lists_.start.data(), lists_.index.data(), rest_.data(), smoothing,
                                                   kind == GradientKind::mlsrk_linear, begin, weight_.data(),
                                                   value_.data()});
    });
  }
  queue_.wait();
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::build_moments() {
  const std::size_t n = particles();
  for (std::size_t begin = 0, end = 0; begin < n; begin = end) {
    while (end < n && particles_.body[end] == particles_.body[begin]) ++end;
    const Real support = Real(scene_.solver.smoothing.support * scene_.bodies[particles_.body[begin]].spacing);
    with_smoothing<Real>(scene_.solver.smoothing.kernel, support, [&](auto smoothing) {
      launch(queue_, "xpbd.moments", end - begin,
             BuildMoments<Real, Columns>{pairs(),
                                         position_.data(),
                                         detail::kind_of(scene_.solver.gradient),
                                         smoothing.value(Real(0)),
                                         Real(detail::least_spread),
                                         begin,
                                         {moments_.data(), n},
                                         spread_.data()});
    });
  }
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::find_missing() {
  missing_ = {};
  if (!detail::knows_rotations(scene_.solver.gradient)) return;  // not corrected, so nothing is left out
  const std::size_t n = particles();
  const Real cut = Real(detail::least_spread);
  {
    DeviceArray<std::uint32_t> mark(queue_, n);
    launch(queue_, "xpbd.moments", n, MarkMissing<Real>{pairs(), cut, mark.data()});
    if (reduce<PairTotal>(queue_, "xpbd.moments", n, PairsOf{mark.data()}).pairs == 0) return;
  }
  missing_ = {queue_, n};
  launch(queue_, "xpbd.moments", n, FindMissing<Real>{pairs(), cut, missing_.data()});
}

template <class Real, int Columns>
RestNeighbors<Real> TotalLagrangian<Real, Columns>::pairs() const {
  return {lists_.start.data(), lists_.index.data(), weight_.data(), value_.data(), rest_.data()};
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::build_groups() {
  std::size_t families = 0;
  bool creeps = false;
  for (const auto& material : scene_.materials) {
    families = std::max(families, material.fibers.size());
    creeps = creeps || std::holds_alternative<scene::Creep>(material.plastic);
  }
  fiber_ = {queue_, families * particles()};
  if (creeps) {
    plastic_ = {queue_, particles()};
    plastic_.clear_bytes();
  }
  if (families > 0) upload_fibers(families);

  const double dt = scene_.solver.time_step;
  for (std::size_t m = 0; m < scene_.materials.size(); ++m) {
    const auto& source = scene_.materials[m];
    Group group;
    group.range = particles_.of_material[m];
    if (group.range.count == 0) continue;
    group.material = make_material(source);
    const double modulus = source.elastic.youngs_modulus;
    group.constants.inverse_squared_step = Real(1 / (dt * dt));
    group.constants.penalty = Real(scene_.solver.hourglass * modulus);
    group.constants.held_part = Real(held_part(scene_.solver));
    // A strain of one rounding unit has no direction left.
    group.constants.tiny = Real(double(std::numeric_limits<Real>::epsilon()) * std::sqrt(modulus));
    group.constants.violation_scale = Real(1 / std::sqrt(modulus));
    group.constants.printed_constraint = scene_.solver.constraint == scene::Constraint::energy;
    if (scene_.solver.scheme == scene::Scheme::gauss_seidel) {
      const auto blocks = colour_blocks(scene_, particles_, group.range);
      group.block_start = {queue_, blocks.start};
      group.block_member = {queue_, blocks.member};
      group.colour = blocks.colour;
    }
    groups_.push_back(std::move(group));
  }
  if (scene_.solver.scheme == scene::Scheme::jacobi) line_ = {queue_, particles()};
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::upload_fibers(std::size_t families) {
  const std::size_t n = particles();
  std::vector<Vec4<Real>> fibers(families * n, padded(Vec3<Real>{Real(1), Real(0), Real(0)}));
  for (std::size_t i = 0; i < n; ++i) {
    const auto& body = scene_.bodies[particles_.body[i]];
    const auto& material = scene_.materials[body.material];
    for (std::size_t f = 0; f < material.fibers.size(); ++f)
      fibers[f * n + i] = padded(to_vec3<Real>(fiber_direction(material.fibers[f], body.shape, particles_.rest[i])),
                                 Real(material.fibers[f].stiffness));
  }
  fiber_.upload(fibers);
}

template <class Real, int Columns>
auto TotalLagrangian<Real, Columns>::make_material(const scene::Material& source) -> Material {
  const FiberField<Real> fibers{fiber_.data(), std::uint32_t(source.fibers.size()), particles()};
  if (const auto* creep = std::get_if<scene::Creep>(&source.plastic))
    return Point<Creep<Real>>{creep_law<Real>(*creep, source.elastic), fibers, plastic_.data()};
  return with_elastic_law<Real>(source.elastic, [&]<class Law>(const Law& law) -> Material {
    return Point<Law>{law, fibers};
  });
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::begin_step() {
  if (hold(time())) build_moments();
  if (cuts_.active() && cuts_.sever(queue_, scene_, lists_, position_.data(), time(), time() + scene_.solver.time_step))
    drop_severed();
  this->predict();
  if (bodies_touch_.active())
    bodies_touch_.find_pairs(queue_, position_.data(),
                             detail::knows_rotations(scene_.solver.gradient) ? displacement_gradient_.data() : nullptr,
                             this->farthest_move(bodies_touch_.farthest_reach()));
}

/// After a cut: gradients without the severed pairs, contact between the pieces.
template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::drop_severed() {
  cuts_.update_pieces(lists_, particles_.id);
  launch(queue_, "cuts", weight_.size(), DropSevered<Real>{cuts_.severed().data(), weight_.data(), value_.data()});
  find_missing();
  build_moments();
  evaluate();
  if (bodies_touch_.active()) bodies_touch_.cut(queue_, cuts_.pieces(), cuts_.pairs(lists_));
}

template <class Real, int Columns>
std::vector<std::uint32_t> TotalLagrangian<Real, Columns>::pieces() {
  return cuts_.active() ? cuts_.pieces().of_particle : find_pieces(lists_, {}, particles_.id).of_particle;
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::iterate() {
  for (int k = 0; k < scene_.solver.iterations; ++k) {
    const bool last = k + 1 == scene_.solver.iterations;
    for (auto& group : groups_) {
      group.constants.relaxation = this->relaxation(k);
      scene_.solver.scheme == scene::Scheme::jacobi ? sweep_jacobi(group, last) : sweep_gauss_seidel(group, last);
    }
    if (scene_.solver.scheme == scene::Scheme::jacobi) apply_corrections();
    if (bodies_touch_.active()) bodies_touch_.resolve(queue_, increment_.data(), held_.data());
    this->resolve_colliders();
  }
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::sweep_jacobi(Group& group, bool last) {
  std::visit(
      [&](const auto& material) {
        const auto update = [&]<bool Penalty>() {
          constexpr int width = multiplier_width;
          const Range& range = group.range;
          launch(queue_, "xpbd.multipliers", (range.count + width - 1) / width,
                 UpdateMultipliers<Real, Columns, Penalty, std::decay_t<decltype(material)>, width>{
                     pairs(), moments(), spread_.data(), missing_.data(), position_.data(), increment_.data(),
                     displacement_gradient_.data(), material, group.constants, range.first, range.first + range.count,
                     multiplier_.data(), last ? violation_.data() : nullptr, line_.data()});
        };
        scene_.solver.hourglass > 0 ? update.template operator()<true>() : update.template operator()<false>();
      },
      group.material);
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::apply_corrections() {
  const auto apply = [&]<bool Penalty>() {
    launch(queue_, "xpbd.corrections", particles(),
           ApplyCorrections<Real, Columns, Penalty, corrections_ahead>{
               pairs(), moments(), line_.data(), position_.data(), particles(), increment_.data(), held_.data()});
  };
  scene_.solver.hourglass > 0 ? apply.template operator()<true>() : apply.template operator()<false>();
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::sweep_gauss_seidel(Group& group, bool last) {
  std::visit(
      [&](const auto& material) {
        for (const Range& colour : group.colour)
          launch(
              queue_, "xpbd.sweep", colour.count,
              SolveBlocks<Real, Columns, std::decay_t<decltype(material)>>{
                  pairs(), moments(), spread_.data(), missing_.data(), position_.data(), displacement_gradient_.data(),
                  material, group.constants, group.block_start.data() + colour.first, group.block_member.data(),
                  increment_.data(), multiplier_.data(), last ? violation_.data() : nullptr, held_.data()});
      },
      group.material);
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::end_step() {
  const double dt = scene_.solver.time_step;
  this->take_step();
  evaluate();
  for (auto& group : groups_)
    if (const auto* creep = std::get_if<Point<Creep<Real>>>(&group.material))
      launch(
          queue_, "xpbd.creep", group.range.count,
          UpdateCreep<Real>{creep->law, displacement_gradient_.data(), Real(dt), group.range.first, plastic_.data()});
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::evaluate() {
  for (auto& group : groups_)
    std::visit(
        [&](const auto& material) {
          launch(queue_, "xpbd.evaluate", group.range.count,
                 Evaluate<Real, Columns, std::decay_t<decltype(material)>>{
                     pairs(), moments(), missing_.data(), position_.data(), material, group.constants.penalty,
                     group.range.first, displacement_gradient_.data(), energy()});
        },
        group.material);
}

template <class Real, int Columns>
StepReport TotalLagrangian<Real, Columns>::advance() {
  begin_step();
  iterate();
  end_step();
  StepReport report = this->step_done();
  report.iterations = scene_.solver.iterations;
  return report;
}

template <class Real, int Columns>
std::vector<Mat3<Real>> TotalLagrangian<Real, Columns>::cauchy_stress() {
  DeviceArray<Mat3<Real>> stress(queue_, particles());
  for (auto& group : groups_)
    std::visit(
        [&](const auto& material) {
          launch(queue_, "output.stress", group.range.count,
                 CauchyStress<Real, std::decay_t<decltype(material)>>{displacement_gradient_.data(), material,
                                                                      group.range.first, stress.data()});
        },
        group.material);
  return stress.download();
}

template <class Real, int Columns>
std::vector<StateBlock> TotalLagrangian<Real, Columns>::save() {
  std::vector<StateBlock> blocks;
  blocks.push_back(pack("position", position_));
  blocks.push_back(pack("velocity", velocity_));
  if (!plastic_.empty()) blocks.push_back(pack("plastic_strain", plastic_));
  cuts_.save(blocks);
  return blocks;
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::restore(long long step, const std::vector<StateBlock>& blocks) {
  unpack(blocks, "position", position_);
  unpack(blocks, "velocity", velocity_);
  if (!plastic_.empty()) unpack(blocks, "plastic_strain", plastic_);
  step_ = step;
  // As the run that wrote the state left it: what was held in its last step is still held.
  hold(time() - scene_.solver.time_step);
  build_moments();
  if (cuts_.restore(blocks)) drop_severed();
  evaluate();
  this->start_from_here();
}

}  // namespace ductile
