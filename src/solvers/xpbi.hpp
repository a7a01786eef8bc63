#pragma once

#include <variant>

#include "kernels/xpbi/lists.hpp"
#include "kernels/xpbi/multipliers.hpp"
#include "kernels/xpbi/step.hpp"
#include "kernels/xpbi/volume.hpp"
#include "solvers/neighbors.hpp"
#include "solvers/particle_solver.hpp"

namespace ductile {

/// P1: implicit plasticity by position-based dynamics on velocities, in an updated-Lagrangian frame. Each particle
/// holds one constraint on its elastic deformation gradient, mapped back to the yield surface in every iteration.
/// Memory: neighbours are remembered by their unloaded pair vectors, so that bodies hold in tension.
template <class Real, bool Memory>
class Xpbi final : public ParticleSolver<Real> {
 public:
  using ParticleSolver<Real>::particles;

  Xpbi(const scene::Scene& scene, Queue& queue);

  [[nodiscard]] double mean_neighbours() const override { return lists_.mean(); }
  StepReport advance() override;
  [[nodiscard]] std::vector<StateBlock> save() override;
  void restore(long long step, const std::vector<StateBlock>& blocks) override;

  /// The iterations of a step alone, from the present prediction; for benchmarks.
  void iterate();
  void begin_step();

 private:
  using Base = ParticleSolver<Real>;
  using Base::displacement_gradient_, Base::held_, Base::increment_, Base::last_, Base::multiplier_, Base::particles_,
      Base::position_, Base::queue_, Base::radius_, Base::rest_, Base::scene_, Base::step_, Base::velocity_,
      Base::violation_;
  using Base::energy, Base::hold, Base::time;

  template <class Mapping>
  using Flowing = PlasticPoint<Real, Mapping>;
  using Material =
      std::variant<ElasticPoint<Real, InversionSafe<Hencky<Real>>>, ElasticPoint<Real, InversionSafe<NeoHookean<Real>>>,
                   Flowing<VonMises<Real>>, Flowing<DruckerPrager<Real>>, Flowing<CamClay<Real>>,
                   Flowing<NeoHookeanCamClay<Real>>, Flowing<HerschelBulkley<Real>>, Flowing<Snow<Real>>>;
  /// Blocks of one material's particles, eight colours.
  struct Blocks {
    DeviceArray<std::uint32_t> start, member;
    std::array<Range, 8> colour;
    std::uint32_t parts = 1;  ///< of a block

    [[nodiscard]] ColourBlocks of(const Range& chosen) const {
      return {start.data() + chosen.first * parts, member.data(), parts};
    }
  };
  /// The particles of one material and what is special to them.
  struct Group {
    Range range;
    Material material;
    StepConstantsXpbi<Real> constants;
    bool plastic = false;
    Blocks blocks;
    bool unloaded_shape = false;  ///< gradients in the unloaded shape
    Real wave_way = 0;            ///< of a pressure wave in a step, m

    /// With memory, the neighbours of an elastic body are those at rest, and so are its blocks.
    [[nodiscard]] bool rests() const { return Memory && !plastic; }
  };

  /// Blocks per work-item of SweepLanes: a few where the compiler makes vector instructions of loops.
#if defined(DUCTILE_BACKEND_HOST)
  static constexpr std::size_t sweep_width = 8;
#else
  static constexpr std::size_t sweep_width = 1;
#endif

  void build_groups();
  [[nodiscard]] Material make_material(const scene::Material& source, Range range);
  template <class State>
  [[nodiscard]] State* states();
  void build_rest_lists();
  void fit_deformation();
  void build_lists();
  void limit_densities();
  void allow_densities();
  void start_volumes();
  void update_volumes();
  void refresh_lists();
  void rebuild_pairs(const NewNeighbors<Real>& neighbors);
  void weigh_crushed();
  void take_up_crowding();
  void build_neighborhoods();
  void colour_blocks_now();
  void sweep(Group& group, bool last);
  /// Sweeps with more than one multiplier per particle, and the one that sums the forces; in files of their own.
  void sweep_general(Group& group, MultiplierKind kind, Vec4<Real>* target, Real* violation);
  template <class Multiplier>
  void launch_sweeps(Group& group, const char* name, const Multiplier& multiplier, Vec4<Real>* target, Real* violation,
                     bool apart);
  [[nodiscard]] double primal_residual();
  void smooth_velocities();
  void commit();
  void end_step();
  void evaluate();
  [[nodiscard]] PairList<Real, Memory> pairs() const;
  [[nodiscard]] bool flows() const;
  [[nodiscard]] bool follows_volumes() const;
  [[nodiscard]] std::vector<Mat3<Real>> cauchy_stress() override;

  std::vector<Group> groups_;
  NeighborLists lists_;
  DeviceArray<Vec4<Real>> pair_;            // memory: p_pb, w_pb
  DeviceArray<Real> weight_;                // current: w_pb
  DeviceArray<Real> volume_;                // current: V^n
  DeviceArray<Real> density_, completion_;  // current: volumes by density
  Real lattice_density_ = 1;                // sum of V W
  Real lattice_moment_ = 1;                 // sum of w p p^T, an entry of its diagonal
  DeviceArray<Real> reach_;                 // support of each particle
  DeviceArray<Real> flowed_;                // plastic strain since the neighbours were chosen
  DeviceArray<std::uint32_t> loading_, stale_, may_join_, close_;
  DeviceArray<Real> state_;                    // of the return mapping
  DeviceArray<Real> extent_;                   // farthest neighbour
  DeviceArray<Real> second_multiplier_;        // pair
  DeviceArray<Mat3<Real>> stress_multiplier_;  // tensor; scalar with release: what acted so far
  DeviceArray<Vec4<Real>> misfit_multiplier_;  // tensor: of each pair
  DeviceArray<Neighborhood<Real, Memory>> neighborhood_;
  BodyContact<Real> bodies_touch_;  // memory: of bodies that do not flow
  DeviceArray<Vec4<Real>> change_;  // Jacobi, XSPH
  int iterations_ = 0;              // of the last step
  double travelled_ = 0;            // bound on the motion since strangers were looked for, m
  DeviceArray<Real> most_density_,
      allowed_density_;                // separation by density: limit of sum V W, at all and in this step
  double widest_ = 0, narrowest_ = 0;  // spacings, m
};

}  // namespace ductile
