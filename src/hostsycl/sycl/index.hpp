#pragma once

#include <cstddef>

namespace sycl {

template <int Dimensions = 1>
class range;
template <int Dimensions = 1>
class id;
template <int Dimensions = 1>
class item;

/// Number of work-items; one dimension only.
template <>
class range<1> {
 public:
  range(std::size_t size) : size_(size) {}
  [[nodiscard]] std::size_t get(int) const { return size_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  std::size_t operator[](int) const { return size_; }
  friend bool operator==(const range&, const range&) = default;

 private:
  std::size_t size_;
};

template <>
class id<1> {
 public:
  id() = default;
  id(std::size_t index) : index_(index) {}
  [[nodiscard]] std::size_t get(int) const { return index_; }
  std::size_t operator[](int) const { return index_; }
  operator std::size_t() const { return index_; }

 private:
  std::size_t index_ = 0;
};

/// What a kernel is called with; converts to its id or index.
template <>
class item<1> {
 public:
  item(std::size_t index, std::size_t size) : index_(index), size_(size) {}
  [[nodiscard]] id<1> get_id() const { return index_; }
  [[nodiscard]] std::size_t get_id(int) const { return index_; }
  [[nodiscard]] std::size_t get_linear_id() const { return index_; }
  std::size_t operator[](int) const { return index_; }
  [[nodiscard]] range<1> get_range() const { return size_; }
  operator std::size_t() const { return index_; }
  operator id<1>() const { return index_; }

 private:
  std::size_t index_, size_;
};

}  // namespace sycl
