#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "runtime/queue.hpp"

namespace ductile {

/// An array in device memory (USM), owned. Contents start undefined.
template <class T>
class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  DeviceArray() = default;
  DeviceArray(Queue& queue, std::size_t size) : queue_(&queue), size_(size) {
    if (size == 0) return;
    static_assert(alignof(T) <= 64);
    data_ = static_cast<T*>(queue.allocate(size > PTRDIFF_MAX / sizeof(T) ? PTRDIFF_MAX : size * sizeof(T)));
    if (data_ == nullptr)
      throw DeviceError(
          fmt::format("The device has no room for another {:.1f} MB ({:.1f} MB are in use). Use fewer "
                      "particles (a larger spacing), single precision, or a device with more memory.",
                      double(size * sizeof(T)) / 1e6, double(queue.allocated()) / 1e6));
  }
  DeviceArray(Queue& queue, std::span<const T> values) : DeviceArray(queue, values.size()) { upload(values); }
  DeviceArray(Queue& queue, const std::vector<T>& values) : DeviceArray(queue, std::span<const T>(values)) {}
  DeviceArray(DeviceArray&& other) noexcept { swap(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceArray() {
    if (data_ != nullptr) queue_->release(data_);
  }

  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  void swap(DeviceArray& other) noexcept {
    std::swap(queue_, other.queue_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  /// Blocks until the values are on the device.
  void upload(std::span<const T> values) {
    if (values.size() != size_) throw std::logic_error("upload of another size");
    if (size_ != 0) queue_->copy(data_, values.data(), size_ * sizeof(T));
  }
  /// Blocks until everything before it has run.
  [[nodiscard]] std::vector<T> download() const {
    std::vector<T> values(size_);
    if (size_ != 0) queue_->copy(values.data(), data_, size_ * sizeof(T));
    return values;
  }
  void fill(const T& value) {
    if (size_ != 0) queue_->native().fill(data_, value, size_);
  }
  void clear_bytes() {
    if (size_ != 0) queue_->native().memset(data_, 0, size_ * sizeof(T));
  }

 private:
  Queue* queue_ = nullptr;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace ductile
