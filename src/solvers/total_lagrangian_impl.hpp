#pragma once

// Definitions of TotalLagrangian, included by one source file per precision and gradient so that they build side by
// side.

#include "solvers/total_lagrangian.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "common/error.hpp"
#include "kernels/neighbors/cell_grid.hpp"
#include "kernels/smoothing/kernels.hpp"
#include "runtime/algorithms.hpp"
#include "solvers/motion.hpp"

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

/// Calls use(kernel) with the smoothing kernel of the given support radius.
template <class Real, class Use>
void with_smoothing(scene::SmoothingKernel kernel, Real support, const Use& use) {
  switch (kernel) {
    case scene::SmoothingKernel::wendland:
      return use(Wendland<Real, 3>(support));
    case scene::SmoothingKernel::poly6:
      return use(Poly6<Real, 3>(support));
    case scene::SmoothingKernel::spiky:
      return use(Spiky<Real, 3>(support));
    case scene::SmoothingKernel::cubic:
      return use(CubicSpline<Real, 3>(support));
    case scene::SmoothingKernel::cosine:
      return use(Cosine<Real, 3>(support));
  }
}

template <class T>
StateBlock pack(const char* name, const DeviceArray<T>& array) {
  const auto values = array.download();
  StateBlock block{name, std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(block.bytes.data(), values.data(), block.bytes.size());
  return block;
}

template <class T>
void unpack(const std::vector<StateBlock>& blocks, const char* name, DeviceArray<T>& array) {
  for (const auto& block : blocks) {
    if (block.name != name || block.bytes.size() != array.size() * sizeof(T)) continue;
    std::vector<T> values(array.size());
    if (!values.empty()) std::memcpy(values.data(), block.bytes.data(), block.bytes.size());
    return array.upload(values);
  }
  throw InputError(fmt::format("The checkpoint has no block \"{}\" of this scene's size.", name));
}

}  // namespace detail

template <class Real, int Columns>
TotalLagrangian<Real, Columns>::TotalLagrangian(const scene::Scene& scene, Queue& queue)
    : scene_(scene), queue_(queue), particles_(sample(scene)) {
  upload_particles();
  build_pairs();
  build_groups();
  build_fixtures();
  build_probes();
  for (const auto& collider : scene_.colliders) {
    try {
      (void)place_collider<Real>(collider, 0, 0);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: collider \"{}\": {}", scene_.file.string(), collider.name, error.what()));
    }
  }
  if (!scene_.colliders.empty()) {
    collider_ = DeviceArray<Collider<Real>>(queue_, scene_.colliders.size());
    contact_ = DeviceArray<Vec4<Real>>(queue_, particles());
  }
  if (scene_.contact.enabled)
    bodies_touch_ = BodyContact<Real>(queue_, scene_, particles_, radius_.data(), rest_.data());
  hold(0);
  evaluate();
  max_speed_ = sums().max_speed;
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::upload_particles() {
  const std::size_t n = particles();
  std::vector<Vec4<Real>> rest(n), position(n), velocity(n);
  std::vector<Real> mass(n), radius(n);
  body_of_id_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto& body = scene_.bodies[particles_.body[i]];
    const Eigen::Vector3d& X = particles_.rest[i];
    const double m = scene_.materials[body.material].density * particles_.volume[i];
    rest[i] = padded(to_vec3<Real>(X), Real(particles_.volume[i]));
    position[i] = padded(to_vec3<Real>(X), Real(1 / m));
    velocity[i] = padded(to_vec3<Real>(body.velocity + body.angular_velocity.cross(X - body.shape.position)));
    mass[i] = Real(m);
    radius[i] = Real(body.spacing / 2);
    body_of_id_[particles_.id[i]] = std::int32_t(particles_.body[i]);
  }
  rest_ = {queue_, rest};
  position_ = {queue_, position};
  velocity_ = {queue_, velocity};
  mass_ = {queue_, mass};
  radius_ = {queue_, radius};
  increment_ = {queue_, n};
  multiplier_ = {queue_, n};
  violation_ = {queue_, n};
  violation_.fill(Real(0));
  energy_ = {queue_, n};
  displacement_gradient_ = {queue_, n};
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
  pair_ = {queue_, lists_.index.size()};
  if (Columns == 4) value_ = {queue_, lists_.index.size()};
  moments_ = {queue_, n};
  const GradientKind kind = detail::kind_of(scene_.solver.gradient);
  if (kind != GradientKind::least_squares && scene_.solver.hourglass > 0) spread_ = {queue_, n};
  // Bodies of one spacing share a kernel; each body is one run of particles.
  for (std::size_t begin = 0, end = 0; begin < n; begin = end) {
    while (end < n && particles_.body[end] == particles_.body[begin]) ++end;
    const Real support = Real(scene_.solver.smoothing.support * scene_.bodies[particles_.body[begin]].spacing);
    detail::with_smoothing<Real>(scene_.solver.smoothing.kernel, support, [&](auto smoothing) {
      launch(queue_, "xpbd.weights", end - begin,
             WeighPairs<Real, decltype(smoothing)>{lists_.start.data(), lists_.index.data(), rest_.data(), smoothing,
                                                   kind == GradientKind::mlsrk_linear, begin, pair_.data(),
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
    detail::with_smoothing<Real>(scene_.solver.smoothing.kernel, support, [&](auto smoothing) {
      launch(queue_, "xpbd.moments", end - begin,
             BuildMoments<Real, Columns>{pairs(), position_.data(), detail::kind_of(scene_.solver.gradient),
                                         smoothing.value(Real(0)), Real(0.05), begin, moments_.data(), spread_.data()});
    });
  }
}

template <class Real, int Columns>
RestNeighbors<Real> TotalLagrangian<Real, Columns>::pairs() const {
  return {lists_.start.data(), lists_.index.data(), pair_.data(), value_.data(), rest_.data()};
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
    // A strain of one rounding unit has no direction left.
    group.constants.tiny = Real(double(std::numeric_limits<Real>::epsilon()) * std::sqrt(modulus));
    group.constants.violation_scale = Real(1 / std::sqrt(modulus));
    group.constants.relaxation = Real(scene_.solver.scheme == scene::Scheme::jacobi ? scene_.solver.relaxation : 1.0);
    group.constants.printed_constraint = scene_.solver.constraint == scene::Constraint::energy;
    if (scene_.solver.scheme == scene::Scheme::gauss_seidel) {
      const auto blocks = colour_blocks(scene_, particles_, group.range);
      group.block_start = {queue_, blocks.start};
      group.block_member = {queue_, blocks.member};
      group.colour = blocks.colour;
    }
    groups_.push_back(std::move(group));
  }
  if (scene_.solver.scheme == scene::Scheme::jacobi) corrected_ = {queue_, particles()};
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
  const auto& elastic = source.elastic;
  const auto lame = Lame<double>::from(elastic.youngs_modulus, elastic.poisson_ratio);
  const Real mu = Real(lame.mu), lambda = Real(lame.lambda), critical = Real(elastic.inversion_below);
  const FiberField<Real> fibers{fiber_.data(), std::uint32_t(source.fibers.size()), particles()};
  if (const auto* creep = std::get_if<scene::Creep>(&source.plastic)) {
    const Creep<Real> law{InversionSafe<StVK<Real>>{{mu, lambda}, critical}, Real(creep->yield_strain),
                          Real(creep->rate), Real(creep->max_strain), creep->deviatoric};
    return Point<Creep<Real>>{law, fibers, plastic_.data()};
  }
  switch (elastic.model) {
    case scene::ElasticModel::linear:
      return Point<Linear<Real>>{{mu, lambda}, fibers};
    case scene::ElasticModel::corotated:
      return Point<Corotated<Real>>{{mu, lambda}, fibers};
    case scene::ElasticModel::fixed_corotated:
      return Point<FixedCorotated<Real>>{{mu, lambda}, fibers};
    case scene::ElasticModel::stvk:
      return Point<InversionSafe<StVK<Real>>>{{{mu, lambda}, critical}, fibers};
    case scene::ElasticModel::hencky:
      return Point<InversionSafe<Hencky<Real>>>{{{mu, lambda}, critical}, fibers};
    case scene::ElasticModel::neo_hookean:
      break;
  }
  return Point<InversionSafe<NeoHookean<Real>>>{{{mu, lambda}, critical}, fibers};
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::build_fixtures() {
  for (const auto& source : scene_.fixtures) {
    const auto member = select(particles_, source.body, &source.region);
    if (member.empty())
      throw InputError(
          fmt::format("{}: fixture \"{}\": its region holds no particle of body \"{}\". Regions are in world "
                      "coordinates at rest; particles sit half a spacing inside the body.",
                      scene_.file.string(), source.name, scene_.bodies[source.body].name));
    Fixture fixture;
    fixture.member = {queue_, member};
    for (const auto i : member)
      fixture.mass += scene_.materials[scene_.bodies[source.body].material].density * particles_.volume[i];
    fixtures_.push_back(std::move(fixture));
  }
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::build_probes() {
  for (const auto& source : scene_.probes) {
    Probe probe;
    if (source.quantity == scene::Probe::Quantity::reaction) {
      if (held_.empty()) held_ = {queue_, particles()};
      held_.clear_bytes();
    } else {
      const auto member = select(particles_, source.body, source.region ? &*source.region : nullptr);
      if (member.empty())
        throw InputError(
            fmt::format("{}: probe \"{}\": its region holds no particle of body \"{}\". Regions are in world "
                        "coordinates at rest; particles sit half a spacing inside the body.",
                        scene_.file.string(), source.name, scene_.bodies[source.body].name));
      probe.member = {queue_, member};
    }
    probes_.push_back(std::move(probe));
  }
  if (scene_.solver.scheme == scene::Scheme::jacobi) line_ = {queue_, particles()};
}

/// Gives every particle of an active fixture infinite mass and frees the others.
template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::hold(double now) {
  bool changed = moments_.empty() || step_ == 0;
  for (std::size_t f = 0; f < fixtures_.size(); ++f) {
    const auto& release = scene_.fixtures[f].release_at;
    // Half a step of slack: times are multiples of the step up to rounding.
    const bool active = !release || now < *release - 0.5 * scene_.solver.time_step;
    changed = changed || active != fixtures_[f].active;
    fixtures_[f].active = active;
  }
  if (!changed) return;
  launch(queue_, "xpbd.hold", particles(), SetInverseMass<Real>{nullptr, mass_.data(), position_.data()});
  for (const auto& fixture : fixtures_)
    if (fixture.active)
      launch(queue_, "xpbd.hold", fixture.member.size(),
             SetInverseMass<Real>{fixture.member.data(), mass_.data(), position_.data()});
  build_moments();
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::begin_step() {
  const double begin = time(), dt = scene_.solver.time_step, end = begin + dt;
  hold(begin);
  launch(queue_, "xpbd.begin", particles(),
         BeginStep<Real>{position_.data(), velocity_.data(), to_vec3<Real>(scene_.gravity), Real(dt), increment_.data(),
                         multiplier_.data()});
  // The first fixture that lists a particle moves it: drive in reverse order.
  for (std::size_t f = fixtures_.size(); f-- > 0;) {
    if (!fixtures_[f].active) continue;
    const Pose pose = pose_at(scene_.fixtures[f].motion, end);
    launch(
        queue_, "xpbd.begin", fixtures_[f].member.size(),
        DriveFixture<Real>{fixtures_[f].member.data(), rest_.data(), position_.data(), to_mat3<Real>(pose.rotation),
                           to_vec3<Real>(pose.about), to_vec3<Real>(pose.about_now - pose.about), increment_.data()});
  }
  if (!scene_.colliders.empty()) {
    std::vector<Collider<Real>> placed;
    for (const auto& collider : scene_.colliders) placed.push_back(place_collider<Real>(collider, begin, end));
    collider_.upload(placed);
    contact_.clear_bytes();
  }
  if (!held_.empty()) held_.clear_bytes();
  if (bodies_touch_.active()) bodies_touch_.find_pairs(queue_, position_.data(), farthest_move());
}

/// How far a particle may move in the next step. Corrections seldom speed it up by more than contact at its present
/// speed; what goes further is caught in the step after, because a layer of particles is thicker than one of them.
template <class Real, int Columns>
double TotalLagrangian<Real, Columns>::farthest_move() const {
  const double dt = scene_.solver.time_step;
  return 1.5 * dt * (max_speed_ + dt * scene_.gravity.norm());
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::iterate() {
  for (int k = 0; k < scene_.solver.iterations; ++k) {
    const bool last = k + 1 == scene_.solver.iterations;
    for (auto& group : groups_)
      scene_.solver.scheme == scene::Scheme::jacobi ? sweep_jacobi(group, last) : sweep_gauss_seidel(group, last);
    if (scene_.solver.scheme == scene::Scheme::jacobi) apply_corrections();
    if (bodies_touch_.active()) bodies_touch_.resolve(queue_, position_.data(), increment_.data());
    resolve_colliders();
  }
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::sweep_jacobi(Group& group, bool last) {
  std::visit(
      [&](const auto& material) {
        const auto update = [&]<bool Penalty>() {
          launch(queue_, "xpbd.multipliers", group.range.count,
                 UpdateMultipliers<Real, Columns, Penalty, std::decay_t<decltype(material)>>{
                     pairs(), moments_.data(), spread_.data(), position_.data(), increment_.data(),
                     displacement_gradient_.data(), material, group.constants, group.range.first, multiplier_.data(),
                     last ? violation_.data() : nullptr, line_.data()});
        };
        scene_.solver.hourglass > 0 ? update.template operator()<true>() : update.template operator()<false>();
      },
      group.material);
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::apply_corrections() {
  const auto apply = [&]<bool Penalty>() {
    launch(queue_, "xpbd.corrections", particles(),
           ApplyCorrections<Real, Columns, Penalty>{pairs(), line_.data(), position_.data(), increment_.data(),
                                                    corrected_.data(), held_.data()});
  };
  scene_.solver.hourglass > 0 ? apply.template operator()<true>() : apply.template operator()<false>();
  increment_.swap(corrected_);
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::sweep_gauss_seidel(Group& group, bool last) {
  std::visit(
      [&](const auto& material) {
        for (const Range& colour : group.colour)
          launch(queue_, "xpbd.sweep", colour.count,
                 SolveBlocks<Real, Columns, std::decay_t<decltype(material)>>{
                     pairs(), moments_.data(), spread_.data(), position_.data(), displacement_gradient_.data(),
                     material, group.constants, group.block_start.data() + colour.first, group.block_member.data(),
                     increment_.data(), multiplier_.data(), last ? violation_.data() : nullptr, held_.data()});
      },
      group.material);
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::resolve_colliders() {
  if (scene_.colliders.empty()) return;
  launch(queue_, "contact.colliders", particles(),
         ResolveColliders<Real>{collider_.data(), std::uint32_t(collider_.size()), position_.data(), radius_.data(),
                                increment_.data(), contact_.data()});
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::end_step() {
  const double dt = scene_.solver.time_step;
  launch(queue_, "xpbd.end", particles(),
         EndStep<Real>{increment_.data(), Real(1 / dt), Real(std::exp(-scene_.solver.damping * dt)), position_.data(),
                       velocity_.data()});
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
                     pairs(), moments_.data(), position_.data(), material, group.constants.penalty, group.range.first,
                     displacement_gradient_.data(), energy_.data()});
        },
        group.material);
}

template <class Real, int Columns>
StepReport TotalLagrangian<Real, Columns>::advance() {
  begin_step();
  iterate();
  end_step();
  StepReport report = sums();
  max_speed_ = report.max_speed;
  ++step_;
  report.iterations = scene_.solver.iterations;
  return report;
}

template <class Real, int Columns>
StepReport TotalLagrangian<Real, Columns>::measure() {
  StepReport report = sums();
  report.residual = 0;
  return report;
}

template <class Real, int Columns>
StepReport TotalLagrangian<Real, Columns>::sums() {
  return queue_.device().double_precision ? reduce_sums<double>() : reduce_sums<float>();
}

template <class Real, int Columns>
template <class Sum>
StepReport TotalLagrangian<Real, Columns>::reduce_sums() {
  const auto sums =
      reduce<StepSums<Sum>>(queue_, "measure", particles(),
                            MeasureParticle<Real, Sum>{rest_.data(), position_.data(), velocity_.data(), mass_.data(),
                                                       displacement_gradient_.data(), energy_.data(), violation_.data(),
                                                       to_vec3<Sum>(scene_.gravity)});
  queue_.wait();
  if (sums.bad != 0xFFFFFFFFu) diverged(sums.bad);
  const auto vector = [](const Vec3<Sum>& v) { return Eigen::Vector3d(double(v.x), double(v.y), double(v.z)); };
  StepReport report;
  report.kinetic_energy = double(sums.kinetic);
  report.elastic_energy = double(sums.elastic);
  report.gravity_energy = double(sums.gravity);
  report.momentum = vector(sums.momentum);
  report.angular_momentum = vector(sums.angular_momentum);
  report.max_speed = std::sqrt(double(sums.squared_speed));
  report.min_volume_ratio = double(sums.volume_ratio);
  report.residual = std::sqrt(double(sums.squared_violation) / double(particles()));
  return report;
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::diverged(std::size_t particle) {
  const auto& body = scene_.bodies[particles_.body[particle]];
  const Eigen::Vector3d& X = particles_.rest[particle];
  throw DivergenceError(fmt::format(
      "The simulation diverged in step {} (t = {:.6g} s): particle {} of body \"{}\", at rest at ({:.4g}, {:.4g}, "
      "{:.4g}), "
      "was torn away or is no longer a number. The time step is too long for the material, or too few iterations were "
      "made: try --set solver.time_step={:.3g}, more iterations{}.",
      step_ + 1, time() + scene_.solver.time_step, particles_.id[particle], body.name, X.x(), X.y(), X.z(),
      scene_.solver.time_step / 2,
      scene_.solver.scheme == scene::Scheme::jacobi ? ", a smaller relaxation, or the gauss-seidel scheme" : ""));
}

template <class Real, int Columns>
std::vector<double> TotalLagrangian<Real, Columns>::probe() {
  std::vector<double> values;
  for (std::size_t p = 0; p < probes_.size(); ++p) {
    const auto& source = scene_.probes[p];
    const Eigen::Vector3d value = source.quantity == scene::Probe::Quantity::reaction
                                      ? reaction(fixtures_[source.fixture], scene_.fixtures[source.fixture])
                                      : mean_of(position_, probes_[p].member);
    values.insert(values.end(), {value.x(), value.y(), value.z()});
  }
  return values;
}

template <class Real, int Columns>
Eigen::Vector3d TotalLagrangian<Real, Columns>::mean_of(const DeviceArray<Vec4<Real>>& values,
                                                        const DeviceArray<std::uint32_t>& member) {
  DeviceArray<Vec4<Real>> gathered(queue_, member.size());
  launch(queue_, "probes", member.size(), GatherPositions<Real>{member.data(), values.data(), gathered.data()});
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (const auto& x : gathered.download()) sum += Eigen::Vector3d(double(x[0]), double(x[1]), double(x[2]));
  return sum / double(member.size());
}

/// Force that the fixture exerts on the body in the last step: mass times acceleration less the weight and what the
/// constraints did to the held particles. It balances the momentum of the body to rounding, converged or not.
template <class Real, int Columns>
Eigen::Vector3d TotalLagrangian<Real, Columns>::reaction(const Fixture& fixture, const scene::Fixture& source) {
  if (!fixture.active) return Eigen::Vector3d::Zero();
  const double dt = scene_.solver.time_step;
  const Eigen::Vector3d elastic = mean_of(held_, fixture.member) * double(fixture.member.size()) / (dt * dt);
  const Eigen::Vector3d arm = mean_of(position_, fixture.member) - pose_at(source.motion, time()).about_now;
  const Eigen::Vector3d& spin = source.motion.angular_velocity;
  return fixture.mass * (spin.cross(spin.cross(arm)) - scene_.gravity) - elastic;
}

template <class Real, int Columns>
template <class T, class Get>
ParticleField TotalLagrangian<Real, Columns>::by_id(const char* name, int components, const std::vector<T>& values,
                                                    Get get) const {
  std::vector<Real> ordered(values.size() * std::size_t(components));
  for (std::size_t i = 0; i < values.size(); ++i)
    get(values[i], ordered.data() + std::size_t(particles_.id[i]) * std::size_t(components));
  return {name, components, std::move(ordered)};
}

namespace detail {

template <class Real>
void put_vector(const Vec4<Real>& v, Real* out) {
  for (int k = 0; k < 3; ++k) out[k] = v[k];
}

template <class Real>
void put_matrix(const Mat3<Real>& a, Real* out) {
  std::copy(std::begin(a.m), std::end(a.m), out);
}

/// sqrt(3/2) |dev sigma|
template <class Real>
Real von_mises(const Mat3<Real>& stress) {
  return std::sqrt(Real(1.5) * squared_norm(deviator(stress)));
}

}  // namespace detail

template <class Real, int Columns>
ParticleField TotalLagrangian<Real, Columns>::positions() {
  return by_id("position", 3, position_.download(), detail::put_vector<Real>);
}

template <class Real, int Columns>
ParticleField TotalLagrangian<Real, Columns>::field(scene::Field which) {
  const auto identity = Mat3<Real>::identity();
  switch (which) {
    case scene::Field::velocity:
      return by_id("velocity", 3, velocity_.download(), detail::put_vector<Real>);
    case scene::Field::deformation_gradient:
      return by_id("deformation_gradient", 9, displacement_gradient_.download(),
                   [&](const Mat3<Real>& H, Real* out) { detail::put_matrix<Real>(identity + H, out); });
    case scene::Field::volume_ratio:
      return by_id("volume_ratio", 1, displacement_gradient_.download(),
                   [&](const Mat3<Real>& H, Real* out) { *out = determinant(identity + H); });
    case scene::Field::cauchy_stress:
      return by_id("cauchy_stress", 9, cauchy_stress(), detail::put_matrix<Real>);
    case scene::Field::von_mises_stress:
      break;
  }
  return by_id("von_mises_stress", 1, cauchy_stress(),
               [](const Mat3<Real>& stress, Real* out) { *out = detail::von_mises(stress); });
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
  blocks.push_back(detail::pack("position", position_));
  blocks.push_back(detail::pack("velocity", velocity_));
  if (!plastic_.empty()) blocks.push_back(detail::pack("plastic_strain", plastic_));
  return blocks;
}

template <class Real, int Columns>
void TotalLagrangian<Real, Columns>::restore(long long step, const std::vector<StateBlock>& blocks) {
  detail::unpack(blocks, "position", position_);
  detail::unpack(blocks, "velocity", velocity_);
  if (!plastic_.empty()) detail::unpack(blocks, "plastic_strain", plastic_);
  step_ = step;
  // As the run that wrote the state left it: what was held in its last step is still held.
  hold(time() - scene_.solver.time_step);
  evaluate();
  max_speed_ = sums().max_speed;
}

}  // namespace ductile
