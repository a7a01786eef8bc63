#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "common/error.hpp"
#include "kernels/xpbd/step.hpp"
#include "runtime/device_array.hpp"
#include "solvers/body_contact.hpp"
#include "solvers/colliders.hpp"
#include "solvers/particles.hpp"
#include "solvers/solver.hpp"
#include "solvers/state_blocks.hpp"

namespace ductile {

/// What the particle methods share: the state of the particles, fixtures, colliders, probes, sums and outputs. The
/// unknown of a step is its increment x - x^n.
template <class Real>
class ParticleSolver : public Solver {
 public:
  ParticleSolver(const scene::Scene& scene, Queue& queue);

  [[nodiscard]] std::size_t particles() const override { return particles_.size(); }
  [[nodiscard]] const std::vector<std::int32_t>& body_of_particle() const override { return body_of_id_; }
  [[nodiscard]] long long step() const override { return step_; }
  [[nodiscard]] StepReport measure() override;
  [[nodiscard]] std::vector<double> probe() override;
  [[nodiscard]] ParticleField positions() override;
  [[nodiscard]] ParticleField field(scene::Field which) override;
  void change_fixture(std::size_t index, const scene::Fixture& fixture) override { scene_.fixtures[index] = fixture; }

 protected:
  struct Fixture {
    DeviceArray<std::uint32_t> member;
    double mass = 0;
    bool active = true;
  };
  struct Probe {
    DeviceArray<std::uint32_t> member;
  };

  /// Gives every particle of an active fixture infinite mass and frees the others; true if that changed anything.
  bool hold(double now);
  /// Free flight of the step from time(), driven fixtures, colliders in place, multipliers at zero.
  void predict();
  void resolve_colliders();
  /// Part of its corrections that an iteration applies. Gauss-Seidel takes half in the first one: a multiplier whose
  /// direction turns while it grows leaves a trace of where it began, and settled bodies then tremble from step to
  /// step.
  [[nodiscard]] Real relaxation(int iteration) const;
  /// The increment becomes the state.
  void take_step();
  /// How far a particle may move in the next step. Corrections seldom speed it up by more than contact at its present
  /// speed; what goes further is caught in the step after, because a layer of particles is thicker than one of them.
  /// Throws SimulationError where that is farther than contact can follow.
  [[nodiscard]] double farthest_move(double followed) const;
  /// The present state is what the next step starts from.
  void start_from_here();
  /// The same after a step. Throws DivergenceError if its corrections grew instead of settling.
  [[nodiscard]] StepReport step_done();
  /// As in StepReport.
  [[nodiscard]] double residual();
  [[nodiscard]] virtual std::vector<Mat3<Real>> cauchy_stress() = 0;
  /// What every particle hangs together with, in solver order; bodies unless a method can cut them.
  [[nodiscard]] virtual std::vector<std::uint32_t> pieces() { return particles_.body; }
  /// Energy density of every particle between steps, J/m^3. The multipliers of a step are done with before its energies
  /// are known, and begin at zero, so both have one place.
  [[nodiscard]] Real* energy() { return multiplier_.data(); }
  [[nodiscard]] double time() const { return double(step_) * scene_.solver.time_step; }

  template <class Number = Real, class T, class Get>
  [[nodiscard]] ParticleField by_id(const char* name, int components, const std::vector<T>& values, Get get) const {
    std::vector<Number> ordered(values.size() * std::size_t(components));
    for (std::size_t i = 0; i < values.size(); ++i)
      get(values[i], ordered.data() + std::size_t(particles_.id[i]) * std::size_t(components));
    return {name, components, std::move(ordered)};
  }

  scene::Scene scene_;
  Queue& queue_;
  Particles particles_;
  std::vector<std::int32_t> body_of_id_;
  long long step_ = 0;
  StepReport last_;  // after the last step

  DeviceArray<Vec4<Real>> rest_, position_, velocity_, increment_;
  DeviceArray<Real> mass_, multiplier_, violation_;
  DeviceArray<Real> radius_;  // empty where nothing asks for it
  DeviceArray<Mat3<Real>> displacement_gradient_;
  Colliders<Real> colliders_;
  DeviceArray<Vec4<Real>> held_;  // for reactions: impulse times dt on particles of infinite mass
  std::vector<Fixture> fixtures_;
  std::vector<Probe> probes_;

 private:
  void upload_particles();
  void build_fixtures();
  void build_probes();
  [[nodiscard]] StepReport sums();
  template <class Sum>
  [[nodiscard]] StepReport reduce_sums();
  void check_energy(const StepReport& report) const;
  /// Names the particle and its place at rest; `what` goes on with the sentence.
  [[nodiscard]] DivergenceError divergence(std::size_t particle, const std::string& what) const;
  /// Of a particle that is no longer sound.
  [[nodiscard]] DivergenceError divergence(std::size_t particle) const;
  /// Cause and remedy of a step that was too long, without the full stop.
  [[nodiscard]] std::string remedy() const;
  void check_fall() const;
  [[nodiscard]] Eigen::Vector3d mean_of(const DeviceArray<Vec4<Real>>& values,
                                        const DeviceArray<std::uint32_t>& member);
  [[nodiscard]] Eigen::Vector3d reaction(const Fixture& fixture, const scene::Fixture& source);

  Sound<Real> sound_;
};

}  // namespace ductile
