#pragma once

// The parts of DPC++'s <sycl/sycl.hpp> that Ductile uses. The whole would cost two thirds of the run-time compiler's
// time, and half of the host compiler's.

#include <sycl/atomic_ref.hpp>
#include <sycl/bit_cast.hpp>
#include <sycl/builtins.hpp>
#include <sycl/vector.hpp>

#if defined(__SYCL_DEVICE_ONLY__)
#include <sycl/ext/oneapi/experimental/free_function_traits.hpp>
#include <sycl/ext/oneapi/free_function_queries.hpp>
#include <sycl/ext/oneapi/kernel_properties/properties.hpp>
#include <sycl/nd_item.hpp>
#else
#include <sycl/device.hpp>
#include <sycl/event.hpp>
#include <sycl/properties/queue_properties.hpp>
#include <sycl/queue.hpp>
#include <sycl/usm.hpp>
#endif
