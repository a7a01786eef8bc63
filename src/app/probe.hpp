#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/math/mat3.hpp"
#include "scene/scene.hpp"

/// `ductile probe`: one point of a material, without particles. All in double precision.
///
/// Materials whose plastic model is a return mapping are described by their elastic deformation gradient: energy, P and
/// tau of a point are those of the elastic state after the mapping, with the state after it; P = dEnergy/dF at
/// F_elastic and tau = P F_elastic^T. For the additive model (creep) F_elastic is F itself. Fibres act on F_elastic. A
/// fibre field is taken at a point on the body's x axis: axis is z, radial x, circumferential y.
namespace ductile::app {

enum class ProbePath {
  uniaxial,    ///< F e1 = stretch e1, lateral faces free
  shear,       ///< F = I + stretch e1 (x) e2
  volumetric,  ///< F = stretch I
};

/// JSON with `energy`, `P`, `tau` (9 numbers, row by row) and, for plastic materials, `F_elastic` and `state` after the
/// return mapping of F. `time_step` is needed by herschel-bulkley; creep flows only when it is given. `state` holds
/// `key=value` texts for the state before, where it is not the initial one.
[[nodiscard]] std::string probe_point(const scene::Material& material, const Mat3<double>& F,
                                      std::optional<double> time_step, const std::vector<std::string>& state);

/// CSV `stretch,energy,P11,...,P33,tau11,...,tau33` with steps + 1 rows from `from` to `to`. A plastic material is
/// loaded step by step, each step lasting `time_step` and multiplying the elastic deformation gradient by the change of
/// the total one; it is first taken from rest to `from` in steps of the same size. Energy and tau are those of the
/// elastic state, P = tau F^{-T} is the nominal stress of the total F, which the stretch stands for.
[[nodiscard]] std::string probe_path(const scene::Material& material, ProbePath path, double from, double to, int steps,
                                     std::optional<double> time_step);

}  // namespace ductile::app
