#pragma once

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "common/error.hpp"
#include "runtime/device_array.hpp"
#include "solvers/solver.hpp"

namespace ductile {

template <class T>
StateBlock pack(const char* name, const std::vector<T>& values) {
  StateBlock block{name, std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(block.bytes.data(), values.data(), block.bytes.size());
  return block;
}

template <class T>
StateBlock pack(const char* name, const DeviceArray<T>& array) {
  return pack(name, array.download());
}

template <class T>
void unpack(const std::vector<StateBlock>& blocks, const char* name, std::vector<T>& values) {
  for (const auto& block : blocks) {
    if (block.name != name || block.bytes.size() != values.size() * sizeof(T)) continue;
    if (!values.empty()) std::memcpy(values.data(), block.bytes.data(), block.bytes.size());
    return;
  }
  throw InputError(fmt::format("The checkpoint has no block \"{}\" of this scene's size.", name));
}

template <class T>
void unpack(const std::vector<StateBlock>& blocks, const char* name, DeviceArray<T>& array) {
  std::vector<T> values(array.size());
  unpack(blocks, name, values);
  array.upload(values);
}

/// The same for an array whose size the checkpoint decides.
template <class T>
void unpack_all(const std::vector<StateBlock>& blocks, const char* name, Queue& queue, DeviceArray<T>& array) {
  for (const auto& block : blocks)
    if (block.name == name) array = DeviceArray<T>(queue, block.bytes.size() / sizeof(T));
  unpack(blocks, name, array);
}

}  // namespace ductile
