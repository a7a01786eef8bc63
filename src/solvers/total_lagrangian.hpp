#pragma once

#include <variant>

#include "kernels/contact/colliders.hpp"
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
#include "solvers/neighbors.hpp"
#include "solvers/particles.hpp"
#include "solvers/solver.hpp"

namespace ductile {

/// P0: extended position-based dynamics on rest neighbourhoods. Each particle holds one constraint on its deformation
/// gradient; the increment of the step is what the iterations correct.
template <class Real, int Columns>
class TotalLagrangian final : public Solver {
 public:
  TotalLagrangian(const scene::Scene& scene, Queue& queue);

  [[nodiscard]] std::size_t particles() const override { return particles_.size(); }
  [[nodiscard]] double mean_neighbours() const override { return lists_.mean(); }
  [[nodiscard]] const std::vector<std::int32_t>& body_of_particle() const override { return body_of_id_; }
  [[nodiscard]] long long step() const override { return step_; }
  StepReport advance() override;
  [[nodiscard]] StepReport measure() override;
  [[nodiscard]] std::vector<double> probe() override;
  [[nodiscard]] ParticleField positions() override;
  [[nodiscard]] ParticleField field(scene::Field which) override;
  [[nodiscard]] std::vector<StateBlock> save() override;
  void restore(long long step, const std::vector<StateBlock>& blocks) override;

  /// The iterations of a step alone, from the present prediction; for benchmarks.
  void iterate();
  void begin_step();

 private:
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
  struct Fixture {
    DeviceArray<std::uint32_t> member;
    double mass = 0;
    bool active = true;
  };
  struct Probe {
    DeviceArray<std::uint32_t> member;
  };

  void upload_particles();
  void build_pairs();
  void build_groups();
  void build_fixtures();
  void build_probes();
  [[nodiscard]] Material make_material(const scene::Material& source);
  void upload_fibers(std::size_t families);
  void hold(double time);
  void build_moments();
  void evaluate();
  void sweep_jacobi(Group& group, bool last);
  void apply_corrections();
  void sweep_gauss_seidel(Group& group, bool last);
  [[nodiscard]] double farthest_move() const;
  void resolve_colliders();
  void end_step();
  [[nodiscard]] StepReport sums();
  template <class Sum>
  [[nodiscard]] StepReport reduce_sums();
  [[noreturn]] void diverged(std::size_t particle);
  [[nodiscard]] Eigen::Vector3d mean_of(const DeviceArray<Vec4<Real>>& values,
                                        const DeviceArray<std::uint32_t>& member);
  [[nodiscard]] Eigen::Vector3d reaction(const Fixture& fixture, const scene::Fixture& source);
  [[nodiscard]] RestNeighbors<Real> pairs() const;
  [[nodiscard]] std::vector<Mat3<Real>> cauchy_stress();
  [[nodiscard]] double time() const { return double(step_) * scene_.solver.time_step; }
  template <class T, class Get>
  [[nodiscard]] ParticleField by_id(const char* name, int components, const std::vector<T>& values, Get get) const;

  scene::Scene scene_;
  Queue& queue_;
  Particles particles_;
  std::vector<std::int32_t> body_of_id_;
  long long step_ = 0;

  NeighborLists lists_;
  DeviceArray<Vec4<Real>> pair_;
  DeviceArray<Real> value_;
  DeviceArray<RestMoments<Real, Columns>> moments_;
  DeviceArray<Sym3<Real>> spread_;
  DeviceArray<Vec4<Real>> rest_, position_, velocity_, increment_, corrected_;
  DeviceArray<Real> mass_, radius_, multiplier_, violation_, energy_;
  DeviceArray<Mat3<Real>> displacement_gradient_;
  DeviceArray<CorrectionLine<Real, Columns>> line_;
  DeviceArray<Collider<Real>> collider_;
  DeviceArray<Vec4<Real>> contact_;
  DeviceArray<Vec4<Real>> held_;  // for reactions: impulse times dt on particles of infinite mass
  DeviceArray<Vec4<Real>> fiber_;
  DeviceArray<typename Creep<Real>::State> plastic_;
  BodyContact<Real> bodies_touch_;
  double max_speed_ = 0;  // after the last step
  std::vector<Group> groups_;
  std::vector<Fixture> fixtures_;
  std::vector<Probe> probes_;
};

}  // namespace ductile
