// The SYCL that comes with Ductile, tested as its user would use it. Other back ends bring their own.
#if defined(DUCTILE_BACKEND_HOST)

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <sycl/sycl.hpp>
#include <vector>

namespace {

/// Sets the number of threads for a scope.
class Threads {
 public:
  explicit Threads(int count) : before_(omp_get_max_threads()) { omp_set_num_threads(count); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() { omp_set_num_threads(before_); }

 private:
  int before_;
};

const std::vector<std::size_t> awkward_sizes = {0, 1, 2, 63, 64, 65, 127, 128, 129, 191, 192, 193, 640, 1000, 65'537};

TEST(HostSycl, ParallelForVisitsEveryItemOnce) {
  sycl::queue queue;
  for (const int threads : {1, 2, 3, 4, 7, 16}) {
    const Threads set(threads);
    for (const std::size_t size : awkward_sizes) {
      std::vector<int> visits(size, 0);
      std::vector<std::size_t> ranges(size, 0);
      queue.parallel_for(sycl::range<1>(size), [v = visits.data(), r = ranges.data()](sycl::item<1> item) {
        ++v[item.get_linear_id()];
        r[item] = item.get_range().size();
      });
      EXPECT_EQ(visits, std::vector<int>(size, 1)) << size << " items, " << threads << " threads";
      EXPECT_EQ(ranges, std::vector<std::size_t>(size, size));
    }
  }
}

TEST(HostSycl, KernelsTakeItemIdOrIndex) {
  sycl::queue queue;
  std::vector<std::size_t> seen(100, 0);
  std::size_t* const out = seen.data();
  queue.parallel_for(sycl::range<1>(100), [out](sycl::item<1> i) { out[i] += i.get_id(0); });
  queue.parallel_for(sycl::range<1>(100), [out](sycl::id<1> i) { out[i] += i[0]; });
  queue.parallel_for(sycl::range<1>(100), [out](std::size_t i) { out[i] += i; });
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], 3 * i);
}

/// Division, root, logarithm and a multiply-add: what rounds differently when a loop is cut elsewhere.
TEST(HostSycl, SameBitsForAnyNumberOfThreads) {
  sycl::queue queue;
  const std::size_t size = 10'007;
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 2, 3, 5, 8}) {
    const Threads set(threads);
    std::vector<float> y(size);
    queue.parallel_for(sycl::range<1>(size), [out = y.data()](std::size_t i) {
      const float x = 0.37f * static_cast<float>(i) + 0.1f;
      out[i] = sycl::sqrt(x) / (x + 3.f) + x * sycl::log(x) - sycl::fma(x, 1.1f, -2.f);
    });
    results.push_back(y);
  }
  for (const auto& result : results) EXPECT_EQ(std::memcmp(result.data(), results[0].data(), size * sizeof(float)), 0);
}

TEST(HostSycl, MemoryCommands) {
  sycl::queue queue(sycl::property_list{sycl::property::queue::in_order{}, sycl::property::queue::enable_profiling{}});
  EXPECT_TRUE(queue.is_in_order());
  for (const std::size_t size : std::vector<std::size_t>{1, 64, 1000, 1 << 20}) {
    double* const memory = sycl::malloc_device<double>(size, queue);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0u) << "vectors want whole cache lines";
    queue.fill(memory, 2.5, size);
    std::vector<double> copy(size, 0);
    const sycl::event event = queue.memcpy(copy.data(), memory, size * sizeof(double));
    EXPECT_EQ(copy, std::vector<double>(size, 2.5));
    EXPECT_LE(event.get_profiling_info<sycl::info::event_profiling::command_start>(),
              event.get_profiling_info<sycl::info::event_profiling::command_end>());
    queue.memset(memory, 0, size * sizeof(double)).wait();
    queue.memcpy(copy.data(), memory, size * sizeof(double));
    EXPECT_EQ(copy, std::vector<double>(size, 0.0));
    sycl::free(memory, queue);
  }
  queue.memcpy(nullptr, nullptr, 0);
  queue.memset(nullptr, 0, 0);
  queue.fill(nullptr, 1, 0);
}

TEST(HostSycl, AllocationsThatCannotBeAreNull) {
  sycl::queue queue;
  EXPECT_EQ(sycl::malloc_device<double>(std::numeric_limits<std::size_t>::max() / 8, queue), nullptr);
  EXPECT_EQ(sycl::malloc_host<double>(std::numeric_limits<std::size_t>::max() / 4, queue), nullptr) << "size overflows";
  EXPECT_EQ(sycl::malloc_shared<double>(0, queue), nullptr);
  sycl::free(nullptr, queue);
}

TEST(HostSycl, ProfilingSeesWork) {
  sycl::queue queue;
  std::vector<float> y(100'000);
  const auto event = queue.parallel_for(sycl::range<1>(y.size()), [out = y.data()](std::size_t i) {
    out[i] = sycl::exp(-1e-5f * static_cast<float>(i));
  });
  const auto start = event.get_profiling_info<sycl::info::event_profiling::command_start>();
  const auto end = event.get_profiling_info<sycl::info::event_profiling::command_end>();
  EXPECT_GT(end, start);
  EXPECT_LT(end - start, 10'000'000'000u) << "nanoseconds";
}

template <class T, sycl::memory_order Order>
void check_atomics() {
  const Threads set(4);
  sycl::queue queue;
  using Ref = sycl::atomic_ref<T, Order, sycl::memory_scope::device>;
  T sum = 0, difference = 0, bits = 0, smallest = 1'000'000, largest = 0, stored = 0;
  queue.parallel_for(sycl::range<1>(50'000), [&](std::size_t i) {
    const T value = static_cast<T>(i);
    Ref(sum).fetch_add(T(3));
    Ref(difference).fetch_sub(T(1));
    Ref(bits).fetch_or(static_cast<T>(T(1) << (i % 20)));
    Ref(smallest).fetch_min(static_cast<T>(value + 5));
    Ref(largest).fetch_max(value);
    if (i == 777) Ref(stored).store(value);
  });
  EXPECT_EQ(sum, T(150'000));
  EXPECT_EQ(difference, static_cast<T>(T(0) - T(50'000)));
  EXPECT_EQ(bits, T((1 << 20) - 1));
  EXPECT_EQ(smallest, T(5));
  EXPECT_EQ(largest, T(49'999));
  EXPECT_EQ(Ref(stored).load(), T(777));
  EXPECT_EQ(Ref(stored).fetch_add(T(1)), T(777)) << "the value before";
  EXPECT_EQ(Ref(stored).fetch_max(T(5)), T(778));
}

TEST(HostSycl, Atomics) {
  check_atomics<int, sycl::memory_order::relaxed>();
  check_atomics<std::uint32_t, sycl::memory_order::relaxed>();
  check_atomics<std::uint64_t, sycl::memory_order::acq_rel>();
}

template <class T>
void check_vec() {
  using Vec = sycl::vec<T, 4>;
  static_assert(sizeof(Vec) == 4 * sizeof(T) && alignof(Vec) == 4 * sizeof(T), "as in SYCL 2020, 4.14.2.6");
  static_assert(Vec::size() == 4 && Vec::byte_size() == 4 * sizeof(T));
  const Vec a(T(1), T(2), T(3), T(4)), b(T(5), T(7), T(11), T(13));
  const auto expect = [](const Vec& v, int x, int y, int z, int w) {
    EXPECT_EQ(v[0], T(x));
    EXPECT_EQ(v[1], T(y));
    EXPECT_EQ(v[2], T(z));
    EXPECT_EQ(v[3], T(w));
    EXPECT_EQ(v.x(), T(x));
    EXPECT_EQ(v.y(), T(y));
    EXPECT_EQ(v.z(), T(z));
    EXPECT_EQ(v.w(), T(w));
  };
  expect(Vec(), 0, 0, 0, 0);
  expect(Vec(T(9)), 9, 9, 9, 9);
  expect(a + b, 6, 9, 14, 17);
  expect(b - a, 4, 5, 8, 9);
  expect(a * b, 5, 14, 33, 52);
  expect(a * T(3), 3, 6, 9, 12);
  expect(T(3) * a, 3, 6, 9, 12);
  expect((a * b) / b, 1, 2, 3, 4);
  expect((a * T(6)) / T(3), 2, 4, 6, 8);
  expect(-(-a), 1, 2, 3, 4);
  Vec c = a;
  c += b;
  c -= Vec(T(1));
  c *= T(2);
  expect(c, 10, 16, 26, 32);
  c /= T(2);
  c *= a;
  expect(c, 5, 16, 39, 64);
  for (int k = 0; k < 4; ++k) c[k] = static_cast<T>(k);
  expect(c, 0, 1, 2, 3);
}

TEST(HostSycl, VecOfFloat) { check_vec<float>(); }
TEST(HostSycl, VecOfDouble) { check_vec<double>(); }
TEST(HostSycl, VecOfInt) { check_vec<int>(); }

template <class Real>
void check_math() {
  const Real nan = std::numeric_limits<Real>::quiet_NaN(), infinity = std::numeric_limits<Real>::infinity();
  EXPECT_EQ(sycl::fmin(Real(1), Real(2)), Real(1));
  EXPECT_EQ(sycl::ceil(Real(1.25)), Real(2));
  EXPECT_EQ(sycl::ceil(Real(-1.25)), Real(-1));
  EXPECT_EQ(sycl::fmax(Real(1), Real(2)), Real(2));
  // A NaN loses against a number.
  EXPECT_EQ(sycl::fmin(nan, Real(2)), Real(2));
  EXPECT_EQ(sycl::fmin(Real(2), nan), Real(2));
  EXPECT_EQ(sycl::fmax(nan, Real(2)), Real(2));
  EXPECT_EQ(sycl::fmax(Real(2), nan), Real(2));
  EXPECT_TRUE(sycl::isnan(sycl::fmax(nan, nan)));
  EXPECT_EQ(sycl::fmin(-infinity, Real(2)), -infinity);
  EXPECT_TRUE(sycl::isfinite(Real(3)));
  EXPECT_FALSE(sycl::isfinite(infinity));
  EXPECT_FALSE(sycl::isnan(infinity));
  EXPECT_EQ(sycl::rsqrt(Real(4)), Real(0.5));
  EXPECT_EQ(sycl::fma(Real(3), Real(4), Real(5)), Real(17));
  EXPECT_EQ(sycl::ldexp(Real(3), 4), Real(48));
  EXPECT_EQ(sycl::ilogb(Real(48)), 5);
  EXPECT_EQ(sycl::copysign(Real(3), Real(-0.0)), Real(-3));
  EXPECT_EQ(sycl::clamp(Real(5), Real(0), Real(1)), Real(1));
  EXPECT_EQ(sycl::hypot(Real(3), Real(4)), Real(5));
  EXPECT_EQ(sycl::pow(Real(2), Real(10)), Real(1024));
  EXPECT_EQ(sycl::atan2(Real(1), Real(-1)), std::atan2(Real(1), Real(-1)));
}

TEST(HostSycl, MathOfFloat) { check_math<float>(); }
TEST(HostSycl, MathOfDouble) { check_math<double>(); }

TEST(HostSycl, IntegerFunctions) {
  EXPECT_EQ(sycl::clz(std::uint32_t(1)), 31u);
  EXPECT_EQ(sycl::clz(std::uint32_t(0)), 32u);
  EXPECT_EQ(sycl::clz(std::uint64_t(1)), 63u);
  EXPECT_EQ(sycl::popcount(std::uint32_t(0xF0F0)), 8u);
  EXPECT_EQ(sycl::popcount(-1), 32);
  EXPECT_EQ(sycl::abs(-5), 5);
  EXPECT_EQ(sycl::max(3u, 7u), 7u);
  EXPECT_EQ(sycl::min(-3, 7), -3);
  EXPECT_EQ(sycl::clamp(9, 0, 5), 5);
  EXPECT_EQ(sycl::bit_cast<std::uint32_t>(1.0f), 0x3f800000u);
}

TEST(HostSycl, OneDeviceTheCpu) {
  const auto devices = sycl::device::get_devices();
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_TRUE(devices[0].is_cpu());
  EXPECT_FALSE(devices[0].is_gpu());
  EXPECT_TRUE(devices[0].has(sycl::aspect::fp64));
  EXPECT_FALSE(devices[0].has(sycl::aspect::gpu));
  EXPECT_FALSE(devices[0].get_info<sycl::info::device::name>().empty());
  EXPECT_GE(devices[0].get_info<sycl::info::device::max_compute_units>(), 1u);
}

TEST(HostSycl, ExceptionsCarryTheirText) {
  try {
    throw sycl::exception("out of luck");
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "out of luck");
  }
}

}  // namespace

#endif
