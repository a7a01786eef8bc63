// Back ends whose compiler turns the kernels into device code itself.
#if defined(DUCTILE_BACKEND_DPCPP) || defined(DUCTILE_BACKEND_ADAPTIVECPP)

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>

#include "common/error.hpp"
#include "runtime/backend.hpp"
#include "runtime/queue.hpp"

namespace ductile {

#if defined(DUCTILE_BACKEND_DPCPP)
std::string backend_name() { return "dpcpp"; }
std::string backend_compiler() { return "DPC++ (clang " __clang_version__ ")"; }
#else
std::string backend_name() { return "adaptivecpp"; }
std::string backend_compiler() { return "AdaptiveCpp (clang " __clang_version__ ")"; }
#endif

namespace backend {

namespace {
/// Read by the CPU device when it starts: DPC++'s on OpenCL, AdaptiveCpp's on OpenMP.
#if defined(DUCTILE_BACKEND_DPCPP)
constexpr const char* threads_variable = "DPCPP_CPU_NUM_CUS";
#else
constexpr const char* threads_variable = "OMP_NUM_THREADS";
#endif
}  // namespace

void prepare_process(char**) {}

void prepare(int threads) {
  static bool done = false;
  if (done) return;
  done = true;
  if (threads > 0) setenv(threads_variable, std::to_string(threads).c_str(), /*overwrite=*/1);
}

int threads() {
  const char* const asked = std::getenv(threads_variable);
  const int number = asked != nullptr ? std::atoi(asked) : 0;
  return number > 0 ? number : static_cast<int>(std::thread::hardware_concurrency());
}

std::vector<sycl::device> devices() {
  prepare(0);
  auto found = sycl::device::get_devices();
  if (found.empty())
    throw DeviceError(
        "No SYCL device was found. Install the driver of your GPU or an OpenCL CPU runtime, then try `ductile "
        "devices`.");
  const sycl::device preferred;  // SYCL's own choice comes first
  std::stable_partition(found.begin(), found.end(), [&](const sycl::device& device) { return device == preferred; });
  return found;
}

void compile_kernels(const sycl::queue&, bool) {}

}  // namespace backend
}  // namespace ductile

#endif
