#pragma once

#include <cstdint>
#include <vector>

#include "kernels/contact/pairs.hpp"
#include "kernels/xpbd/cutting.hpp"
#include "runtime/device_array.hpp"
#include "scene/scene.hpp"
#include "solvers/neighbors.hpp"

namespace ductile {

/// Cutting surfaces that sever rest neighbours (P0 sec. 4.4), and the pieces that are left.
template <class Real>
class Cuts {
 public:
  Cuts() = default;
  Cuts(Queue& queue, const scene::Scene& scene, const NeighborLists& lists, std::size_t particles);

  [[nodiscard]] bool active() const { return !severed_.empty(); }
  /// Severs what the surfaces cross while they move from `begin` to `end` seconds. True if anything was.
  bool sever(Queue& queue, const scene::Scene& scene, const NeighborLists& lists, const Vec4<Real>* position,
             double begin, double end);
  /// One byte per pair, not zero for a severed one; empty in scenes without cuts.
  [[nodiscard]] DeviceArray<std::uint8_t>& severed() { return severed_; }
  /// What contact needs to know; only after a cut.
  [[nodiscard]] SeveredPairs pairs(const NeighborLists& lists) const {
    return {lists.start.data(), lists.index.data(), severed_.data()};
  }

 private:
  DeviceArray<std::uint8_t> severed_;
  DeviceArray<std::uint32_t> count_;
};

/// The piece of every particle, in solver order: particles joined by unsevered pairs share one. Pieces are numbered by
/// their particle of the smallest id.
struct Pieces {
  std::vector<std::uint32_t> of_particle;
  std::vector<std::uint32_t> cut_layer;  ///< particles that lost a neighbour, and their neighbours, ascending
};
[[nodiscard]] Pieces find_pieces(const NeighborLists& lists, const DeviceArray<std::uint8_t>& severed,
                                 const std::vector<std::uint32_t>& id);

}  // namespace ductile
