#pragma once

#include <numbers>
#include <variant>

#include "kernels/materials/cam_clay.hpp"
#include "kernels/materials/corotated.hpp"
#include "kernels/materials/creep.hpp"
#include "kernels/materials/drucker_prager.hpp"
#include "kernels/materials/fixed_corotated.hpp"
#include "kernels/materials/hencky.hpp"
#include "kernels/materials/herschel_bulkley.hpp"
#include "kernels/materials/inversion.hpp"
#include "kernels/materials/linear.hpp"
#include "kernels/materials/neo_hookean.hpp"
#include "kernels/materials/snow.hpp"
#include "kernels/materials/stvk.hpp"
#include "kernels/materials/von_mises.hpp"
#include "scene/scene.hpp"

namespace ductile {

// The laws of the kernels for the materials of a scene.

inline Lame<double> lame_of(const scene::Elastic& elastic) {
  return Lame<double>::from(elastic.youngs_modulus, elastic.poisson_ratio);
}

/// Law with its continuation below the critical stretch.
template <class Law>
InversionSafe<Law> inversion_safe(const scene::Elastic& elastic) {
  using Real = typename InversionSafe<Law>::Real;
  const auto lame = lame_of(elastic);
  const bool hard = elastic.inversion == scene::Inversion::hard_switch;
  return {{Real(lame.mu), Real(lame.lambda)},
          Real(elastic.inversion_below),
          hard ? Extension::hard_switch : Extension::continuous};
}

/// use(law), with the elastic law.
template <class Real, class Use>
auto with_elastic_law(const scene::Elastic& elastic, const Use& use) {
  const auto lame = lame_of(elastic);
  const Real mu = Real(lame.mu), lambda = Real(lame.lambda);
  switch (elastic.model) {
    case scene::ElasticModel::linear:
      return use(Linear<Real>{mu, lambda});
    case scene::ElasticModel::corotated:
      return use(Corotated<Real>{mu, lambda});
    case scene::ElasticModel::fixed_corotated:
      return use(FixedCorotated<Real>{mu, lambda});
    case scene::ElasticModel::stvk:
      return use(inversion_safe<StVK<Real>>(elastic));
    case scene::ElasticModel::hencky:
      return use(inversion_safe<Hencky<Real>>(elastic));
    case scene::ElasticModel::neo_hookean:
      break;
  }
  return use(inversion_safe<NeoHookean<Real>>(elastic));
}

template <class Real>
Creep<Real> creep_law(const scene::Creep& creep, const scene::Elastic& elastic) {
  return {inversion_safe<StVK<Real>>(elastic), Real(creep.yield_strain), Real(creep.rate), Real(creep.max_strain),
          creep.deviatoric};
}

// The return mappings. Their states are one number or none; `initial_state` is what it starts from.

template <class Real, class Use>
auto with_mapping(const scene::VonMises& model, const Lame<double>& lame, const Use& use) {
  return use(VonMises<Real>{{Real(lame.mu), Real(lame.lambda), Real(model.hardening)}});
}

template <class Real, class Use>
auto with_mapping(const scene::DruckerPrager& model, const Lame<double>& lame, const Use& use) {
  const double friction = DruckerPragerRule<double>::friction_from_angle(model.friction_angle * std::numbers::pi / 180);
  return use(DruckerPrager<Real>{
      {Real(lame.mu), Real(lame.lambda), Real(friction), Real(model.cohesion), model.volume_correction}});
}

template <class Real, class Use>
auto with_mapping(const scene::CamClay& model, const Lame<double>& lame, const Use& use) {
  const CamClaySurface<Real> surface{Real(model.slope), Real(model.cohesion), Real(model.hardening)};
  if (model.form == scene::CamClay::Form::neo_hookean)
    return use(NeoHookeanCamClay<Real>{{Real(lame.mu), Real(lame.bulk_modulus())}, surface});
  return use(CamClay<Real>{{Real(lame.mu), Real(lame.lambda), surface}});
}

template <class Real, class Use>
auto with_mapping(const scene::HerschelBulkley& model, const Lame<double>& lame, const Use& use) {
  return use(HerschelBulkley<Real>{
      {Real(lame.mu), Real(lame.lambda), Real(model.yield_stress), Real(model.viscosity), Real(model.power)}});
}

template <class Real, class Use>
auto with_mapping(const scene::Snow& model, const Lame<double>& lame, const Use& use) {
  return use(Snow<Real>{Real(lame.mu), Real(lame.lambda), Real(model.critical_compression),
                        Real(model.critical_stretch), Real(model.hardening)});
}

inline double initial_state(const scene::VonMises& model) { return model.yield_stress; }
inline double initial_state(const scene::DruckerPrager&) { return 0; }
inline double initial_state(const scene::CamClay& model) { return model.log_volume; }
inline double initial_state(const scene::HerschelBulkley&) { return 0; }
inline double initial_state(const scene::Snow&) { return 1; }

}  // namespace ductile
