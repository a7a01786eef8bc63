#pragma once

#include <cstddef>

#include "sycl/atomic_ref.hpp"

namespace sycl {

namespace access {
enum class decorated { no, yes };
}

/// A pointer that can be fetched ahead; all memory is one.
template <class T, access::address_space Space, access::decorated Decorated>
class multi_ptr {
 public:
  explicit multi_ptr(T* pointer) : pointer_(reinterpret_cast<const char*>(pointer)) {}

  /// Brings these elements into the cache; nothing waits for them. Inlined early: GCC drops calls of functions that
  /// only fetch, because they seem to do nothing.
  [[gnu::always_inline]] void prefetch(std::size_t elements) const {
    constexpr std::size_t line = 64;
    const std::size_t bytes = elements * sizeof(T);
    for (std::size_t at = 0; at < bytes; at += line) __builtin_prefetch(pointer_ + at);
    if (bytes > alignof(T)) __builtin_prefetch(pointer_ + bytes - 1);  // else it lies in one line
  }

 private:
  const char* pointer_;
};

template <access::address_space Space, access::decorated Decorated, class T>
multi_ptr<T, Space, Decorated> address_space_cast(T* pointer) {
  return multi_ptr<T, Space, Decorated>(pointer);
}

}  // namespace sycl
