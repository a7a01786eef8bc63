#include "solvers/particle_solver.hpp"

#include <Eigen/Geometry>
#include <cmath>
#include <limits>

#include "kernels/neighbors/cell_grid.hpp"
#include "runtime/algorithms.hpp"
#include "solvers/motion.hpp"
#include "solvers/smoothing.hpp"

namespace ductile {

namespace {

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

}  // namespace

template <class Real>
ParticleSolver<Real>::ParticleSolver(const scene::Scene& scene, Queue& queue)
    : scene_(scene), queue_(queue), particles_(sample(scene, &queue.device())) {
  refuse_empty_regions(scene_, particles_);
  upload_particles();
  build_fixtures();
  build_probes();
  colliders_ = Colliders<Real>(queue_, scene_, particles_);
  const double farthest = 0.5 * finest_spacing(scene_) / double(std::numeric_limits<Real>::epsilon());
  sound_ = {Real(farthest * farthest)};
}

template <class Real>
void ParticleSolver<Real>::upload_particles() {
  const std::size_t n = particles();
  std::vector<Vec4<Real>> rest(n), position(n), velocity(n);
  std::vector<Real> mass(n), radius(n);
  body_of_id_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto& body = scene_.bodies[particles_.body[i]];
    const Eigen::Vector3d& X = particles_.rest[i];
    const double m = scene_.materials[body.material].density * particles_.volume[i];
    const Eigen::Vector3d x = initial_position(body, X, particles_.id[i]);
    rest[i] = padded(to_vec3<Real>(X), Real(particles_.volume[i]));
    position[i] = padded(to_vec3<Real>(x), Real(1 / m));
    velocity[i] = padded(to_vec3<Real>(body.velocity + body.angular_velocity.cross(x - body.shape.position)));
    mass[i] = Real(m);
    radius[i] = Real(body.spacing / 2);
    body_of_id_[particles_.id[i]] = std::int32_t(particles_.body[i]);
  }
  rest_ = {queue_, rest};
  position_ = {queue_, position};
  velocity_ = {queue_, velocity};
  mass_ = {queue_, mass};
  if (scene_.solver.method == scene::Method::xpbi || scene_.contact.enabled || !scene_.colliders.empty())
    radius_ = {queue_, radius};
  increment_ = {queue_, n};
  multiplier_ = {queue_, n};
  multiplier_.fill(Real(0));
  violation_ = {queue_, n};
  violation_.fill(Real(0));
  displacement_gradient_ = {queue_, n};
}

template <class Real>
void ParticleSolver<Real>::build_fixtures() {
  for (const auto& source : scene_.fixtures) {
    const auto member = select(particles_, source.body, &source.region);
    Fixture fixture;
    fixture.member = {queue_, member};
    for (const auto i : member)
      fixture.mass += scene_.materials[scene_.bodies[source.body].material].density * particles_.volume[i];
    fixtures_.push_back(std::move(fixture));
  }
}

template <class Real>
void ParticleSolver<Real>::build_probes() {
  for (const auto& source : scene_.probes) {
    Probe probe;
    if (source.quantity == scene::Probe::Quantity::reaction) {
      if (held_.empty()) held_ = {queue_, particles()};
      held_.clear_bytes();
    } else {
      const auto member = select(particles_, source.body, source.region ? &*source.region : nullptr);
      probe.member = {queue_, member};
    }
    probes_.push_back(std::move(probe));
  }
}

template <class Real>
bool ParticleSolver<Real>::hold(double now) {
  bool changed = step_ == 0;
  for (std::size_t f = 0; f < fixtures_.size(); ++f) {
    const auto& release = scene_.fixtures[f].release_at;
    // Half a step of slack: times are multiples of the step up to rounding.
    const bool active = !release || now < *release - 0.5 * scene_.solver.time_step;
    changed = changed || active != fixtures_[f].active;
    fixtures_[f].active = active;
  }
  if (!changed) return false;
  launch(queue_, "step.hold", particles(), SetInverseMass<Real>{nullptr, mass_.data(), position_.data()});
  for (const auto& fixture : fixtures_)
    if (fixture.active)
      launch(queue_, "step.hold", fixture.member.size(),
             SetInverseMass<Real>{fixture.member.data(), mass_.data(), position_.data()});
  return true;
}

template <class Real>
double ParticleSolver<Real>::farthest_move(double followed) const {
  const double dt = scene_.solver.time_step;
  const double move = 1.5 * dt * (last_.max_speed + dt * scene_.gravity.norm());
  if (move <= followed) return move;
  const auto velocity = velocity_.download();
  const auto fastest = std::size_t(
      std::ranges::max_element(velocity, {}, [](const auto& v) { return squared_norm(xyz(v)); }) - velocity.begin());
  const Vec4<Real> x = position_.download()[fastest];
  throw SimulationError(fmt::format(
      "Bodies move too far in step {} (t = {:.6g} s) to find what they touch on the way: particle {} of body \"{}\", "
      "now "
      "at ({:.4g}, {:.4g}, {:.4g}), may go {:.3g} m, and {:.2g} m can be followed. Make the time step {:.1g} times as "
      "long.",
      step_ + 1, time() + dt, particles_.id[fastest], scene_.bodies[particles_.body[fastest]].name, double(x[0]),
      double(x[1]), double(x[2]), move, followed, 0.5 * followed / move));
}

template <class Real>
void ParticleSolver<Real>::resolve_colliders() {
  colliders_.resolve(queue_, position_.data(), radius_.data(), increment_.data());
}

template <class Real>
Real ParticleSolver<Real>::relaxation(int iteration) const {
  if (scene_.solver.scheme == scene::Scheme::jacobi) return Real(scene_.solver.relaxation);
  return iteration == 0 && scene_.solver.iterations > 1 ? Real(0.5) : Real(1);
}

template <class Real>
StepReport ParticleSolver<Real>::measure() {
  StepReport report = sums();
  report.residual = 0;
  return report;
}

template <class Real>
double ParticleSolver<Real>::residual() {
  const auto sum = reduce<SumOfSquares<Real>>(queue_, "measure", particles(), SquareOf<Real>{violation_.data()});
  return std::sqrt(double(sum.value) / double(particles()));
}

template <class Real>
void ParticleSolver<Real>::start_from_here() {
  last_ = sums();
}

template <class Real>
StepReport ParticleSolver<Real>::step_done() {
  const StepReport report = sums();
  check_energy(report);
  last_ = report;
  ++step_;
  return report;
}

/// A solve that fails leaves strains of more than 1 open in most particles, or throws some far away, and makes energy
/// out of nothing; laws that stiffen keep such a state from growing without bounds. Fixtures and colliders that move
/// may bring any energy.
template <class Real>
void ParticleSolver<Real>::check_energy(const StepReport& report) const {
  const auto moving = [](const StepReport& at) { return at.kinetic_energy + at.elastic_energy; };
  const double gain = moving(report) - moving(last_) + (report.gravity_energy - last_.gravity_energy);
  const auto still = [](const auto& driven) { return driven.motion.still(); };
  const bool thrown = report.max_speed * scene_.solver.time_step > 100 * finest_spacing(scene_);
  if ((report.residual < 1 && !thrown) || gain < moving(last_) ||
      !std::all_of(scene_.fixtures.begin(), scene_.fixtures.end(), still) ||
      !std::all_of(scene_.colliders.begin(), scene_.colliders.end(), still))
    return;
  if (thrown) {
    const auto velocity = velocity_.download();
    const auto slower = [](const auto& a, const auto& b) { return squared_norm(xyz(a)) < squared_norm(xyz(b)); };
    const auto fastest = std::size_t(std::max_element(velocity.begin(), velocity.end(), slower) - velocity.begin());
    throw divergence(fastest, fmt::format(" was thrown away with {:.3g} m/s, and {:.3g} J became {:.3g} J. {}.",
                                          report.max_speed, moving(last_), moving(report), remedy()));
  }
  const auto open = violation_.download();
  const auto less = [](Real a, Real b) { return std::abs(a) < std::abs(b); };
  const auto worst = std::size_t(std::max_element(open.begin(), open.end(), less) - open.begin());
  throw divergence(worst, fmt::format(" and others have corrections that grew instead of settling: a strain of {:.3g} "
                                      "is left open, and {:.3g} J became {:.3g} J. {}.",
                                      std::abs(double(open[worst])), moving(last_), moving(report), remedy()));
}

template <class Real>
StepReport ParticleSolver<Real>::sums() {
  return queue_.device().double_precision ? reduce_sums<double>() : reduce_sums<float>();
}

template <class Real>
template <class Sum>
StepReport ParticleSolver<Real>::reduce_sums() {
  const auto sums = reduce<StepSums<Sum>>(
      queue_, "measure", particles(),
      MeasureParticle<Real, Sum>{rest_.data(), position_.data(), velocity_.data(), mass_.data(),
                                 displacement_gradient_.data(), energy(), violation_.data(),
                                 to_vec3<Sum>(scene_.gravity), sound_, Sum(held_part(scene_.solver))});
  queue_.wait();
  if (sums.bad != 0xFFFFFFFFu) throw divergence(sums.bad);
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

template <class Real>
DivergenceError ParticleSolver<Real>::divergence(std::size_t particle, const std::string& what) const {
  const Eigen::Vector3d& X = particles_.rest[particle];
  return DivergenceError(fmt::format(
      "The simulation diverged in step {} (t = {:.6g} s): particle {} of body \"{}\", at rest at ({:.4g}, {:.4g}, "
      "{:.4g}){}",
      step_ + 1, time() + scene_.solver.time_step, particles_.id[particle],
      scene_.bodies[particles_.body[particle]].name, X.x(), X.y(), X.z(), what));
}

template <class Real>
std::string ParticleSolver<Real>::remedy() const {
  const auto& solver = scene_.solver;
  return fmt::format(
      "The time step is too long for the material or its speed, or too few iterations were made: try --set "
      "solver.time_step={:.3g}, more iterations{}",
      solver.time_step / 2,
      solver.scheme == scene::Scheme::jacobi ? ", a smaller relaxation, or the gauss-seidel scheme" : "");
}

template <class Real>
DivergenceError ParticleSolver<Real>::divergence(std::size_t particle) const {
  const Mat3<Real> F = Mat3<Real>::identity() + displacement_gradient_.download()[particle];
  const Vec4<Real> at = position_.download()[particle];
  const Eigen::Vector3d x{double(at[0]), double(at[1]), double(at[2])};
  const double stretch = std::sqrt(double(squared_norm(F)));
  const auto& body = scene_.bodies[particles_.body[particle]];
  std::string what, cause;
  if (x.allFinite() && Sound<Real>::whole(F) && !sound_(F, at)) {
    what = "is farther from the origin than its precision can tell from its neighbours";
    cause =
        "Something gave it that speed, or it starts there: look at velocities, gravity, initial states and the motion "
        "of colliders and fixtures";
  } else if (x.allFinite() && std::isfinite(stretch) && !Sound<Real>::whole(F)) {
    what = fmt::format("was torn away from its neighbours (stretch {:.3g})", stretch);
    const bool started_so = step_ == 0 && !body.initial.at_rest();
    cause =
        (started_so ? "It starts far from its shape: look at initial.stretch and initial.scramble. " : "") + remedy();
  } else {
    what = !x.allFinite()            ? "is no longer a number"
           : !std::isfinite(stretch) ? "has a deformation that is no number"
                                     : "has an energy that is no number";
    std::string otherwise = remedy();
    otherwise[0] = 't';  // within a sentence
    cause = fmt::format(
        "A number of the body or of its material \"{}\" may be beyond what {} precision computes with: look at their "
        "values and at solver.hourglass. If those are sound, {}",
        scene_.materials[body.material].name, sizeof(Real) == 4 ? "single" : "double", otherwise);
  }
  return divergence(particle,
                    fmt::format(" and now at ({:.4g}, {:.4g}, {:.4g}), {}. {}.", x.x(), x.y(), x.z(), what, cause));
}

/// A step in which free fall alone carries bodies past everything shows nothing but contacts made on the way.
template <class Real>
void ParticleSolver<Real>::check_fall() const {
  Eigen::AlignedBox3d bounds;
  for (const auto& X : particles_.rest) bounds.extend(X);
  const double extent = bounds.diagonal().norm() + finest_spacing(scene_), dt = scene_.solver.time_step;
  const double fall = dt * dt * scene_.gravity.norm();
  if (fall < 10 * extent) return;
  throw divergence(0,
                   fmt::format(", falls {:.3g} m in one step, {:.3g} times the extent of all bodies. world.gravity or "
                               "solver.time_step is too large: try --set solver.time_step={:.3g}.",
                               fall, fall / extent, dt * std::sqrt(0.01 * extent / fall)));
}

template <class Real>
std::vector<double> ParticleSolver<Real>::probe() {
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

template <class Real>
Eigen::Vector3d ParticleSolver<Real>::mean_of(const DeviceArray<Vec4<Real>>& values,
                                              const DeviceArray<std::uint32_t>& member) {
  DeviceArray<Vec4<Real>> gathered(queue_, member.size());
  launch(queue_, "probes", member.size(), GatherPositions<Real>{member.data(), values.data(), gathered.data()});
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (const auto& x : gathered.download()) sum += Eigen::Vector3d(double(x[0]), double(x[1]), double(x[2]));
  return sum / double(member.size());
}

/// Force that the fixture exerts on the body in the last step: mass times acceleration less the weight and what the
/// constraints did to the held particles. It balances the momentum of the body to rounding, converged or not.
template <class Real>
Eigen::Vector3d ParticleSolver<Real>::reaction(const Fixture& fixture, const scene::Fixture& source) {
  if (!fixture.active) return Eigen::Vector3d::Zero();
  const double dt = scene_.solver.time_step;
  const Eigen::Vector3d elastic = mean_of(held_, fixture.member) * double(fixture.member.size()) / (dt * dt);
  const Eigen::Vector3d arm = mean_of(position_, fixture.member) - pose_at(source.motion, time()).about_now;
  const Eigen::Vector3d& spin = source.motion.angular_velocity;
  return fixture.mass * (spin.cross(spin.cross(arm)) - scene_.gravity) - elastic;
}

template <class Real>
ParticleField ParticleSolver<Real>::positions() {
  return by_id("position", 3, position_.download(), put_vector<Real>);
}

template <class Real>
ParticleField ParticleSolver<Real>::field(scene::Field which) {
  const auto identity = Mat3<Real>::identity();
  switch (which) {
    case scene::Field::velocity:
      return by_id("velocity", 3, velocity_.download(), put_vector<Real>);
    case scene::Field::deformation_gradient:
      return by_id("deformation_gradient", 9, displacement_gradient_.download(),
                   [&](const Mat3<Real>& H, Real* out) { put_matrix<Real>(identity + H, out); });
    case scene::Field::volume_ratio:
      return by_id("volume_ratio", 1, displacement_gradient_.download(),
                   [&](const Mat3<Real>& H, Real* out) { *out = determinant(identity + H); });
    case scene::Field::cauchy_stress:
      return by_id("cauchy_stress", 9, cauchy_stress(), put_matrix<Real>);
    case scene::Field::piece:
      return by_id<std::int32_t>("piece", 1, pieces(),
                                 [](std::uint32_t piece, std::int32_t* out) { *out = std::int32_t(piece); });
    case scene::Field::von_mises_stress:
      break;
  }
  return by_id("von_mises_stress", 1, cauchy_stress(),
               [](const Mat3<Real>& stress, Real* out) { *out = von_mises(stress); });
}

template <class Real>
void ParticleSolver<Real>::predict() {
  if (step_ == 0) check_fall();
  const double begin = time(), dt = scene_.solver.time_step, end = begin + dt;
  launch(queue_, "step.begin", particles(),
         BeginStep<Real>{position_.data(), velocity_.data(), to_vec3<Real>(scene_.gravity), Real(dt), increment_.data(),
                         multiplier_.data()});
  // The first fixture that lists a particle moves it: drive in reverse order.
  for (std::size_t f = fixtures_.size(); f-- > 0;) {
    if (!fixtures_[f].active) continue;
    const Pose before = pose_at(scene_.fixtures[f].motion, begin), after = pose_at(scene_.fixtures[f].motion, end);
    launch(
        queue_, "step.begin", fixtures_[f].member.size(),
        DriveFixture<Real>{fixtures_[f].member.data(), rest_.data(), position_.data(), to_mat3<Real>(before.rotation),
                           to_vec3<Real>(before.about), to_vec3<Real>(before.about_now - before.about),
                           to_mat3<Real>(after.rotation - before.rotation),
                           to_vec3<Real>(after.about_now - before.about_now), increment_.data()});
  }
  colliders_.begin_step(scene_, begin, end);
  if (!held_.empty()) held_.clear_bytes();
}

template <class Real>
void ParticleSolver<Real>::take_step() {
  const double dt = scene_.solver.time_step;
  launch(queue_, "step.end", particles(),
         EndStep<Real>{increment_.data(), to_vec3<Real>(scene_.gravity), Real(dt), Real(1 / dt),
                       Real(std::exp(-scene_.solver.damping * dt)), position_.data(), velocity_.data()});
}

template class ParticleSolver<float>;
template class ParticleSolver<double>;

}  // namespace ductile
