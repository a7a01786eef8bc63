#pragma once

#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <omp.h>

namespace sycl {

enum class aspect {
  cpu,
  gpu,
  accelerator,
  fp16,
  fp64,
  usm_device_allocations,
  usm_host_allocations,
  usm_shared_allocations
};

namespace info {
namespace device {
struct name {
  using return_type = std::string;
};
struct vendor {
  using return_type = std::string;
};
struct driver_version {
  using return_type = std::string;
};
struct max_compute_units {
  using return_type = std::uint32_t;
};
struct global_mem_size {
  using return_type = std::uint64_t;
};
}  // namespace device
namespace platform {
struct name {
  using return_type = std::string;
};
}  // namespace platform
}  // namespace info

class platform;

/// The processor this program runs on.
class device {
 public:
  [[nodiscard]] static std::vector<device> get_devices() { return {device()}; }
  [[nodiscard]] bool is_cpu() const { return true; }
  [[nodiscard]] bool is_gpu() const { return false; }
  [[nodiscard]] bool has(aspect wanted) const {
    return wanted != aspect::gpu && wanted != aspect::accelerator && wanted != aspect::fp16;
  }
  template <class Param>
  [[nodiscard]] typename Param::return_type get_info() const {
    if constexpr (std::is_same_v<Param, info::device::name>) {
      return cpu_info("model name");
    } else if constexpr (std::is_same_v<Param, info::device::vendor>) {
      return cpu_info("vendor_id");
    } else if constexpr (std::is_same_v<Param, info::device::driver_version>) {
      return "OpenMP " + std::to_string(_OPENMP);
    } else if constexpr (std::is_same_v<Param, info::device::max_compute_units>) {
      return static_cast<std::uint32_t>(omp_get_num_procs());
    } else {
      static_assert(std::is_same_v<Param, info::device::global_mem_size>, "not offered by this SYCL");
      return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
    }
  }
  friend bool operator==(const device&, const device&) { return true; }

 private:
  static std::string cpu_info(const std::string& key) {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
      if (line.rfind(key, 0) == 0 && line.find(": ") != std::string::npos) return line.substr(line.find(": ") + 2);
    return "CPU";
  }
};

class platform {
 public:
  [[nodiscard]] static std::vector<platform> get_platforms() { return {platform()}; }
  [[nodiscard]] std::vector<device> get_devices() const { return device::get_devices(); }
  template <class Param>
  [[nodiscard]] typename Param::return_type get_info() const {
    static_assert(std::is_same_v<Param, info::platform::name>, "not offered by this SYCL");
    return "OpenMP host";
  }
};

}  // namespace sycl
