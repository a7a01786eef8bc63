#pragma once

#include <cstddef>

#include "kernels/materials/cam_clay.hpp"
#include "kernels/materials/corotated.hpp"
#include "kernels/materials/creep.hpp"
#include "kernels/materials/drucker_prager.hpp"
#include "kernels/materials/fibers.hpp"
#include "kernels/materials/fixed_corotated.hpp"
#include "kernels/materials/hencky.hpp"
#include "kernels/materials/herschel_bulkley.hpp"
#include "kernels/materials/inversion.hpp"
#include "kernels/materials/linear.hpp"
#include "kernels/materials/neo_hookean.hpp"
#include "kernels/materials/snow.hpp"
#include "kernels/materials/stvk.hpp"
#include "kernels/materials/von_mises.hpp"

namespace ductile {

/// Energy and stress of a law at many deformation gradients.
template <class Real, class Law>
struct EvaluateLaw {
  Law law;
  const Mat3<Real>* F;
  Response<Real>* response;

  void operator()(std::size_t i) const { response[i] = law.response(F[i]); }
};

/// A return mapping of many trial states.
template <class Real, class Model>
struct MapStates {
  Model model;
  Real time_step;
  const Mat3<Real>* F;
  const typename Model::State* state;
  Mapped<Real, typename Model::State>* mapped;

  void operator()(std::size_t i) const { mapped[i] = model.map(F[i], state[i], time_step); }
};

}  // namespace ductile
