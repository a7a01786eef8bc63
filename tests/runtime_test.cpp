#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "runtime/algorithms.hpp"
#include "runtime/device_array.hpp"
#include "runtime/launch.hpp"
#include "runtime/queue.hpp"
#include "runtime/timers.hpp"
#include "tests/kernels/runtime_kernels.hpp"

#if defined(DUCTILE_BACKEND_HOST)
#include <omp.h>
#endif

namespace ductile {
namespace {

/// Around the sizes where something changes: empty, one item, the host's blocks, the chunks of scan, reduce and sort,
/// two levels of a scan.
const std::vector<std::size_t> awkward_sizes = {0,   1,   2,    63,   64,   65,   255,    256,     257,     511,
                                                512, 513, 2047, 2048, 2049, 4095, 40'000, 262'144, 262'145, 1'000'003};

template <class Integer>
std::vector<Integer> random_integers(std::size_t size, Integer largest, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<Integer> values(size);
  for (auto& value : values) value = static_cast<Integer>(random() % (std::uint64_t(largest) + 1));
  return values;
}

template <class Real>
std::vector<Real> random_reals(std::size_t size, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<Real> values(size);
  for (auto& value : values) value = static_cast<Real>(std::generate_canonical<double, 53>(random) * 4 - 1);
  return values;
}

TEST(Queue, KnowsItsDevice) {
  Queue queue;
  EXPECT_FALSE(queue.device().name.empty());
  EXPECT_GE(queue.threads(), 1);
  EXPECT_GE(queue.device().compute_units, 1u);
  EXPECT_GT(queue.device().memory_bytes, std::uint64_t(1) << 28);
  EXPECT_FALSE(backend_name().empty());
  EXPECT_FALSE(backend_compiler().empty());
  EXPECT_EQ(list_devices().front().name, queue.device().name);
}

TEST(Queue, ChoosesADeviceByNumberOrName) {
  EXPECT_EQ(Queue({.device = "0"}).device().name, list_devices().front().name);
  const std::string name = list_devices().back().name;
  EXPECT_EQ(Queue({.device = name.substr(1)}).device().name, name);
}

TEST(Queue, RefusesUnknownDevicesAndListsTheKnown) {
  for (const char* wanted : {"no such device", "99", "-1"}) {
    try {
      Queue queue({.device = wanted});
      FAIL() << wanted;
    } catch (const DeviceError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find(wanted), std::string::npos) << text;
      EXPECT_NE(text.find(list_devices().front().name), std::string::npos) << text;
    }
  }
}

TEST(Launch, VisitsEveryIndexOnce) {
  Queue queue;
  for (const std::size_t size : awkward_sizes) {
    DeviceArray<std::uint32_t> visits(queue, size + 1);
    DeviceArray<std::uint64_t> index(queue, size + 1);
    visits.fill(0);
    index.fill(~std::uint64_t(0));
    launch(queue, "visit", size, VisitIndex{visits.data(), index.data()});
    const auto counted = visits.download();
    const auto seen = index.download();
    for (std::size_t i = 0; i < size; ++i) {
      ASSERT_EQ(counted[i], 1u) << i << " of " << size;
      ASSERT_EQ(seen[i], i) << "of " << size;
    }
    EXPECT_EQ(counted[size], 0u) << "an index past the end, size " << size;
  }
}

TEST(Launch, AtomicsCountEveryItem) {
  Queue queue;
  const auto buckets = random_integers<std::uint32_t>(100'000, 6, 1);
  DeviceArray<std::uint32_t> bucket(queue, buckets), counts(queue, 7), largest(queue, 1);
  counts.fill(0);
  largest.fill(0);
  launch(queue, "count", buckets.size(), CountBuckets{bucket.data(), counts.data(), largest.data()});
  const auto counted = counts.download();
  for (std::uint32_t k = 0; k < counted.size(); ++k)
    EXPECT_EQ(counted[k], std::uint32_t(std::count(buckets.begin(), buckets.end(), k)));
  EXPECT_EQ(largest.download()[0], buckets.size() - 1);
}

/// The functions of EvaluateMath in double precision.
std::array<double, 12> math_reference(double a) {
  return {std::sqrt(a),
          1 / std::sqrt(a),
          std::log(a),
          std::exp(-a),
          std::sin(a),
          std::cos(a),
          std::atan2(a, 2.0),
          std::pow(a, 0.7),
          std::cbrt(a),
          std::fma(a, a, -1),
          std::clamp(a, 1.0, 2.0),
          1 / a};
}

template <class Real>
void check_math() {
  Queue queue;
  if (std::is_same_v<Real, double> && !queue.device().double_precision) GTEST_SKIP() << "no double precision";
  std::vector<Real> x;
  for (int k = 1; k <= 300; ++k) x.push_back(Real(0.01) * Real(k) * Real(k) / Real(30));
  constexpr std::size_t functions = EvaluateMath<Real>::functions;
  DeviceArray<Real> arguments(queue, x), results(queue, functions * x.size());
  launch(queue, "math", x.size(), EvaluateMath<Real>{arguments.data(), results.data()});
  const auto computed = results.download();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto expected = math_reference(double(x[i]));
    for (std::size_t f = 0; f < functions; ++f)
      // SYCL allows a full-precision function at most 16 ulp (pow); the floor is for zeros of log, sin, cos and fma.
      // In double precision the reference itself carries the rounding of 0.7.
      EXPECT_NEAR(double(computed[functions * i + f]), expected[f],
                  20 * double(std::numeric_limits<Real>::epsilon()) * std::max(std::abs(expected[f]), 1.0))
          << "function " << f << " at " << x[i];
  }
}

TEST(Launch, MathFunctionsInSinglePrecision) { check_math<float>(); }
TEST(Launch, MathFunctionsInDoublePrecision) { check_math<double>(); }

template <class Real>
void check_strict_arithmetic() {
  Queue queue;
  if (std::is_same_v<Real, double> && !queue.device().double_precision) GTEST_SKIP() << "no double precision";
  using Limits = std::numeric_limits<Real>;
  DeviceArray<Real> x(queue, std::vector<Real>{Real(1), Limits::epsilon() / 4, Limits::quiet_NaN()});
  DeviceArray<std::uint32_t> ok(queue, 5);
  ok.fill(2);
  launch(queue, "strict", 1, StrictArithmetic<Real>{x.data(), ok.data()});
  EXPECT_EQ(ok.download(), std::vector<std::uint32_t>(5, 1));
}

TEST(Launch, ArithmeticIsNotFastMathInSinglePrecision) { check_strict_arithmetic<float>(); }
TEST(Launch, ArithmeticIsNotFastMathInDoublePrecision) { check_strict_arithmetic<double>(); }

TEST(Launch, FourVectors) {
  Queue queue;
  using Vec = sycl::vec<float, 4>;
  std::vector<Vec> a, b;
  for (int i = 0; i < 100; ++i) {
    const auto k = static_cast<float>(i);
    a.emplace_back(k, 2 * k, 3 * k, 4 * k);
    b.emplace_back(4.f, 2.f, 1.f, k);
  }
  DeviceArray<Vec> da(queue, a), db(queue, b), dr(queue, a.size());
  launch(queue, "vectors", a.size(), VectorAlgebra<float>{da.data(), db.data(), dr.data()});
  const auto result = dr.download();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto k = static_cast<float>(i);
    // Small integers and halves: exact.
    EXPECT_EQ(result[i][0], (4 * k + 1) / 2 - 4);
    EXPECT_EQ(result[i][1], (4 * k + 2) / 2 - 4);
    EXPECT_EQ(result[i][2], (3 * k + 3) / 2 - 4);
    EXPECT_EQ(result[i][3], 3 * k);
  }
}

TEST(DeviceArray, KeepsWhatItIsGiven) {
  Queue queue;
  const auto values = random_reals<float>(1000, 2);
  DeviceArray<float> array(queue, values);
  EXPECT_EQ(array.size(), values.size());
  EXPECT_EQ(array.download(), values);
  array.fill(3.f);
  EXPECT_EQ(array.download(), std::vector<float>(1000, 3.f));
  array.clear_bytes();
  EXPECT_EQ(array.download(), std::vector<float>(1000, 0.f));
  EXPECT_THROW(array.upload(std::vector<float>(999)), std::logic_error);
}

TEST(DeviceArray, MovesAndCountsItsMemory) {
  Queue queue;
  const std::size_t before = queue.allocated();
  {
    DeviceArray<double> first(queue, std::vector<double>{1, 2, 3});
    DeviceArray<double> second(std::move(first));
    EXPECT_EQ(second.download(), (std::vector<double>{1, 2, 3}));
    DeviceArray<double> third;
    EXPECT_TRUE(third.empty());
    third = std::move(second);
    EXPECT_EQ(third.size(), 3u);
    EXPECT_EQ(queue.allocated(), before + 3 * sizeof(double));
  }
  EXPECT_EQ(queue.allocated(), before);
  EXPECT_GE(queue.peak_allocation(), before + 3 * sizeof(double));
  DeviceArray<double> nothing(queue, 0);
  EXPECT_TRUE(nothing.download().empty());
}

TEST(DeviceArray, TooLargeIsADeviceError) {
  Queue queue;
  // 2^60 bytes: more than any address space.
  EXPECT_THROW(DeviceArray<double>(queue, std::size_t(1) << 57), DeviceError);
}

TEST(Scan, EqualsStdExclusiveScan) {
  Queue queue;
  for (const std::size_t size : awkward_sizes) {
    const auto values = random_integers<std::uint32_t>(size, 7, 3);
    std::vector<std::uint32_t> expected(size + 1, 0);
    std::exclusive_scan(values.begin(), values.end(), expected.begin(), 0u);
    expected[size] = std::accumulate(values.begin(), values.end(), 0u);

    DeviceArray<std::uint32_t> input(queue, values), output(queue, size + 1);
    exclusive_scan(queue, "scan", input.data(), output.data(), size);
    EXPECT_EQ(output.download(), expected) << "size " << size;

    auto padded = values;
    padded.push_back(99);
    DeviceArray<std::uint32_t> in_place(queue, padded);
    exclusive_scan(queue, "scan", in_place.data(), in_place.data(), size);
    EXPECT_EQ(in_place.download(), expected) << "in place, size " << size;
  }
}

TEST(Reduce, SumsAndExtremes) {
  Queue queue;
  for (const std::size_t size : awkward_sizes) {
    const auto values = random_reals<float>(size, 4);
    DeviceArray<float> array(queue, values);
    const auto result = reduce<SumAndExtremes<float>>(queue, "reduce", size, LoadValue<float>{array.data()});
    const double expected = std::accumulate(values.begin(), values.end(), 0.0);
    // Sums of 256, then of the chunks: each addition rounds by at most half an ulp of a partial sum below 3 per value.
    const double bound = 0.5 * 1.2e-7 * (256 + double(size) / 256) * 3 * double(size);
    EXPECT_NEAR(double(result.sum), expected, bound) << "size " << size;
    if (size == 0) continue;
    EXPECT_EQ(result.smallest, *std::min_element(values.begin(), values.end()));
    EXPECT_EQ(result.largest, *std::max_element(values.begin(), values.end()));
  }
}

#if defined(DUCTILE_BACKEND_HOST)
TEST(Reduce, SameBitsForAnyNumberOfThreads) {
  const auto values = random_reals<float>(1'000'003, 5);
  const int threads_before = omp_get_max_threads();
  std::vector<float> sums;
  for (const int threads : {1, 2, 3, 7}) {
    Queue queue({.threads = threads});
    EXPECT_EQ(queue.threads(), threads);
    DeviceArray<float> array(queue, values);
    sums.push_back(reduce<SumAndExtremes<float>>(queue, "reduce", values.size(), LoadValue<float>{array.data()}).sum);
  }
  omp_set_num_threads(threads_before);
  for (const float sum : sums) EXPECT_EQ(sum, sums[0]);
}
#endif

template <class Key>
void check_sort(std::size_t size, Key largest, int key_bits) {
  Queue queue;
  const auto keys = random_integers<Key>(size, largest, 6);
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0u);
  DeviceArray<Key> device_keys(queue, keys);
  DeviceArray<std::uint32_t> device_values(queue, order);
  sort_by_key(queue, "sort", device_keys, device_values, key_bits);

  const Key mask = static_cast<Key>(~Key(0) >> (8 * int(sizeof(Key)) - key_bits));
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return (keys[a] & mask) < (keys[b] & mask); });
  EXPECT_EQ(device_values.download(), order) << size << " keys of " << key_bits << " bits";
  std::vector<Key> sorted(size);
  std::transform(order.begin(), order.end(), sorted.begin(), [&](auto k) { return keys[k]; });
  EXPECT_EQ(device_keys.download(), sorted);
}

TEST(Sort, StableForAwkwardSizes) {
  // Few different keys, so that an unstable sort shows.
  for (const std::size_t size : awkward_sizes) check_sort<std::uint32_t>(size, 1000, 10);
}

TEST(Sort, KeysOfEveryWidth) {
  check_sort<std::uint32_t>(10'000, ~0u, 32);
  check_sort<std::uint64_t>(10'000, ~std::uint64_t(0) - 1, 64);
  check_sort<std::uint64_t>(10'000, std::uint64_t(1) << 40, 41);
  check_sort<std::uint32_t>(10'000, 0, 1);
}

TEST(Sort, BitsAboveTheKeyDoNotCount) { check_sort<std::uint32_t>(10'000, ~0u, 13); }

TEST(Timers, AddUpByNameAndKeepTheOrder) {
  Timers timers;
  const std::string other_pointer = "solve";  // the same word at another address
  timers.add("grid", 1);
  timers.add("solve", 2);
  timers.add(other_pointer.c_str(), 3);
  ASSERT_EQ(timers.phases().size(), 2u);
  EXPECT_EQ(timers.phases()[0].name, "grid");
  EXPECT_EQ(timers.phases()[1].seconds, 5);
  EXPECT_EQ(timers.phases()[1].launches, 2u);
  timers.clear();
  EXPECT_TRUE(timers.phases().empty());
}

TEST(Timers, CountLaunches) {
  Queue queue;
  const std::size_t size = 100'000;
  DeviceArray<std::uint32_t> visits(queue, size);
  DeviceArray<std::uint64_t> index(queue, size);
  for (int k = 0; k < 5000; ++k) launch(queue, "visit", 64, VisitIndex{visits.data(), index.data()});
  launch(queue, "long visit", size, VisitIndex{visits.data(), index.data()});
  launch(queue, "no visit", 0, VisitIndex{visits.data(), index.data()});
  queue.wait();
  ASSERT_EQ(queue.timers().phases().size(), 2u);
  EXPECT_EQ(queue.timers().phases()[0].launches, 5000u);
  EXPECT_EQ(queue.timers().phases()[1].launches, 1u);
  for (const auto& phase : queue.timers().phases()) EXPECT_GT(phase.seconds, 0) << phase.name;
}

TEST(Queue, PreparesForBothPrecisionsOrSaysWhyNot) {
  Queue queue;
  queue.prepare<float>();
  if (queue.device().double_precision)
    queue.prepare<double>();
  else
    EXPECT_THROW(queue.prepare<double>(), DeviceError);
}

}  // namespace
}  // namespace ductile
