#pragma once

#include <cstddef>

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace sycl {

namespace detail {
template <class T>
struct native_vec4;
template <>
struct native_vec4<float> {
  typedef float type __attribute__((vector_size(16)));
};
template <>
struct native_vec4<double> {
  typedef double type __attribute__((vector_size(32)));
};
template <>
struct native_vec4<int> {
  typedef int type __attribute__((vector_size(16)));
};
template <>
struct native_vec4<unsigned> {
  typedef unsigned type __attribute__((vector_size(16)));
};
}  // namespace detail

template <class T, int Elements>
class vec;

/// Four numbers on the compiler's own vector type, so that one operation is one instruction.
template <class T>
class vec<T, 4> {
  using native = typename detail::native_vec4<T>::type;

 public:
  using element_type = T;
  using value_type = T;

  vec() : data_{} {}
  explicit vec(T all) : data_{all, all, all, all} {}
  vec(T x, T y, T z, T w) : data_{x, y, z, w} {}

  [[nodiscard]] static constexpr std::size_t size() { return 4; }
  [[nodiscard]] static constexpr std::size_t byte_size() { return 4 * sizeof(T); }

  T& operator[](int index) { return reinterpret_cast<T*>(&data_)[index]; }
  T operator[](int index) const { return data_[index]; }
  [[nodiscard]] T x() const { return data_[0]; }
  [[nodiscard]] T y() const { return data_[1]; }
  [[nodiscard]] T z() const { return data_[2]; }
  [[nodiscard]] T w() const { return data_[3]; }
  template <int X, int Y, int Z, int W>
  [[nodiscard]] vec swizzle() const {
    return vec(__builtin_shufflevector(data_, data_, X, Y, Z, W));
  }

  friend vec operator+(const vec& a, const vec& b) { return vec(a.data_ + b.data_); }
  friend vec operator-(const vec& a, const vec& b) { return vec(a.data_ - b.data_); }
  friend vec operator*(const vec& a, const vec& b) { return vec(a.data_ * b.data_); }
  friend vec operator/(const vec& a, const vec& b) { return vec(a.data_ / b.data_); }
  friend vec operator*(const vec& a, const T& b) { return vec(a.data_ * b); }
  friend vec operator*(const T& a, const vec& b) { return vec(a * b.data_); }
  friend vec operator/(const vec& a, const T& b) { return vec(a.data_ / b); }
  friend vec operator-(const vec& a) { return vec(-a.data_); }
  friend vec& operator+=(vec& a, const vec& b) { return a = a + b; }
  friend vec& operator-=(vec& a, const vec& b) { return a = a - b; }
  friend vec& operator*=(vec& a, const vec& b) { return a = a * b; }
  friend vec& operator*=(vec& a, const T& b) { return a = a * b; }
  friend vec& operator/=(vec& a, const T& b) { return a = a / b; }

 private:
  template <class, int>
  friend class vec;
  explicit vec(native data) : data_(data) {}
  native data_;
};

/// Eight floats fill one register of AVX.
template <>
class vec<float, 8> {
  typedef float native __attribute__((vector_size(32)));

 public:
  using element_type = float;
  using value_type = float;

  vec() : data_{} {}
  explicit vec(float all) : data_{all, all, all, all, all, all, all, all} {}
  vec(const vec<float, 4>& low, const vec<float, 4>& high)
#if defined(__AVX__)  // GCC takes the upper half straight from memory only so
      : data_(_mm256_insertf128_ps(_mm256_castps128_ps256(low.data_), high.data_, 1)){}
#else
      : data_(__builtin_shufflevector(low.data_, high.data_, 0, 1, 2, 3, 4, 5, 6, 7)) {
  }
#endif

        [[nodiscard]] static constexpr std::size_t size() {
    return 8;
  }
  float operator[](int index) const { return data_[index]; }
  [[nodiscard]] vec<float, 4> lo() const { return vec<float, 4>(__builtin_shufflevector(data_, data_, 0, 1, 2, 3)); }
  [[nodiscard]] vec<float, 4> hi() const { return vec<float, 4>(__builtin_shufflevector(data_, data_, 4, 5, 6, 7)); }
  template <int... Index>
  requires(sizeof...(Index) == 8) [[nodiscard]] vec swizzle() const {
    return vec(__builtin_shufflevector(data_, data_, Index...));
  }

  friend vec operator+(const vec& a, const vec& b) { return vec(a.data_ + b.data_); }
  friend vec operator-(const vec& a, const vec& b) { return vec(a.data_ - b.data_); }
  friend vec operator*(const vec& a, const vec& b) { return vec(a.data_ * b.data_); }
  friend vec& operator+=(vec& a, const vec& b) { return a = a + b; }

 private:
  explicit vec(native data) : data_(data) {}
  native data_;
};

/// Eight doubles are two registers: a vector type of the compiler would go through memory.
template <>
class vec<double, 8> {
 public:
  using element_type = double;
  using value_type = double;

  vec() = default;
  explicit vec(double all) : low_(all), high_(all) {}
  vec(const vec<double, 4>& low, const vec<double, 4>& high) : low_(low), high_(high) {}

  [[nodiscard]] static constexpr std::size_t size() { return 8; }
  double operator[](int index) const { return index < 4 ? low_[index] : high_[index - 4]; }
  [[nodiscard]] vec<double, 4> lo() const { return low_; }
  [[nodiscard]] vec<double, 4> hi() const { return high_; }
  /// Only swizzles that stay within each half.
  template <int A, int B, int C, int D, int E, int F, int G, int H>
  requires(A < 4 && B < 4 && C < 4 && D < 4 && E >= 4 && F >= 4 && G >= 4 && H >= 4) [[nodiscard]] vec swizzle() const {
    return {low_.template swizzle<A, B, C, D>(), high_.template swizzle<E - 4, F - 4, G - 4, H - 4>()};
  }

  friend vec operator+(const vec& a, const vec& b) { return {a.low_ + b.low_, a.high_ + b.high_}; }
  friend vec operator-(const vec& a, const vec& b) { return {a.low_ - b.low_, a.high_ - b.high_}; }
  friend vec operator*(const vec& a, const vec& b) { return {a.low_ * b.low_, a.high_ * b.high_}; }
  friend vec& operator+=(vec& a, const vec& b) { return a = a + b; }

 private:
  vec<double, 4> low_, high_;
};

using float4 = vec<float, 4>;
using double4 = vec<double, 4>;

}  // namespace sycl
