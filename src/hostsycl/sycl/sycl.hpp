#pragma once

// The part of SYCL 2020 that Ductile uses, for any C++20 compiler, on OpenMP. What is not here does not compile.
// One device, the CPU; queues are in order and every command has finished when its call returns.

#include "sycl/atomic_ref.hpp"
#include "sycl/device.hpp"
#include "sycl/index.hpp"
#include "sycl/math.hpp"
#include "sycl/multi_ptr.hpp"
#include "sycl/queue.hpp"
#include "sycl/vec.hpp"
