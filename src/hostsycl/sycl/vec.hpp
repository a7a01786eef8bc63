#pragma once

#include <cstddef>

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
  explicit vec(native data) : data_(data) {}
  native data_;
};

using float4 = vec<float, 4>;
using double4 = vec<double, 4>;

}  // namespace sycl
