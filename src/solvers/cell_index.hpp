#pragma once

#include <cstdint>

#include "kernels/neighbors/neighbor_lists.hpp"
#include "runtime/device_array.hpp"

namespace ductile {

/// Particles sorted into cells of a given width, for searches around a particle.
template <class Real>
class CellIndex {
 public:
  /// Throws SimulationError for positions that are not finite.
  CellIndex(Queue& queue, const DeviceArray<Vec4<Real>>& position, Real width);

  /// All particles within `radius`.
  template <class Accept = AnyPair>
  [[nodiscard]] NeighborSearch<Real, Accept> within(Real radius, const Accept& accept = {}) const {
    const auto rings = std::int64_t(radius / width_) + (radius > Real(std::int64_t(radius / width_)) * width_ ? 1 : 0);
    return {grid_, radius * radius, position_, accept, first_.data(), member_.data(), sorted_.data(), rings};
  }

 private:
  Real width_;
  const Vec4<Real>* position_;
  CellGrid<Real> grid_{};
  DeviceArray<std::uint32_t> first_, member_;
  DeviceArray<Vec4<Real>> sorted_;
};

}  // namespace ductile
