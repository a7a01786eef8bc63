#pragma once

#include <sycl/sycl.hpp>

#include <cstddef>
#include <cstdint>

namespace ductile {

/// Leaves a trace of every index: visits[i] must be 1 and index[i] must be i afterwards.
struct VisitIndex {
  std::uint32_t* visits;
  std::uint64_t* index;

  void operator()(std::size_t i) const {
    ++visits[i];
    index[i] = i;
  }
};

/// Counts into few buckets from many work-items at once.
struct CountBuckets {
  const std::uint32_t* bucket;
  std::uint32_t* counts;
  std::uint32_t* largest;

  void operator()(std::size_t i) const {
    using Counter = sycl::atomic_ref<std::uint32_t, sycl::memory_order::relaxed, sycl::memory_scope::device>;
    Counter(counts[bucket[i]]).fetch_add(1u);
    Counter(*largest).fetch_max(static_cast<std::uint32_t>(i));
  }
};

/// One call of every function in turn, at one argument; `results` holds `functions` numbers per argument.
template <class Real>
struct EvaluateMath {
  static constexpr std::size_t functions = 12;
  const Real* x;
  Real* results;

  void operator()(std::size_t i) const {
    Real* const r = results + functions * i;
    const Real a = x[i];
    r[0] = sycl::sqrt(a);
    r[1] = sycl::rsqrt(a);
    r[2] = sycl::log(a);
    r[3] = sycl::exp(-a);
    r[4] = sycl::sin(a);
    r[5] = sycl::cos(a);
    r[6] = sycl::atan2(a, Real(2));
    r[7] = sycl::pow(a, Real(0.7));
    r[8] = sycl::cbrt(a);
    r[9] = sycl::fma(a, a, Real(-1));
    r[10] = sycl::fabs(sycl::fmin(sycl::fmax(a, Real(1)), Real(2)));
    r[11] = Real(1) / a;
  }
};

/// What a compiler with fast-math would get wrong.
template <class Real>
struct StrictArithmetic {
  const Real* x;  // 1, 2^-(digits + 1), NaN
  std::uint32_t* ok;

  void operator()(std::size_t) const {
    const Real one = x[0], tiny = x[1], nan = x[2];
    ok[0] = (one + tiny) - one == Real(0) ? 1u : 0u;  // not simplified to tiny
    ok[1] = nan != nan ? 1u : 0u;
    ok[2] = sycl::isnan(nan) ? 1u : 0u;
    ok[3] = sycl::fmax(nan, one) == one ? 1u : 0u;
    ok[4] = sycl::isfinite(one / (tiny - tiny)) ? 0u : 1u;
  }
};

/// result[i] = (a b + c) / 2 with the four-vectors of the neighbour loops.
template <class Real>
struct VectorAlgebra {
  const sycl::vec<Real, 4>* a;
  const sycl::vec<Real, 4>* b;
  sycl::vec<Real, 4>* result;

  void operator()(std::size_t i) const {
    auto value = a[i] * b[i] + sycl::vec<Real, 4>(Real(1), Real(2), Real(3), Real(4));
    value *= Real(0.5);
    value -= sycl::vec<Real, 4>(b[i].x());
    value[3] = a[i][3] - b[i].w();
    result[i] = value;
  }
};

/// A sum that also keeps the extremes.
template <class Real>
struct SumAndExtremes {
  Real sum, smallest, largest;

  static SumAndExtremes identity() { return {Real(0), Real(1e30), Real(-1e30)}; }
  void combine(const SumAndExtremes& other) {
    sum += other.sum;
    smallest = sycl::fmin(smallest, other.smallest);
    largest = sycl::fmax(largest, other.largest);
  }
};

template <class Real>
struct LoadValue {
  const Real* values;

  SumAndExtremes<Real> operator()(std::size_t i) const { return {values[i], values[i], values[i]}; }
};

}  // namespace ductile
