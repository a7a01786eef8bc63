#pragma once

#include "kernels/materials/neo_hookean_isochoric.hpp"
#include "kernels/materials/plasticity.hpp"

namespace ductile {

/// Yield surface of the non-associated cam-clay model (Wolper 2019; P1 sec. 4) in units of the bulk modulus:
///   (1 + 2 beta) q^2 + M^2 (p + beta p0)(p - p0) <= 0, pressure p > 0 in compression, p0 = 1e-5 + sinh(xi max(-alpha,
///   0)).
/// About its centre p_c it is (1 + 2 beta) q^2 <= M^2 (a^2 - (p - p_c)^2).
template <class Real>
struct CamClaySurface {
  struct State {
    Real log_volume;  ///< alpha, logarithm of the plastic volume ratio
  };

  Real slope;      ///< M
  Real cohesion;   ///< beta
  Real hardening;  ///< xi

  struct Section {
    Real p0, center, half_width;
  };
  Section section(const State& state) const {
    // Beyond the bound the clay is 10^8 times its bulk modulus strong; squares stay representable in single precision.
    const Real exponent = sycl::fmin(hardening * sycl::fmax(-state.log_volume, Real(0)), Real(20));
    const Real p0 = Real(1e-5L) + sycl::sinh(exponent);
    return {p0, Real(0.5) * (Real(1) - cohesion) * p0, Real(0.5) * (Real(1) + cohesion) * p0};
  }
  /// q on the surface at p = center + offset.
  Real shear_strength(const Section& e, Real offset) const {
    return slope * sycl::sqrt(sycl::fmax((e.half_width - offset) * (e.half_width + offset), Real(0)) /
                              (Real(1) + Real(2) * cohesion));
  }
  /// Part of the way from the centre to (p, q), outside, at which the segment crosses the surface.
  Real crossing(const Section& e, Real offset, Real q) const {
    return slope * e.half_width / sycl::sqrt(square(slope * offset) + (Real(1) + Real(2) * cohesion) * square(q));
  }
};

/// Cam-clay with Hencky elasticity, p = -tr(eps), q = sqrt(3/2) 2 mu |dev eps|/kappa.
template <class Real>
struct CamClayRule {
  using State = typename CamClaySurface<Real>::State;

  Real mu, lambda;
  CamClaySurface<Real> surface;

  Flow<Real, State> flow(Real trace, Real deviator_norm, const State& state, Real) const {
    const auto e = surface.section(state);
    const Real offset = -trace - e.center;
    if (offset > e.half_width) return {Real(0), -e.p0, {state.log_volume + (trace + e.p0)}, Yield::compression};
    if (offset < -e.half_width) {
      const Real tip = surface.cohesion * e.p0;
      return {Real(0), tip, {state.log_volume + (trace - tip)}, Yield::tension};
    }
    const Real q = shear_per_strain() * deviator_norm;
    const Real strength = surface.shear_strength(e, offset);
    if (!(q > strength)) return {Real(1), trace, state, Yield::none};
    // Hardening as if p had moved to the crossing p_x towards the centre: alpha += tr(eps) + p_x.
    const Real change = offset * (surface.crossing(e, offset, q) - Real(1));
    return {strength / q, trace, {state.log_volume + change}, Yield::shear};
  }
  /// |dev eps| on the surface.
  Real yield_radius(Real trace, const State& state) const {
    const auto e = surface.section(state);
    return surface.shear_strength(e, -trace - e.center) / shear_per_strain();
  }

 private:
  Real shear_per_strain() const {
    return Real(1.2247448713915890491L) * Real(2) * mu / Lame<Real>{mu, lambda}.bulk_modulus();
  }
};

template <class Real>
using CamClay = HenckyPlasticity<Real, CamClayRule<Real>>;

/// Cam-clay on the Neo-Hookean solid it was published with, p = (1 - J^2)/2, q = sqrt(3/2) mu J^{-2/3} |dev(F
/// F^T)|/kappa. Yielding in shear keeps J, hence p, so that the result lies on the surface (the published update misses
/// it).
template <class Real>
struct NeoHookeanCamClay {
  using State = typename CamClaySurface<Real>::State;

  IsochoricNeoHookean<Real> elastic;
  CamClaySurface<Real> surface;

  Projected<Real, State> project(const Mat3<Real>& F_trial, const State& state, Real = Real(0)) const {
    const Mat3<Real> H = displacement_gradient(F_trial);
    const Real j = volume_change(H).j;
    const auto e = surface.section(state);
    if (j > least_volume - Real(1)) {
      const Real offset = pressure(j) - e.center;
      const Real q = shear(j, Real(2) * sycl::sqrt(squared_norm(deviator(green_strain(H)))));
      if (sycl::fabs(offset) <= e.half_width && !(q > surface.shear_strength(e, offset)))
        return {F_trial, state, Yield::none};
    }
    return project_by_stretches(svd(F_trial), state);
  }
  Mapped<Real, State> map(const Mat3<Real>& F_trial, const State& state, Real dt = Real(0)) const {
    const Projected<Real, State> p = project(F_trial, state, dt);
    return {p.F, p.state, p.yield, elastic.energy(p.F), elastic.kirchhoff(p.F)};
  }
  /// The mapping with the decomposition of the trial state at hand.
  [[gnu::noinline]] Projected<Real, State> project_by_stretches(const Svd<Real>& f, const State& state) const {
    const Vec3<Real> s = limited(f.s);
    const Real J = s.x * s.y * s.z, j = J - Real(1);
    const auto e = surface.section(state);
    const Real offset = pressure(j) - e.center;
    if (offset > e.half_width) return tip(f, J, Real(1) - Real(2) * e.p0, state, Yield::compression);
    if (offset < -e.half_width) return tip(f, J, Real(1) + Real(2) * surface.cohesion * e.p0, state, Yield::tension);
    const Vec3<Real> b = {square(s.x), square(s.y), square(s.z)};
    const Real mean = sum(b) * (Real(1) / Real(3));
    const Vec3<Real> deviation = b - Vec3<Real>{mean, mean, mean};
    const Real q = shear(j, norm(deviation));
    const Real strength = surface.shear_strength(e, offset);
    if (!(q > strength)) return {recompose(f, s), state, Yield::none};
    const Real crossed = e.center + offset * surface.crossing(e, offset, q);
    const Real fake_volume = sycl::sqrt(sycl::fabs(Real(1) - Real(2) * crossed));
    const Real change = fake_volume > Real(1e-4) ? sycl::log(J / fake_volume) : Real(0);
    return {recompose(f, stretches(deviation * (strength / q), mean, J)), {state.log_volume + change}, Yield::shear};
  }
  Real energy(const Mat3<Real>& F, const State&) const { return elastic.energy(F); }
  Mat3<Real> kirchhoff(const Mat3<Real>& F, const State&) const { return elastic.kirchhoff(F); }

 private:
  static constexpr Real least_stretch = Real(1e-4);  // as in the Hencky models
  static constexpr Real least_volume = Real(1e-3);

  static Vec3<Real> limited(const Vec3<Real>& s) {
    return {sycl::fmax(s.x, least_stretch), sycl::fmax(s.y, least_stretch), sycl::fmax(s.z, least_stretch)};
  }
  static constexpr Real pressure(Real j) { return Real(-0.5) * j * (Real(2) + j); }
  Real shear(Real j, Real deviator_norm_of_b) const {
    const Real root = sycl::cbrt(Real(1) + j);
    return Real(1.2247448713915890491L) * elastic.mu / elastic.kappa * deviator_norm_of_b / square(root);
  }
  Projected<Real, State> tip(const Svd<Real>& f, Real J, Real square_of_volume, const State& state, Yield yield) const {
    const Real volume = sycl::sqrt(sycl::fmax(square_of_volume, Real(0)));
    const Real stretch = sycl::cbrt(volume);
    return {recompose(f, {stretch, stretch, stretch}), {state.log_volume + sycl::log(J / volume)}, yield};
  }
  /// Square roots of d + c, c from det(d + c) = J^2. c falls from `upper`, its value before the deviator shrank, and
  /// c^3 - |d|^2/2 c + d1 d2 d3 - J^2 is convex above its largest root: Newton's method comes down monotonically.
  static Vec3<Real> stretches(const Vec3<Real>& d, Real upper, Real J) {
    const Real linear = Real(0.5) * squared_norm(d), constant = d.x * d.y * d.z - square(J);
    Real c = upper;
    for (int iteration = 0; iteration < 40; ++iteration) {
      const Real step = (c * (square(c) - linear) + constant) / (Real(3) * square(c) - linear);
      if (!(step > rounding_unit<Real> * c)) break;
      c -= step;
    }
    const auto root = [](Real x) { return sycl::sqrt(sycl::fmax(x, square(least_stretch))); };
    return {root(d.x + c), root(d.y + c), root(d.z + c)};
  }
};

}  // namespace ductile
