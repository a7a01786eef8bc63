#pragma once

#include <sycl/sycl.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <unordered_map>
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

/// That a user may ask for; far more than any CPU has.
inline constexpr int most_threads = 4096;

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
  ~Queue() { free_spare(0); }

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

  /// Device memory of at least this size, null when there is none left. Blocks given back are used again where they
  /// fit, since fresh memory is cleared page by page; together with those in use they never exceed the largest use.
  [[nodiscard]] void* allocate(std::size_t bytes);
  /// Gives a block back at once: what is submitted later runs after all that used it.
  void release(void* block);
  [[nodiscard]] std::size_t allocated() const { return allocated_; }
  [[nodiscard]] std::size_t peak_allocation() const { return peak_; }

 private:
  struct Spare {
    void* block;
    std::uint64_t since;  // in released blocks
  };
  void prepare(bool double_precision);
  /// Returns spare blocks to the system until no more than this is held, in use and spare: first those that have been
  /// spare for longest, since a list that grows from step to step leaves blocks that never fit again.
  void free_spare(std::size_t most);

  sycl::queue queue_;
  DeviceDescription device_;
  int threads_ = 1;
  Timers timers_;
  std::vector<std::pair<const char*, sycl::event>> pending_;
  std::unordered_map<void*, std::size_t> used_;      // blocks and their sizes
  std::multimap<std::size_t, Spare> spare_;          // by size
  std::uint64_t released_ = 0;                       // blocks until now
  std::size_t allocated_ = 0, held_ = 0, peak_ = 0;  // bytes: in use, in use or spare, most in use
};

}  // namespace ductile
