#pragma once

#include <sycl/sycl.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/timers.hpp"

namespace ductile {

struct DeviceDescription {
  std::string name, vendor, driver;
  std::string kind;  ///< "cpu", "gpu" or "accelerator"
  std::uint32_t compute_units = 0;
  std::uint64_t memory_bytes = 0;
  bool double_precision = false;
};

/// "host", "dpcpp-jit", "dpcpp" or "adaptivecpp": the back end this program was built with.
[[nodiscard]] std::string backend_name();
/// Compiler of the device code, in words.
[[nodiscard]] std::string backend_compiler();
/// Every device of the back end; throws DeviceError with the remedy when the back end can't start.
[[nodiscard]] std::vector<DeviceDescription> list_devices();

struct QueueOptions {
  std::string device = {};  ///< part of a device's name, or its number in the list; empty: the first
  int threads = 0;          ///< CPU threads; 0: all
};

/// One in-order queue on one device, with its clock per phase name.
class Queue {
 public:
  explicit Queue(const QueueOptions& options = {});
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  [[nodiscard]] sycl::queue& native() { return queue_; }
  [[nodiscard]] const DeviceDescription& device() const { return device_; }
  [[nodiscard]] int threads() const { return threads_; }

  /// Readies the device for a run in this precision: kernels that are compiled at run time are compiled now, in one go.
  /// Throws DeviceError when the device lacks double precision.
  template <class Real>
  void prepare() {
    static_assert(std::is_same_v<Real, float> || std::is_same_v<Real, double>);
    prepare(std::is_same_v<Real, double>);
  }
  /// Waits for everything submitted; a failure on the device throws DeviceError.
  void wait();
  /// Copies to or from device memory, after everything submitted before; returns when it is done.
  void copy(void* destination, const void* source, std::size_t bytes);
  /// A failed SYCL call as a DeviceError.
  [[noreturn]] void fail(const sycl::exception& error) const;
  /// Counts the time between an event's start and end for a phase; read at the next wait().
  void record(const char* phase, sycl::event event);
  [[nodiscard]] Timers& timers() { return timers_; }

  void note_allocation(std::size_t bytes) {
    allocated_ += bytes;
    if (allocated_ > peak_) peak_ = allocated_;
  }
  void note_release(std::size_t bytes) { allocated_ -= bytes; }
  [[nodiscard]] std::size_t allocated() const { return allocated_; }
  [[nodiscard]] std::size_t peak_allocation() const { return peak_; }

 private:
  void prepare(bool double_precision);

  sycl::queue queue_;
  DeviceDescription device_;
  int threads_ = 1;
  Timers timers_;
  std::vector<std::pair<const char*, sycl::event>> pending_;
  std::size_t allocated_ = 0, peak_ = 0;
};

}  // namespace ductile
