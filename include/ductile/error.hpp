#pragma once

#include <stdexcept>

/// Visible in a shared library, so that what it throws can be caught outside.
#define DUCTILE_PUBLIC __attribute__((visibility("default")))

namespace ductile {

/// The input is wrong (exit code 2): scene, mesh, command line, output folder. The text says what, where and what to
/// do.
struct DUCTILE_PUBLIC InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The simulation failed (exit code 1): it diverged, or its results could not be written.
struct DUCTILE_PUBLIC SimulationError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The numbers are no longer sound: going on from the last checkpoint would end the same way.
struct DUCTILE_PUBLIC DivergenceError : SimulationError {
  using SimulationError::SimulationError;
};

/// The device is unusable (exit code 3).
struct DUCTILE_PUBLIC DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace ductile
