#pragma once

#include <variant>

#include "kernels/materials/fixed_corotated.hpp"
#include "kernels/materials/hencky.hpp"
#include "kernels/materials/linear.hpp"
#include "kernels/materials/neo_hookean.hpp"
#include "kernels/materials/stvk.hpp"
#include "kernels/xpbd/gauss_seidel.hpp"
#include "kernels/xpbd/jacobi.hpp"
#include "kernels/xpbd/material_point.hpp"
#include "kernels/xpbd/step.hpp"
#include "runtime/device_array.hpp"
#include "solvers/blocks.hpp"
#include "solvers/body_contact.hpp"
#include "solvers/cuts.hpp"
#include "solvers/neighbors.hpp"
#include "solvers/particle_solver.hpp"

namespace ductile {

/// P0: extended position-based dynamics on rest neighbourhoods. Each particle holds one constraint on its deformation
/// gradient; the increment of the step is what the iterations correct.
template <class Real, int Columns>
class TotalLagrangian final : public ParticleSolver<Real> {
 public:
  using ParticleSolver<Real>::particles;

  TotalLagrangian(const scene::Scene& scene, Queue& queue);

  [[nodiscard]] double mean_neighbours() const override { return lists_.mean(); }
  StepReport advance() override;
  [[nodiscard]] std::vector<StateBlock> save() override;
  void restore(long long step, const std::vector<StateBlock>& blocks) override;

  /// The iterations of a step alone, from the present prediction; for benchmarks.
  void iterate();
  void begin_step();

 private:
  using Base = ParticleSolver<Real>;
  using Base::displacement_gradient_, Base::held_, Base::increment_, Base::mass_, Base::multiplier_, Base::particles_,
      Base::position_, Base::queue_, Base::radius_, Base::rest_, Base::scene_, Base::step_, Base::velocity_,
      Base::violation_;
  using Base::energy, Base::hold, Base::time;

  template <class Law>
  using Point = MaterialPoint<Real, Law>;
  using Material = std::variant<Point<InversionSafe<NeoHookean<Real>>>, Point<InversionSafe<Hencky<Real>>>,
                                Point<InversionSafe<StVK<Real>>>, Point<Linear<Real>>, Point<Corotated<Real>>,
                                Point<FixedCorotated<Real>>, Point<Creep<Real>>>;
  /// The particles of one material and what is special to them.
  struct Group {
    Range range;
    Material material;
    StepConstants<Real> constants;
    DeviceArray<std::uint32_t> block_start, block_member;
    std::array<Range, 8> colour;
  };
  /// Particles per work-item of UpdateMultipliers: a few where the compiler makes vector instructions of loops; and how
  /// many particles ahead ApplyCorrections fetches.
#if defined(DUCTILE_BACKEND_HOST)
  static constexpr int multiplier_width = 32, corrections_ahead = 16;
#else
  static constexpr int multiplier_width = 1, corrections_ahead = 0;
#endif

  void build_pairs();
  void build_groups();
  [[nodiscard]] Material make_material(const scene::Material& source);
  void upload_fibers(std::size_t families);
  void build_moments();
  void find_missing();
  void drop_severed();
  void evaluate();
  void sweep_jacobi(Group& group, bool last);
  void apply_corrections();
  void sweep_gauss_seidel(Group& group, bool last);
  void end_step();
  [[nodiscard]] RestNeighbors<Real> pairs() const;
  [[nodiscard]] MomentPlanes<const Real, Columns> moments() const { return {moments_.data(), particles()}; }
  [[nodiscard]] std::vector<Mat3<Real>> cauchy_stress() override;
  [[nodiscard]] std::vector<std::uint32_t> pieces() override;

  NeighborLists lists_;
  DeviceArray<Real> weight_, value_;
  DeviceArray<Real> moments_;  // MomentPlanes
  DeviceArray<Sym3<Real>> spread_;
  DeviceArray<Sym3<Real>> missing_;  // empty unless some neighbourhood does not span space
  DeviceArray<CorrectionLine<Real, Columns>> line_;
  DeviceArray<Vec4<Real>> fiber_;
  DeviceArray<typename Creep<Real>::State> plastic_;
  BodyContact<Real> bodies_touch_;
  Cuts<Real> cuts_;
  std::vector<Group> groups_;
};

}  // namespace ductile
