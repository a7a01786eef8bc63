#pragma once

#include "kernels/contact/colliders.hpp"
#include "kernels/xpbi/constraint.hpp"

namespace ductile {

/// Logarithm of the left stretch, ln (F F^T)^1/2, stretches limited from below as in Hencky.
template <class Real>
inline Sym3<Real> left_strain(const Mat3<Real>& H) {
  const Sym3<Real> X = tanh_strain(green_strain(transpose(H)));
  if (within_series(X) && volume_change(H).j > Real(-1)) return hencky_strain(X);
  const Svd<Real> f = svd(Mat3<Real>::identity() + H);
  return Sym3<Real>::from(recompose({f.U, f.s, f.U}, Hencky<Real>::principal_strain(f.s)));
}

/// P1 eqs. 4-5: one multiplier for the shear energy (with the misfits), C = sqrt(2 mu) |eps|, and one for the volume,
/// C = sqrt(lambda) tr(eps); both with the compliance 1/V, solved together.
template <class Real>
struct PairMultiplier {
  Real* shear;
  Real* volume;

  template <bool Memory, class Material>
  Kick<Real> solve(const Material& material, const StepConstantsXpbi<Real>& step, const Neighborhood<Real, Memory>& n,
                   const LocalStep<Real>& local, bool crushed, Real rest_volume, Real inverse_mass,
                   std::size_t i) const {
    const Hencky<Real> elastic = material.elastic();
    const auto mapped = material.map_strain(left_strain(local.deformation.trial), i);
    const Mat3<Real> back = inverse_transpose(local.deformation.G);  // (I + G)^-T
    const auto joint = joint_constraint(
        elastic.mu * squared_norm(mapped.strain), ((Real(2) * elastic.mu) * mapped.strain).full() * back,
        held_misfit(n, local, crushed, mapped.yield_strain), step, n, local, inverse_mass);
    const Real compliance = step.inverse_squared_step / rest_volume;
    const Real C = joint.C;
    const Real direction = C < step.tiny ? Real(0) : Real(1) / C;
    const Real root = sycl::sqrt(sycl::fmax(elastic.lambda, Real(0)));
    const Mat3<Real> pressure = on_span(n, root * back);
    const Vec3<Real> own_pressure = pressure * n.sum;
    const Real a = direction * direction * joint.mobility + compliance;
    const Real d = quadratic_form(pressure, n.mobility) + inverse_mass * squared_norm(own_pressure) + compliance;
    const Real b = direction *
                   (contract(joint.stress * n.mobility.full(), pressure) + inverse_mass * dot(joint.own, own_pressure));
    const Real first = C + compliance * shear[i];
    const Real second = root * trace(mapped.strain) + compliance * volume[i];
    const Real scale = -step.relaxation / sycl::fmax(a * d - b * b, Real(0.01) * a * d);
    const Real change = direction == Real(0) ? Real(0) : scale * (d * first - b * second);
    const Real change_of_volume = scale * (a * second - b * first);
    shear[i] += change;
    volume[i] += change_of_volume;
    return {change * direction * joint.stress + change_of_volume * pressure, change * direction * joint.penalty,
            step.violation_scale * sycl::sqrt(first * first + second * second)};
  }
};

/// A stress as multiplier: converges to backward Euler, whatever the step (methods: tensor multiplier; here on Hencky
/// strains, so that no stretch can be lost and yielding fits in). Stored is Pi = tau (I + G)^-T, the stress that acted
/// so far. A correction by dtau changes the strain by about -c dtau, c = dt^2 V |sum_b g g^T/m_b|: the new stress
/// solves
///   eps' + c tau(Z(eps')) = eps + c tau_before,
/// whose fixed point is tau = tau(Z(eps)). Misfits have a multiplier each, the impulse that acted on them so far.
template <class Real>
struct TensorMultiplier {
  Mat3<Real>* stress;
  Vec4<Real>* misfit;  // of each pair: impulse times dt

  template <bool Memory, class Material>
  Kick<Real> solve(const Material& material, const StepConstantsXpbi<Real>& step, const Neighborhood<Real, Memory>& n,
                   const LocalStep<Real>& local, bool crushed, Real rest_volume, Real inverse_mass,
                   std::size_t i) const {
    const Mat3<Real>& G = local.deformation.G;
    const Mat3<Real> before = stress[i];
    const Sym3<Real> strain = left_strain(local.deformation.trial);
    const Real work = rest_volume / step.inverse_squared_step;  // dt^2 V
    Sym3<Real> spread = n.mobility;
    spread.add_square(n.sum, inverse_mass);
    const Real c = work * largest_row_sum(spread);
    const Sym3<Real> tau_before = Sym3<Real>::from(before + times_transpose(before, G));
    const auto solved = relaxed_strain(material, strain, strain + c * tau_before, c, i);
    const Mat3<Real> tau = material.elastic().rotated_stress(solved.strain).full();
    const Mat3<Real> change = step.relaxation * (tau * inverse_transpose(G) - before);
    stress[i] = before + change;
    Kick<Real> kick{on_span(n, (-work) * change), Real(0), norm(change) * square(step.violation_scale)};
    if constexpr (Memory) {
      const Real held = held_misfit(n, local, crushed, solved.yield_strain);
      kick.misfit = -work * held * misfit_penalty(step, local.misfit, held).stiffness;
    }
    return kick;
  }

 private:
  static Real largest_row_sum(const Sym3<Real>& a) {
    const Real xy = sycl::fabs(a.xy), xz = sycl::fabs(a.xz), yz = sycl::fabs(a.yz);
    return sycl::fmax(sycl::fmax(a.xx + xy + xz, a.yy + xy + yz), a.zz + xz + yz);
  }

  /// Mapped state of the eps' that solves eps' + c tau(Z(eps')) = target. Trace and size of the deviator are two scalar
  /// equations, coupled by the flow rule; started at eps, so that a solution there is kept.
  template <class Material>
  static StrainResponse<Real> relaxed_strain(const Material& material, const Sym3<Real>& strain,
                                             const Sym3<Real>& target, Real c, std::size_t i) {
    const Hencky<Real> elastic = material.elastic();
    const Real shear_factor = Real(2) * elastic.mu * c;
    const Real volume_factor = (Real(3) * elastic.lambda + Real(2) * elastic.mu) * c;
    const Sym3<Real> direction = deviator(target);
    const Real wanted_size = sycl::sqrt(squared_norm(direction)), wanted_volume = trace(target);
    const Sym3<Real> unit = (Real(1) / sycl::fmax(wanted_size, Real(1e-30f))) * direction;
    Real volume = trace(strain), size = sycl::sqrt(squared_norm(deviator(strain)));
    StrainResponse<Real> mapped = material.map_strain(plus_identity(size * unit, volume * (Real(1) / Real(3))), i);
    for (int round = 0; round < 6; ++round) {
      const Real mapped_volume = trace(mapped.strain), mapped_size = contracted(mapped.strain, unit);
      // Slopes of the mapping by their chords, between nothing and elastic.
      const Real volume_slope = clamp(mapped_volume / (volume == Real(0) ? Real(1) : volume), Real(0), Real(1));
      const Real size_slope = clamp(mapped_size / (size == Real(0) ? Real(1) : size), Real(0), Real(1));
      volume -= (volume + volume_factor * mapped_volume - wanted_volume) / (Real(1) + volume_factor * volume_slope);
      size = sycl::fmax(
          size - (size + shear_factor * mapped_size - wanted_size) / (Real(1) + shear_factor * size_slope), Real(0));
      mapped = material.map_strain(plus_identity(size * unit, volume * (Real(1) / Real(3))), i);
    }
    return mapped;
  }
  static Real contracted(const Sym3<Real>& a, const Sym3<Real>& b) {
    return a.xx * b.xx + a.yy * b.yy + a.zz * b.zz + Real(2) * (a.xy * b.xy + a.xz * b.xz + a.yz * b.yz);
  }
};

/// The one multiplier of P1, which takes its impulse back when the constraint vanishes during the iterations (sand that
/// opens): as printed, what acted until then would stay. The directions of the particles' motion are constant in a
/// step, so the sum of the stresses that acted undoes them exactly; what acted on misfits stays.
template <class Real>
struct ReleasingMultiplier {
  ScalarMultiplier<Real> scalar;
  Mat3<Real>* stress;  // that acted so far

  template <bool Memory, class Material>
  Kick<Real> solve(const Material& material, const StepConstantsXpbi<Real>& step, const Neighborhood<Real, Memory>& n,
                   const LocalStep<Real>& local, bool crushed, Real rest_volume, Real inverse_mass,
                   std::size_t i) const {
    const auto joint = scalar.constraint(material, step, n, local, crushed, inverse_mass, i);
    const auto update = scalar_update(step, joint, scalar.multiplier[i], rest_volume);
    Kick<Real> kick{update.scale * joint.stress, update.scale * joint.penalty, update.violation};
    if (joint.C < step.tiny) {
      kick.stress = (-step.relaxation) * stress[i];
      scalar.multiplier[i] *= Real(1) - step.relaxation;
    } else {
      scalar.multiplier[i] += update.change;
    }
    stress[i] += kick.stress;
    return kick;
  }
};

enum class MultiplierKind : int { pair, tensor, releasing, balance };

/// Everything but the one multiplier of P1; also the measure of how well forces balance inertia.
template <class Real>
struct GeneralMultiplier {
  MultiplierKind kind;
  PairMultiplier<Real> pair;
  TensorMultiplier<Real> tensor;
  ReleasingMultiplier<Real> releasing;

  /// Impulses that acted on the misfits of all pairs so far; null: they share the multiplier of the stress.
  Vec4<Real>* misfit_impulses() const { return kind == MultiplierKind::tensor ? tensor.misfit : nullptr; }

  template <bool Memory, class Material>
  Kick<Real> solve(const Material& material, const StepConstantsXpbi<Real>& step, const Neighborhood<Real, Memory>& n,
                   const LocalStep<Real>& local, bool crushed, Real rest_volume, Real inverse_mass,
                   std::size_t i) const {
    if (kind == MultiplierKind::releasing)
      return releasing.solve(material, step, n, local, crushed, rest_volume, inverse_mass, i);
    if constexpr (Material::has_strains) {
      if (kind == MultiplierKind::pair)
        return pair.solve(material, step, n, local, crushed, rest_volume, inverse_mass, i);
      if (kind == MultiplierKind::tensor)
        return tensor.solve(material, step, n, local, crushed, rest_volume, inverse_mass, i);
    }
    return force(material, step, n, local, crushed, rest_volume, i);
  }

 private:
  /// What the stress would do in a step that is solved: -dt^2 V (stress g + penalty w e).
  template <bool Memory, class Material>
  static Kick<Real> force(const Material& material, const StepConstantsXpbi<Real>& step,
                          const Neighborhood<Real, Memory>& n, const LocalStep<Real>& local, bool crushed,
                          Real rest_volume, std::size_t i) {
    const auto response = material.respond(local.deformation, i);
    const Real work = -rest_volume / step.inverse_squared_step;
    Mat3<Real> stress = response.stress;
    Real penalty = Real(0);
    if constexpr (Memory) {
      const auto misfit = misfit_part(step, local, held_misfit(n, local, crushed, response.yield_strain));
      stress -= misfit.stress;
      penalty = misfit.penalty;
    }
    return {on_span(n, work * stress), work * penalty, Real(0)};
  }
};

/// How well the increments solve the implicit step (methods: primal residual): the sum of squares of
/// m (y - y_free) - dt^2 force, and of its first part; held particles and those that touch a collider are left out.
template <class Sum>
struct Imbalance {
  Sum residual, inertia;

  static Imbalance identity() { return {Sum(0), Sum(0)}; }
  void combine(const Imbalance& other) {
    residual += other.residual;
    inertia += other.inertia;
  }
};

template <class Real, class Sum>
struct MeasureImbalance {
  const Vec4<Real>* position;
  const Vec4<Real>* velocity;  // at the start of the step
  const Vec4<Real>* increment;
  const Vec4<Real>* solved;  // change of the increments by the forces
  ColliderContacts<Real> contacts;
  Vec3<Real> gravity;
  Real time_step;

  Imbalance<Sum> operator()(std::size_t i) const {
    const Real inverse_mass = position[i][3];
    if (inverse_mass == Real(0) || contacts.touched(i)) return Imbalance<Sum>::identity();
    const Vec3<Real> change = xyz(increment[i]) - time_step * (xyz(velocity[i]) + time_step * gravity);
    const Vec3<Real> rest = change - xyz(solved[i]);
    return {Sum(squared_norm(rest / inverse_mass)), Sum(squared_norm(change / inverse_mass))};
  }
};

}  // namespace ductile
