#pragma once

#include "kernels/xpbi/lanes.hpp"
#include "runtime/launch.hpp"
#include "solvers/xpbi.hpp"

namespace ductile {

/// One sweep over the particles of a material, colour after colour.
template <class Real, bool Memory>
template <class Multiplier>
void Xpbi<Real, Memory>::launch_sweeps(Group& group, const char* name, const Multiplier& multiplier, Vec4<Real>* target,
                                       Real* violation, bool apart) {
  const bool distances = apart && scene_.solver.least_distance > 0 && (!Memory || group.plastic);
  std::visit(
      [&]<class Material>(const Material& material) {
        for (const Range& colour : group.blocks.colour) {
          const SweepBlocks<Real, Memory, Material, Multiplier> sweep{pairs(),
                                                                      neighborhood_.data(),
                                                                      position_.data(),
                                                                      rest_.data(),
                                                                      displacement_gradient_.data(),
                                                                      loading_.data(),
                                                                      material,
                                                                      group.constants,
                                                                      group.blocks.of(colour),
                                                                      increment_.data(),
                                                                      target,
                                                                      multiplier,
                                                                      violation,
                                                                      apart ? held_.data() : nullptr,
                                                                      distances ? close_.data() : nullptr,
                                                                      radius_.data(),
                                                                      Real(2 * scene_.solver.least_distance),
                                                                      Real(2 * scene_.solver.smoothing.support),
                                                                      allowed_density_.data()};
          if constexpr (std::is_same_v<Multiplier, ScalarMultiplier<Real>>) {
            using Lanes = SweepLanes<Real, Memory, Material, int(sweep_width)>;
            const std::size_t items = Lanes::items_of(colour.count, group.blocks.parts);
            launch(queue_, name, items, Lanes{sweep, colour.count, items});
          } else {
            launch(queue_, name, colour.count, sweep);
          }
        }
      },
      group.material);
}

}  // namespace ductile
