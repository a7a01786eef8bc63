#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ductile {

/// Time spent per phase name.
class Timers {
 public:
  struct Phase {
    std::string name;
    double seconds = 0;
    std::uint64_t launches = 0;
  };

  void add(const char* name, double seconds) {
    // Names are string literals: the pointer nearly always decides.
    for (std::size_t i = 0; i < keys_.size(); ++i)
      if (keys_[i] == name) return add(phases_[slots_[i]], seconds);
    std::size_t slot = 0;
    while (slot < phases_.size() && phases_[slot].name != name) ++slot;
    if (slot == phases_.size()) phases_.push_back({name, 0, 0});
    keys_.push_back(name);
    slots_.push_back(slot);
    add(phases_[slot], seconds);
  }
  [[nodiscard]] const std::vector<Phase>& phases() const { return phases_; }
  void clear() { *this = {}; }

 private:
  static void add(Phase& phase, double seconds) {
    phase.seconds += seconds;
    ++phase.launches;
  }
  std::vector<const char*> keys_;
  std::vector<std::size_t> slots_;
  std::vector<Phase> phases_;
};

}  // namespace ductile
