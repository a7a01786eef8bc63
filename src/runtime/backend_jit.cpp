#if defined(DUCTILE_BACKEND_DPCPP_JIT)

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <sycl/kernel_bundle.hpp>
#include <sycl/version.hpp>
#include <thread>
#include <vector>

#include "common/error.hpp"
#include "runtime/backend.hpp"
#include "runtime/jit.hpp"
#include "runtime/queue.hpp"

namespace ductile {

std::string backend_name() { return "dpcpp-jit"; }

std::string backend_compiler() {
  return fmt::format("DPC++ {} at run time (host code: g++ {})", __SYCL_COMPILER_VERSION, __VERSION__);
}

namespace {

void set_default(const char* variable, const std::string& value) { setenv(variable, value.c_str(), /*overwrite=*/0); }

std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr ? value : "";
}

/// The CPU compiler's automatic vectorisation across work-items; see docs/devices.md for what it gains and costs.
constexpr const char* vectorizer = "CL_CONFIG_CPU_VECTORIZER_MODE";
constexpr const char* threads_variable = "DPCPP_CPU_NUM_CUS";

/// Compiled kernels stay here between runs. The runtime doesn't count the vectoriser's mode among what makes two
/// programs different, so each mode has a folder.
std::string cache_folder() {
  std::filesystem::path base = environment("XDG_CACHE_HOME");
  if (base.empty() && !environment("HOME").empty()) base = std::filesystem::path(environment("HOME")) / ".cache";
  if (base.empty()) return "";
  return base / "ductile" / ("dpcpp-jit-vectorizer-" + environment(vectorizer));
}

}  // namespace

namespace backend {

void prepare_process(char**) {}

void prepare(int threads) {
  static bool done = false;
  if (done) return;
  done = true;
  if (threads > 0) setenv(threads_variable, std::to_string(threads).c_str(), /*overwrite=*/1);
  set_default("OCL_ICD_FILENAMES", DUCTILE_DPCPP_LIB "/libintelocl.so");
  set_default(vectorizer, "1");
  if (const std::string folder = cache_folder(); !folder.empty()) {
    set_default("SYCL_CACHE_PERSISTENT", "1");
    set_default("SYCL_CACHE_DIR", folder);
  }
}

int threads() {
  const int asked = std::atoi(environment(threads_variable).c_str());
  return asked > 0 ? asked : static_cast<int>(std::thread::hardware_concurrency());
}

std::vector<sycl::device> devices() {
  prepare(0);
  std::vector<sycl::device> usable;
  try {
    for (auto& device : sycl::device::get_devices())
      if (device.ext_oneapi_can_build(sycl::ext::oneapi::experimental::source_language::sycl)) usable.push_back(device);
    if (usable.size() > 1) {
      const sycl::device preferred;  // SYCL's own choice comes first
      std::stable_partition(usable.begin(), usable.end(), [&](const auto& device) { return device == preferred; });
    }
  } catch (const sycl::exception& error) {
    throw DeviceError(fmt::format("The DPC++ runtime failed to list its devices: {}", error.what()));
  }
  if (usable.empty())
    throw DeviceError(
        fmt::format("The DPC++ runtime found no device that it can compile for. Its CPU driver is expected as {}: "
                    "`tools/setup --python` installs it. OCL_ICD_FILENAMES and ONEAPI_DEVICE_SELECTOR, if set, "
                    "must let it through.",
                    environment("OCL_ICD_FILENAMES")));
  return usable;
}

void compile_kernels(const sycl::queue& queue, bool double_precision) { jit::prepare(queue, double_precision); }

}  // namespace backend

}  // namespace ductile

#endif
