#pragma once

#include <sycl/sycl.hpp>

#include <vector>

/// What differs between the back ends, one source file each.
namespace ductile::backend {

/// The first thing in main(): settings that only a new process can take; may start the program again.
void prepare_process(char** arguments);
/// Called before the first use of SYCL: sets the number of CPU threads (0: all). Only the host back end lets a later
/// call change it; threads() tells what holds.
void prepare(int threads);
[[nodiscard]] int threads();
/// At least one device, else DeviceError with the remedy.
[[nodiscard]] std::vector<sycl::device> devices();

/// Compiles the kernels of one precision, where that happens at run time.
void compile_kernels(const sycl::queue& queue, bool double_precision);

}  // namespace ductile::backend
