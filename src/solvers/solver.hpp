#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "runtime/queue.hpp"
#include "scene/scene.hpp"

namespace ductile {

/// One row of history.csv: the state after a step, SI units.
struct StepReport {
  double kinetic_energy = 0, elastic_energy = 0, gravity_energy = 0;
  Eigen::Vector3d momentum = Eigen::Vector3d::Zero(), angular_momentum = Eigen::Vector3d::Zero();
  double max_speed = 0, min_volume_ratio = 1;
  double residual = 0;  ///< root mean square of the constraints' violation over sqrt(E), dimensionless like a strain
  int iterations = 0;
  /// What is missing between inertia and forces of the implicit step, root mean square over that of the inertia; 0
  /// where it is not measured.
  double primal_residual = 0;
};

/// Values of one quantity for every particle, in id order.
struct ParticleField {
  std::string name;
  int components = 1;
  std::variant<std::vector<float>, std::vector<double>, std::vector<std::int32_t>> values;
};

/// A piece of a solver's state, for checkpoints.
struct StateBlock {
  std::string name;
  std::vector<std::byte> bytes;
};

/// A method of simulation. Steps are counted from the start of the run; time is step * time_step.
class Solver {
 public:
  virtual ~Solver() = default;

  [[nodiscard]] virtual std::size_t particles() const = 0;
  [[nodiscard]] virtual double mean_neighbours() const = 0;
  [[nodiscard]] virtual const std::vector<std::int32_t>& body_of_particle() const = 0;  ///< id order
  [[nodiscard]] virtual long long step() const = 0;

  /// One time step; throws SimulationError, with the state of before still on disk, when the result is not sound.
  virtual StepReport advance() = 0;
  /// The present state, without a residual.
  [[nodiscard]] virtual StepReport measure() = 0;
  /// Value of each probe of the scene, in order: three numbers each.
  [[nodiscard]] virtual std::vector<double> probe() = 0;
  [[nodiscard]] virtual ParticleField positions() = 0;
  [[nodiscard]] virtual ParticleField field(scene::Field which) = 0;

  /// Moves or releases a fixture otherwise than the scene said; its particles and its number stay.
  virtual void change_fixture(std::size_t index, const scene::Fixture& fixture) = 0;

  [[nodiscard]] virtual std::vector<StateBlock> save() = 0;
  virtual void restore(long long step, const std::vector<StateBlock>& blocks) = 0;
};

/// The solver of the scene's method and precision, with its particles in place.
[[nodiscard]] std::unique_ptr<Solver> make_solver(const scene::Scene& scene, Queue& queue);

}  // namespace ductile
