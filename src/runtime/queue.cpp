#include "runtime/queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include "common/error.hpp"
#include "runtime/backend.hpp"

namespace ductile {

namespace {

DeviceDescription describe(const sycl::device& device) {
  namespace info = sycl::info::device;
  DeviceDescription result;
  result.name = device.get_info<info::name>();
  result.vendor = device.get_info<info::vendor>();
  result.driver = device.get_info<info::driver_version>();
  result.kind = device.is_cpu() ? "cpu" : device.is_gpu() ? "gpu" : "accelerator";
  result.compute_units = device.get_info<info::max_compute_units>();
  result.memory_bytes = device.get_info<info::global_mem_size>();
  result.double_precision = device.has(sycl::aspect::fp64);
  return result;
}

sycl::device select(const std::vector<sycl::device>& devices, const std::string& wanted) {
  if (wanted.empty()) return devices.front();
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  if (error == std::errc() && end == wanted.data() + wanted.size() && number < devices.size()) return devices[number];
  for (const auto& device : devices)
    if (device.get_info<sycl::info::device::name>().find(wanted) != std::string::npos) return device;
  std::string known;
  for (std::size_t i = 0; i < devices.size(); ++i)
    known += fmt::format("\n    {}: {}", i, devices[i].get_info<sycl::info::device::name>());
  throw DeviceError(
      fmt::format("There is no device \"{}\" in the {} back end. Choose one by number or by a part of its "
                  "name:{}",
                  wanted, backend_name(), known));
}

sycl::device open_device(const QueueOptions& options) {
  backend::prepare(options.threads);
  return select(backend::devices(), options.device);
}

}  // namespace

std::vector<DeviceDescription> list_devices() {
  std::vector<DeviceDescription> result;
  for (const auto& device : backend::devices()) result.push_back(describe(device));
  return result;
}

Queue::Queue(const QueueOptions& options)
    : queue_(open_device(options),
             sycl::property_list{sycl::property::queue::in_order{}, sycl::property::queue::enable_profiling{}}),
      device_(describe(queue_.get_device())),
      threads_(backend::threads()) {}

void Queue::prepare(bool double_precision) {
  if (double_precision && !device_.double_precision)
    throw DeviceError(
        fmt::format("The device \"{}\" has no double precision. Use solver.precision = \"single\" or "
                    "another device.",
                    device_.name));
  backend::compile_kernels(queue_, double_precision);
}

void* Queue::allocate(std::size_t bytes) {
  void* block = nullptr;
  if (const auto fit = spare_.lower_bound(bytes); fit != spare_.end() && fit->first <= bytes + bytes / 4) {
    bytes = fit->first;
    block = fit->second.block;
    spare_.erase(fit);
  } else {
    struct alignas(64) Line {
      std::byte bytes[64];
    };
    if (bytes > PTRDIFF_MAX - sizeof(Line)) return nullptr;
    free_spare(std::max(peak_, allocated_ + bytes) - bytes);
    block = sycl::malloc_device<Line>((bytes + sizeof(Line) - 1) / sizeof(Line), queue_);
    if (block == nullptr) return nullptr;
    held_ += bytes;
  }
  used_.emplace(block, bytes);
  allocated_ += bytes;
  peak_ = std::max(peak_, allocated_);
  return block;
}

void Queue::release(void* block) {
  const auto found = used_.find(block);
  allocated_ -= found->second;
  spare_.emplace(found->second, Spare{block, released_++});
  used_.erase(found);
}

void Queue::free_spare(std::size_t most) {
  if (held_ <= most || spare_.empty()) return;
  try {
    queue_.wait();
  } catch (const sycl::exception&) {  // of an earlier command; the next wait() reports it
  }
  while (held_ > most && !spare_.empty()) {
    const auto oldest = std::ranges::min_element(spare_, {}, [](const auto& entry) { return entry.second.since; });
    sycl::free(oldest->second.block, queue_);
    held_ -= oldest->first;
    spare_.erase(oldest);
  }
}

void Queue::record(const char* phase, sycl::event event) {
  constexpr std::size_t most_pending = 4096;
  pending_.emplace_back(phase, std::move(event));
  if (pending_.size() >= most_pending) wait();
}

void Queue::fail(const sycl::exception& error) const {
  throw DeviceError(fmt::format("The device \"{}\" failed: {}", device_.name, error.what()));
}

void Queue::copy(void* destination, const void* source, std::size_t bytes) {
  try {
    queue_.memcpy(destination, source, bytes).wait();
  } catch (const sycl::exception& error) {
    fail(error);
  }
}

void Queue::wait() {
  using namespace sycl::info::event_profiling;
  try {
    queue_.wait_and_throw();
    for (auto& [phase, event] : pending_)
      timers_.add(phase,
                  1e-9 * double(event.get_profiling_info<command_end>() - event.get_profiling_info<command_start>()));
  } catch (const sycl::exception& error) {
    fail(error);
  }
  pending_.clear();
}

}  // namespace ductile
