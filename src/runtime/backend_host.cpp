#if defined(DUCTILE_BACKEND_HOST)

#include <omp.h>
#include <unistd.h>

#include <cstdlib>

#include "runtime/backend.hpp"
#include "runtime/queue.hpp"

namespace ductile {

std::string backend_name() { return "host"; }

std::string backend_compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

namespace backend {

void prepare(int threads) {
  if (threads > 0) omp_set_num_threads(threads);
}

int threads() { return omp_get_max_threads(); }

void prepare_process(char** arguments) {
  // GNU's OpenMP spins for milliseconds at every barrier. Beside other programs that costs more than the work, so it is
  // told to sleep after some microseconds; it reads this only when a program starts.
  constexpr const char* setting = "GOMP_SPINCOUNT";
  if (std::getenv(setting) != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  if (setenv(setting, "3000", 0) == 0) execv("/proc/self/exe", arguments);
}

std::vector<sycl::device> devices() { return sycl::device::get_devices(); }

void compile_kernels(const sycl::queue&, bool) {}

}  // namespace backend
}  // namespace ductile

#endif
