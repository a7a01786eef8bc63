#pragma once

#include <sycl/sycl.hpp>

#include <cstddef>

namespace ductile {

/// Asks for memory that will be read a little later.
template <class T>
[[gnu::always_inline]] inline void prefetch(const T* first, std::size_t count = 1) {
  sycl::address_space_cast<sycl::access::address_space::global_space, sycl::access::decorated::no>(first).prefetch(
      count);
}

}  // namespace ductile
