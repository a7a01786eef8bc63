#pragma once

#include <cstddef>
#include <type_traits>

#include "runtime/queue.hpp"
#if defined(DUCTILE_BACKEND_DPCPP_JIT)
#include "runtime/jit.hpp"
#endif

namespace ductile {

/// Runs kernel(i) for i in [0, count) in order on the queue, without waiting; its time counts for the phase `name`.
template <class Kernel>
void launch(Queue& queue, const char* name, std::size_t count, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel>, "a kernel is a struct of pointers and numbers");
  static_assert(std::is_invocable_v<const Kernel&, std::size_t>);
  if (count == 0) return;
  try {
#if defined(DUCTILE_BACKEND_DPCPP_JIT)
    queue.record(name, jit::submit(queue.native(), count, kernel));
#else
    queue.record(name, queue.native().parallel_for(sycl::range<1>(count), kernel));
#endif
  } catch (const sycl::exception& error) {
    queue.fail(error);
  }
}

}  // namespace ductile
