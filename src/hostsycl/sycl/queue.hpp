#pragma once

#include <sys/mman.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "sycl/device.hpp"
#include "sycl/index.hpp"

namespace sycl {

class exception : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace property::queue {
struct in_order {};
struct enable_profiling {};
}  // namespace property::queue

/// Only properties that every queue here has anyway.
class property_list {
 public:
  template <class... Properties>
  requires((std::is_same_v<Properties, property::queue::in_order> ||
            std::is_same_v<Properties, property::queue::enable_profiling>)&&...) property_list(Properties...) {}
};

namespace info::event_profiling {
struct command_start {
  using return_type = std::uint64_t;
};
struct command_end {
  using return_type = std::uint64_t;
};
}  // namespace info::event_profiling

/// Commands have finished when they return, so there is nothing to wait for; it knows when they ran.
class event {
 public:
  void wait() const {}
  /// Nanoseconds.
  template <class Param>
  [[nodiscard]] std::uint64_t get_profiling_info() const {
    static_assert(std::is_same_v<Param, info::event_profiling::command_start> ||
                  std::is_same_v<Param, info::event_profiling::command_end>);
    return std::is_same_v<Param, info::event_profiling::command_start> ? start_ : end_;
  }

 private:
  friend class queue;
  static std::uint64_t now() {
    using namespace std::chrono;
    return static_cast<std::uint64_t>(duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
  }
  std::uint64_t start_ = now(), end_ = start_;
};

namespace detail {
/// Work-items a thread takes at a time. Every thread's share starts at a multiple of it, so an item lands in the same
/// lane of the same vector loop, with the same rounding, for any number of threads.
inline constexpr std::size_t block = 64;

/// A kernel whose items do the work of several says of how many.
template <class Kernel>
constexpr std::size_t items_per_block() {
  if constexpr (requires { Kernel::coarseness; })
    return Kernel::coarseness < block ? block / Kernel::coarseness : 1;
  else
    return block;
}

template <class Kernel>
inline void run_items(const Kernel& kernel, std::size_t begin, std::size_t end, std::size_t size) {
#if !defined(__clang__)  // which has no such promise without a warning for every loop that it leaves alone
#pragma GCC ivdep
#endif
  for (std::size_t i = begin; i < end; ++i) kernel(item<1>(i, size));
}

/// Everything that the kernel calls is inlined: its 3x3 matrices then live in registers. Long to compile, so kernels
/// ask for it.
#if !defined(HOSTSYCL_NO_FLATTEN)
#define HOSTSYCL_FLATTEN [[gnu::flatten]]
#else
#define HOSTSYCL_FLATTEN  // builds with sanitizers, whose checks would be inlined as well
#endif
template <class Kernel>
HOSTSYCL_FLATTEN inline void run_items_inlined(const Kernel& kernel, std::size_t begin, std::size_t end,
                                               std::size_t size) {
  run_items(kernel, begin, end, size);
}

template <class Kernel>
inline void run_chosen(const Kernel& kernel, std::size_t begin, std::size_t end, std::size_t size) {
  if constexpr (requires { Kernel::inline_all; })
    run_items_inlined(kernel, begin, end, size);
  else
    run_items(kernel, begin, end, size);
}
}  // namespace detail

class queue {
 public:
  queue() = default;
  explicit queue(const device&, const property_list& = {}) {}
  explicit queue(const property_list&) {}

  [[nodiscard]] device get_device() const { return {}; }
  [[nodiscard]] bool is_in_order() const { return true; }
  void wait() const {}
  void wait_and_throw() const {}

  event memcpy(void* destination, const void* source, std::size_t bytes) {
    return in_parts(bytes, [&](std::size_t begin, std::size_t size) {
      std::memcpy(static_cast<char*>(destination) + begin, static_cast<const char*>(source) + begin, size);
    });
  }
  event memset(void* destination, int value, std::size_t bytes) {
    return in_parts(bytes, [&](std::size_t begin, std::size_t size) {
      std::memset(static_cast<char*>(destination) + begin, value, size);
    });
  }
  template <class T>
  event fill(void* destination, const T& pattern, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    T* const out = static_cast<T*>(destination);
    return parallel_for(range<1>(count), [out, pattern](std::size_t i) { out[i] = pattern; });
  }

  template <class Kernel>
  event parallel_for(range<1> items, const Kernel& kernel) {
    static_assert(std::is_invocable_v<const Kernel&, item<1>>, "a kernel takes its item, id or index");
    event command;
    const std::size_t size = items.size();
    if constexpr (requires { Kernel::heavy; }) {  // few, long work-items: each to the next free thread
#pragma omp parallel for schedule(dynamic, 1) if (size >= 8)
      for (std::size_t i = 0; i < size; ++i) detail::run_chosen(kernel, i, i + 1, size);
      command.end_ = event::now();
      return command;
    }
    constexpr std::size_t block = detail::items_per_block<Kernel>();
    const std::size_t blocks = (size + block - 1) / block;
#pragma omp parallel if (blocks >= 16)  // less is done before a second thread has woken
    {
      const Kernel mine = kernel;  // a private copy: its pointers can't alias what it writes
      const auto threads = static_cast<std::size_t>(omp_get_num_threads());
      const auto thread = static_cast<std::size_t>(omp_get_thread_num());
      const std::size_t begin = blocks * thread / threads * block;
      const std::size_t stop = blocks * (thread + 1) / threads * block;
      const std::size_t end = stop < size ? stop : size;
      detail::run_chosen(mine, begin, end, size);
    }
    command.end_ = event::now();
    return command;
  }

 private:
  /// One thread does not fill the memory's bandwidth: large copies are shared.
  template <class Work>
  static event in_parts(std::size_t bytes, const Work& work) {
    constexpr std::size_t part = std::size_t(1) << 20;
    event command;
#pragma omp parallel for schedule(static) if (bytes >= 4 * part)
    for (std::size_t begin = 0; begin < bytes; begin += part) work(begin, bytes - begin < part ? bytes - begin : part);
    command.end_ = event::now();
    return command;
  }
};

namespace detail {
template <class T>
T* allocate(std::size_t count) {
  if (count == 0 || count > PTRDIFF_MAX / sizeof(T)) return nullptr;
  const std::size_t bytes = count * sizeof(T);
  static_assert(alignof(T) <= 64);
  constexpr std::size_t huge_page = std::size_t(1) << 21;
  const std::size_t alignment = bytes >= huge_page ? huge_page : 64;
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory != nullptr && bytes >= huge_page) madvise(memory, bytes, MADV_HUGEPAGE);  // gathers miss the TLB otherwise
  return static_cast<T*>(memory);
}
}  // namespace detail

/// Unified shared memory: all three kinds are plain memory here; null when there is none left.
template <class T>
[[nodiscard]] T* malloc_device(std::size_t count, const queue&) {
  return detail::allocate<T>(count);
}
template <class T>
[[nodiscard]] T* malloc_shared(std::size_t count, const queue&) {
  return detail::allocate<T>(count);
}
template <class T>
[[nodiscard]] T* malloc_host(std::size_t count, const queue&) {
  return detail::allocate<T>(count);
}
inline void free(void* memory, const queue&) { std::free(memory); }

}  // namespace sycl
