#pragma once

#include <stdexcept>
#include <string>

namespace ductile {

/// The input is wrong (exit code 2): scene, mesh, command line, output folder. The text says what, where and what to
/// do.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The simulation failed (exit code 1): it diverged, or its results could not be written.
struct SimulationError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The numbers are no longer sound: going on from the last checkpoint would end the same way.
struct DivergenceError : SimulationError {
  using SimulationError::SimulationError;
};

/// The device is unusable (exit code 3).
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace ductile
