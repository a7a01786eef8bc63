#pragma once

#include <atomic>
#include <concepts>

namespace sycl {

enum class memory_order { relaxed, acquire, release, acq_rel, seq_cst };
enum class memory_scope { work_item, sub_group, work_group, device, system };
namespace access {
enum class address_space { global_space, local_space, private_space, generic_space };
}

/// Atomics on integers only: sums of reals in arrival order would not be reproducible.
template <std::integral T, memory_order DefaultOrder, memory_scope DefaultScope,
          access::address_space Space = access::address_space::generic_space>
class atomic_ref {
 public:
  explicit atomic_ref(T& value) : value_(value) {}
  [[nodiscard]] T load() const { return std::atomic_ref<T>(value_).load(order()); }
  void store(T operand) const { std::atomic_ref<T>(value_).store(operand, order()); }
  T fetch_add(T operand) const { return std::atomic_ref<T>(value_).fetch_add(operand, order()); }
  T fetch_sub(T operand) const { return std::atomic_ref<T>(value_).fetch_sub(operand, order()); }
  T fetch_or(T operand) const { return std::atomic_ref<T>(value_).fetch_or(operand, order()); }
  T fetch_min(T operand) const {
    return update([operand](T old) { return operand < old ? operand : old; });
  }
  T fetch_max(T operand) const {
    return update([operand](T old) { return old < operand ? operand : old; });
  }

 private:
  static constexpr std::memory_order order() {
    return DefaultOrder == memory_order::relaxed ? std::memory_order_relaxed : std::memory_order_seq_cst;
  }
  template <class Change>
  T update(Change change) const {
    const std::atomic_ref<T> target(value_);
    T old = target.load(order());
    while (!target.compare_exchange_weak(old, change(old), order())) {
    }
    return old;
  }
  T& value_;
};

}  // namespace sycl
