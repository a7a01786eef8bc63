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

/// Motion of a particle's neighbourhood during a step: x -> (I + G) x, F_trial = (I + G) F^n. For gradients in the
/// unloaded shape G is F_trial - F^n, and `start` zero.
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

/// What a flow rule makes of a Hencky strain: deviator_scale dev(eps) + trace/3 I.
template <class Real>
struct FlowedStrain {
  Real deviator_scale, trace;
  Real yield_strain;  // as above
};

template <class Real>
[[gnu::always_inline]] constexpr Sym3<Real> flowed_strain(const Sym3<Real>& deviator, const FlowedStrain<Real>& flow) {
  return plus_identity(flow.deviator_scale * deviator, flow.trace * (Real(1) / Real(3)));
}

/// (I + G)^-T
template <class Real>
[[gnu::always_inline]] inline Mat3<Real> inverse_transpose(const Mat3<Real>& G) {
  const VolumeChange<Real> v = volume_change(G);
  return v.cofactor() * (Real(1) / (Real(1) + v.j));
}

/// How a material responds over several particles at once, without branches.
enum class FastForm {
  none,     ///< not at all
  law,      ///< by its elastic law, as long as nothing yields
  strains,  ///< by its Hencky strains: flow is a function of two numbers
};

/// A material that never flows.
template <class Real, class Law>
struct ElasticPoint {
  static constexpr bool plastic = false;
  static constexpr bool keeps_volume = false;
  static constexpr bool has_strains = std::is_same_v<Law, InversionSafe<Hencky<Real>>>;
  static constexpr FastForm fast_form = FastForm::law;

  Law law;

  static constexpr Real stiffening(std::size_t) { return Real(1); }
  [[gnu::always_inline]] FastResponse<Real> fast_response(const Mat3<Real>& H, Real) const {
    return law.fast_response(H);
  }
  static constexpr Real held_strain() { return Real(-1); }

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
  static constexpr FastForm fast_form = has_strains                           ? FastForm::strains
                                        : std::is_same_v<Mapping, Snow<Real>> ? FastForm::law
                                                                              : FastForm::none;
  using State = typename Mapping::State;
  /// Flow changes no volume but what the state stores.
  static constexpr bool keeps_volume = requires(Mapping m, State s) { m.rule.stored_volume(s); };

  Mapping mapping;
  Real time_step;
  State* state;
  bool flows;       // false: never yields
  bool iterations;  // yields in the iterations; false: only when the step is over

  /// As the end of a step sees it.
  PlasticPoint committing() const { return {mapping, time_step, state, flows, flows}; }

  /// Factor of the elastic moduli in this step.
  Real stiffening(std::size_t i) const { return mapping.stiffening(state[i]); }
  [[gnu::always_inline]] FastResponse<Real> fast_response(const Mat3<Real>& H, Real stiffening) const {
    FastResponse<Real> fast = mapping.stiffened(stiffening).fast_response(H);
    fast.valid = fast.valid & (!iterations | mapping.within_limits(H));
    return fast;
  }
  Real held_strain() const { return iterations ? mapping.critical_stretch : Real(-1); }

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
  /// Flow of a strain with this trace and this size of its deviator.
  FlowedStrain<Real> flow(Real volume, Real size, std::size_t i) const {
    if (!iterations) return {Real(1), volume, Real(-1)};
    const auto flow = mapping.rule.flow(volume, size, state[i], time_step);
    const bool on_surface =
        flow.yield == Yield::shear || flow.yield == Yield::tension || flow.yield == Yield::compression;
    return {flow.deviator_scale, flow.trace,
            on_surface ? flow.deviator_scale * size : mapping.rule.yield_radius(volume, state[i])};
  }
  StrainResponse<Real> map_strain(const Sym3<Real>& strain, std::size_t i) const {
    const Sym3<Real> shear = deviator(strain);
    const auto flowed = flow(trace(strain), sycl::sqrt(squared_norm(shear)), i);
    return {flowed_strain(shear, flowed), flowed.yield_strain};
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

 public:
  [[gnu::noinline]] StepResponse<Real> respond_by_mapping(const StepDeformation<Real>& d, std::size_t i) const {
    const auto mapped = iterations ? map(d.trial, i) : kept(Mat3<Real>::identity() + d.trial, i);
    return {mapped.energy, mapped.kirchhoff * inverse_transpose(d.G),
            iterations ? held_shear_strain(mapping, mapped) : Real(-1)};
  }
};

}  // namespace ductile
