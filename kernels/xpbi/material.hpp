#pragma once

#include <cstddef>
#include <type_traits>

#include "kernels/materials/cam_clay.hpp"
#include "kernels/materials/drucker_prager.hpp"
#include "kernels/materials/herschel_bulkley.hpp"
#include "kernels/materials/inversion.hpp"
#include "kernels/materials/neo_hookean.hpp"
#include "kernels/materials/snow.hpp"
#include "kernels/materials/von_mises.hpp"

namespace ductile {

/// Motion of a particle's neighbourhood during a step: x -> (I + G) x, F_trial = (I + G) F^n.
template <class Real>
struct StepDeformation {
  Mat3<Real> G;
  Mat3<Real> start;  // F^n - I
  Mat3<Real> trial;  // F_trial - I
};

/// Energy of the mapped state and the stress that works on G: for a law without flow dPsi/dG = P F^nT; with flow
/// tau(Z(F)) (I + G)^-T, which is the same where nothing yields (P1 eq. 12; methods: choice in 3.1).
template <class Real>
struct StepResponse {
  Real energy;
  Mat3<Real> stress;
  Real yield_strain;  // deviatoric log strain that the material holds; negative: no limit
};

/// A mapped Hencky strain.
template <class Real>
struct StrainResponse {
  Sym3<Real> strain;
  Real yield_strain;  // as above
};

/// (I + G)^-T
template <class Real>
inline Mat3<Real> inverse_transpose(const Mat3<Real>& G) {
  const VolumeChange<Real> v = volume_change(G);
  return v.cofactor() * (Real(1) / (Real(1) + v.j));
}

/// A material that never flows.
template <class Real, class Law>
struct ElasticPoint {
  static constexpr bool plastic = false;
  static constexpr bool has_strains = std::is_same_v<Law, InversionSafe<Hencky<Real>>>;

  Law law;

  StepResponse<Real> respond(const StepDeformation<Real>& d, std::size_t) const {
    const Response<Real> r = law.displacement_response(d.trial);
    return {r.energy, r.stress + times_transpose(r.stress, d.start), Real(-1)};
  }
  Mat3<Real> kirchhoff(const Mat3<Real>& H, std::size_t) const {
    const Mat3<Real> P = law.displacement_response(H).stress;
    return P + times_transpose(P, H);
  }
  Real energy(const Mat3<Real>& H, std::size_t) const { return law.displacement_response(H).energy; }

  // For multipliers that need strains: Hencky laws only.
  Hencky<Real> elastic() const { return law.law; }
  StrainResponse<Real> map_strain(const Sym3<Real>& strain, std::size_t) const { return {strain, Real(-1)}; }
};

/// |dev eps| that a mapped state holds, roughly: it bounds the zero-energy modes of the particle.
template <class Real, class Rule, class State>
inline Real held_shear_strain(const HenckyPlasticity<Real, Rule>& mapping, const Mapped<Real, State>& mapped) {
  return norm(deviator(mapped.kirchhoff)) / (Real(2) * mapping.rule.mu);
}
template <class Real, class State>
inline Real held_shear_strain(const NeoHookeanCamClay<Real>& mapping, const Mapped<Real, State>& mapped) {
  return norm(deviator(mapped.kirchhoff)) / (Real(2) * mapping.elastic.mu);
}
template <class Real, class State>
inline Real held_shear_strain(const Snow<Real>& mapping, const Mapped<Real, State>&) {
  return mapping.critical_stretch;
}

/// A return mapping with one state per particle. Where it does not yield it is an elastic law without limits.
template <class Real, class Mapping>
struct PlasticPoint {
  static constexpr bool plastic = true;
  static constexpr bool has_strains = requires(Mapping m) { m.rule; };
  using State = typename Mapping::State;

  Mapping mapping;
  Real time_step;
  State* state;
  bool flows;       // false: never yields
  bool iterations;  // yields in the iterations; false: only when the step is over

  /// As the end of a step sees it.
  PlasticPoint committing() const { return {mapping, time_step, state, flows, flows}; }

  StepResponse<Real> respond(const StepDeformation<Real>& d, std::size_t i) const {
    if constexpr (has_strains) {
      // Isotropic: the left strain gives tau without a rotation.
      const Sym3<Real> X = tanh_strain(green_strain(transpose(d.trial)));
      if (within_series(X) && volume_change(d.trial).j > Real(-1)) return respond_to_strain(hencky_strain(X), d.G, i);
    }
    return respond_by_mapping(d, i);
  }
  Mapped<Real, State> map(const Mat3<Real>& H, std::size_t i) const {
    const Mat3<Real> F = Mat3<Real>::identity() + H;
    if (!flows) return kept(F, i);
    return mapping.map(F, state[i], time_step);
  }
  Mat3<Real> kirchhoff(const Mat3<Real>& H, std::size_t i) const {
    return mapping.kirchhoff(Mat3<Real>::identity() + H, state[i]);
  }
  Real energy(const Mat3<Real>& H, std::size_t i) const { return mapping.energy(Mat3<Real>::identity() + H, state[i]); }

  Hencky<Real> elastic() const { return mapping.elastic(); }
  StrainResponse<Real> map_strain(const Sym3<Real>& strain, std::size_t i) const {
    if (!iterations) return {strain, Real(-1)};
    const Real volume = trace(strain);
    const Sym3<Real> shear = deviator(strain);
    const Real size = sycl::sqrt(squared_norm(shear));
    const auto flow = mapping.rule.flow(volume, size, state[i], time_step);
    const bool on_surface =
        flow.yield == Yield::shear || flow.yield == Yield::tension || flow.yield == Yield::compression;
    return {plus_identity(flow.deviator_scale * shear, flow.trace * (Real(1) / Real(3))),
            on_surface ? flow.deviator_scale * size : mapping.rule.yield_radius(volume, state[i])};
  }

 private:
  Mapped<Real, State> kept(const Mat3<Real>& F, std::size_t i) const {
    return {F, state[i], Yield::none, mapping.energy(F, state[i]), mapping.kirchhoff(F, state[i])};
  }
  StepResponse<Real> respond_to_strain(const Sym3<Real>& strain, const Mat3<Real>& G, std::size_t i) const {
    const StrainResponse<Real> mapped = map_strain(strain, i);
    return {elastic().strain_energy(mapped.strain),
            elastic().rotated_stress(mapped.strain).full() * inverse_transpose(G), mapped.yield_strain};
  }
  [[gnu::noinline]] StepResponse<Real> respond_by_mapping(const StepDeformation<Real>& d, std::size_t i) const {
    const auto mapped = iterations ? map(d.trial, i) : kept(Mat3<Real>::identity() + d.trial, i);
    return {mapped.energy, mapped.kirchhoff * inverse_transpose(d.G),
            iterations ? held_shear_strain(mapping, mapped) : Real(-1)};
  }
};

}  // namespace ductile
