// Back ends whose compiler turns the kernels into device code itself.
#if defined(DUCTILE_BACKEND_DPCPP) || defined(DUCTILE_BACKEND_ADAPTIVECPP)

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
int cpu_threads = 0;
}

void prepare(int threads) { cpu_threads = threads; }

int threads() { return cpu_threads > 0 ? cpu_threads : static_cast<int>(std::thread::hardware_concurrency()); }

std::vector<sycl::device> devices() {
  auto found = sycl::device::get_devices();
  if (found.empty())
    throw DeviceError(
        "No SYCL device was found. Install the driver of your GPU or an OpenCL CPU runtime, then try `ductile "
        "devices`.");
  return found;
}

void compile_kernels(const sycl::queue&, bool) {}

}  // namespace backend
}  // namespace ductile

#endif
