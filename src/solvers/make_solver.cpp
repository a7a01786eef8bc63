#include <fmt/format.h>

#include "common/error.hpp"
#include "solvers/total_lagrangian.hpp"
#include "solvers/xpbi.hpp"

namespace ductile {

namespace {

template <class Real>
std::unique_ptr<Solver> make_total_lagrangian(const scene::Scene& scene, Queue& queue) {
  if (scene.solver.gradient == scene::Gradient::least_squares)
    return std::make_unique<TotalLagrangian<Real, 3>>(scene, queue);
  return std::make_unique<TotalLagrangian<Real, 4>>(scene, queue);
}

template <class Real>
std::unique_ptr<Solver> make_xpbi(const scene::Scene& scene, Queue& queue) {
  if (scene.solver.reference == scene::Reference::memory) return std::make_unique<Xpbi<Real, true>>(scene, queue);
  return std::make_unique<Xpbi<Real, false>>(scene, queue);
}

template <class Real>
std::unique_ptr<Solver> make_method(const scene::Scene& scene, Queue& queue) {
  return scene.solver.method == scene::Method::xpbi ? make_xpbi<Real>(scene, queue)
                                                    : make_total_lagrangian<Real>(scene, queue);
}

}  // namespace

std::unique_ptr<Solver> make_solver(const scene::Scene& scene, Queue& queue) {
  if (scene.solver.precision == scene::Precision::single_precision) return make_method<float>(scene, queue);
  if (!queue.device().double_precision)
    throw DeviceError(
        fmt::format("The device \"{}\" has no double precision: choose another with --device, or "
                    "--set solver.precision=single.",
                    queue.device().name));
  return make_method<double>(scene, queue);
}

}  // namespace ductile
