#if defined(DUCTILE_BACKEND_HOST)

#include <omp.h>

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

std::vector<sycl::device> devices() { return sycl::device::get_devices(); }

void compile_kernels(const sycl::queue&, bool) {}

}  // namespace backend
}  // namespace ductile

#endif
