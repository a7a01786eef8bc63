#pragma once

#include <cstdint>
#include <vector>

#include "kernels/contact/pairs.hpp"
#include "kernels/xpbd/cutting.hpp"
#include "runtime/device_array.hpp"
#include "scene/scene.hpp"
#include "solvers/neighbors.hpp"
#include "solvers/solver.hpp"

namespace ductile {

/// What hangs together, in solver order: particles joined by unsevered pairs share a piece. Pieces are numbered by
/// their particle of the smallest id; of the parts of a piece that is cut the first keeps its number.
struct Pieces {
  std::vector<std::uint32_t> of_particle;
  std::vector<std::uint32_t> cut_layer;  ///< particles that lost a neighbour, and their neighbours, ascending
};
/// `before`: the pieces before the cut, or none.
[[nodiscard]] Pieces find_pieces(const NeighborLists& lists, const DeviceArray<std::uint8_t>& severed,
                                 const std::vector<std::uint32_t>& id, const std::vector<std::uint32_t>& before = {});

/// Cutting surfaces that sever rest neighbours (P0 sec. 4.4), and the pieces that are left.
template <class Real>
class Cuts {
 public:
  Cuts() = default;
  Cuts(Queue& queue, const scene::Scene& scene, const NeighborLists& lists, const std::vector<std::uint32_t>& id);

  [[nodiscard]] bool active() const { return !severed_.empty(); }
  /// Severs what the surfaces cross while they move from `begin` to `end` seconds. True if anything was.
  bool sever(Queue& queue, const scene::Scene& scene, const NeighborLists& lists, const Vec4<Real>* position,
             double begin, double end);
  /// To be called after pairs were severed.
  void update_pieces(const NeighborLists& lists, const std::vector<std::uint32_t>& id);
  [[nodiscard]] const Pieces& pieces() const { return pieces_; }
  /// One byte per pair, not zero for a severed one; empty in scenes without cuts.
  [[nodiscard]] const DeviceArray<std::uint8_t>& severed() const { return severed_; }
  /// What contact needs to know; only after a cut.
  [[nodiscard]] SeveredPairs pairs(const NeighborLists& lists) const {
    return {lists.start.data(), lists.index.data(), severed_.data()};
  }

  void save(std::vector<StateBlock>& blocks) const;
  /// True if pairs are severed; then pieces() wait for update_pieces().
  bool restore(const std::vector<StateBlock>& blocks);

 private:
  DeviceArray<std::uint8_t> severed_;
  DeviceArray<std::int8_t> side_;  // of every particle beside each cut in turn
  DeviceArray<std::uint32_t> count_;
  Pieces pieces_;
};

}  // namespace ductile
