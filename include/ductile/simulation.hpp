#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ductile/error.hpp"

/// Ductile as a library: a scene, stepped by the caller, with its particles at hand. SI units. Errors are thrown as
/// InputError, SimulationError or DeviceError. Calls on one simulation from several threads wait for one another;
/// making, moving and destroying it is for one thread alone.
namespace ductile {

class DUCTILE_PUBLIC Simulation {
 public:
  using Vector = std::array<double, 3>;

  struct Options {
    std::vector<std::string> overrides;  ///< as `--set` of the program, e.g. "solver.iterations=40"
    std::string device;                  ///< number or part of the name; empty: the first
    int threads = 0;                     ///< 1 to 4096; 0: all
  };
  /// The state after a step, as in a row of history.csv.
  struct State {
    long long step = 0;
    double time = 0, kinetic_energy = 0, elastic_energy = 0, gravity_energy = 0;
    Vector momentum{}, angular_momentum{};
    double max_speed = 0, min_volume_ratio = 1, residual = 0;
    int iterations = 0;
  };
  /// Values of one quantity, `components` for each particle in the order of their ids; of the types that a frame of a
  /// result has.
  struct Field {
    std::string name;
    int components = 1;
    std::variant<std::vector<float>, std::vector<double>, std::vector<std::int32_t>, std::vector<std::int64_t>> values;
  };
  /// Rigid motion from now on: velocity + angular_velocity x (x - about), `about` carried along by `velocity`. Without
  /// `about` the turning goes on about the same point as before.
  struct Motion {
    Vector velocity{}, angular_velocity{};
    std::optional<Vector> about;
  };

  /// A scene file. Default options: `Simulation::load("beam.toml")`.
  [[nodiscard]] static Simulation load(const std::filesystem::path& file);
  [[nodiscard]] static Simulation load(const std::filesystem::path& file, const Options& options);
  /// The text of a scene; paths in it are relative to `folder`.
  [[nodiscard]] static Simulation parse(const std::string& text);
  [[nodiscard]] static Simulation parse(const std::string& text, const Options& options,
                                        const std::filesystem::path& folder = ".");
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;
  ~Simulation();

  [[nodiscard]] const std::string& title() const;
  [[nodiscard]] std::size_t particles() const;
  [[nodiscard]] const std::vector<std::int32_t>& bodies() const;  ///< number of each particle's body
  [[nodiscard]] std::vector<std::string> body_names() const;
  [[nodiscard]] std::vector<std::string> fixture_names() const;
  [[nodiscard]] long long step() const;
  [[nodiscard]] double time() const;
  [[nodiscard]] double time_step() const;
  [[nodiscard]] double end_time() const;  ///< of the scene; stepping beyond it is allowed

  /// Simulates so many steps; throws DivergenceError when the numbers are no longer sound.
  State advance(long long steps = 1);
  [[nodiscard]] State state();
  /// "position", "id", "body", or a field as `output.fields` of a scene names it, whether the scene lists it or not.
  [[nodiscard]] Field field(std::string_view name);
  /// Value of each probe, by name.
  [[nodiscard]] std::vector<std::pair<std::string, Vector>> probes();

  /// The fixture's particles stay where they are at this moment and move on as told; refused once it is released.
  void move_fixture(std::string_view name, const Motion& motion);
  void release_fixture(std::string_view name);

 private:
  struct Parts;
  explicit Simulation(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

/// "0.1.0"
[[nodiscard]] DUCTILE_PUBLIC std::string version();
/// Names of the devices, in the order of their numbers.
[[nodiscard]] DUCTILE_PUBLIC std::vector<std::string> devices();

}  // namespace ductile
