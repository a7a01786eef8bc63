#pragma once

#include "runtime/launch.hpp"
#include "solvers/particle_solver.hpp"
#include "tests/kernels/dust.hpp"

namespace ductile {

/// Particles that don't know of each other: gravity, drag, fixtures and colliders.
template <class Real>
class Dust final : public ParticleSolver<Real> {
 public:
  Dust(const scene::Scene& scene, Queue& queue, double drag) : ParticleSolver<Real>(scene, queue), drag_(drag) {
    this->displacement_gradient_.clear_bytes();
    this->hold(0);
  }

  [[nodiscard]] double mean_neighbours() const override { return 0; }

  StepReport advance() override {
    this->hold(this->time());
    this->predict();
    launch(this->queue_, "dust.drag", this->particles(),
           Drag<Real>{Real(drag_), Real(this->scene_.solver.time_step), this->increment_.data()});
    this->resolve_colliders();
    this->take_step();
    return this->step_done();
  }

  [[nodiscard]] std::vector<StateBlock> save() override {
    std::vector<StateBlock> blocks;
    blocks.push_back(pack("position", this->position_));
    blocks.push_back(pack("velocity", this->velocity_));
    return blocks;
  }
  void restore(long long step, const std::vector<StateBlock>& blocks) override {
    unpack(blocks, "position", this->position_);
    unpack(blocks, "velocity", this->velocity_);
    this->step_ = step;
    this->hold(this->time() - this->scene_.solver.time_step);
  }

 private:
  [[nodiscard]] std::vector<Mat3<Real>> cauchy_stress() override {
    return std::vector<Mat3<Real>>(this->particles(), Mat3<Real>{});
  }
  double drag_;
};

}  // namespace ductile
