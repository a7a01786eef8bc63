#pragma once

#include "kernels/math/remainder.hpp"
#include "kernels/xpbd/constraint.hpp"

namespace ductile {

/// Velocity that a particle would have at the end of the step if nothing but gravity acted on it; held ones keep
/// theirs.
template <class Real>
inline Vec3<Real> free_velocity(const Vec4<Real>& velocity, Real inverse_mass, const Vec3<Real>& gravity,
                                Real time_step) {
  return xyz(velocity) + (inverse_mass > Real(0) ? time_step * gravity : Vec3<Real>::zero());
}

/// Prediction of a step: free flight under gravity.
template <class Real>
struct BeginStep {
  const Vec4<Real>* position;  // inverse mass in the fourth place
  const Vec4<Real>* velocity;
  Vec3<Real> gravity;
  Real time_step;
  Vec4<Real>* increment;
  Real* multiplier;

  void operator()(std::size_t i) const {
    increment[i] = padded(time_step * free_velocity(velocity[i], position[i][3], gravity, time_step));
    multiplier[i] = Real(0);
  }
};

/// Infinite mass for the listed particles, or, without a list, every particle's own mass.
template <class Real>
struct SetInverseMass {
  const std::uint32_t* member;
  const Real* mass;
  Vec4<Real>* position;

  void operator()(std::size_t slot) const {
    const std::size_t i = member != nullptr ? member[slot] : slot;
    position[i] = padded(xyz(position[i]), member != nullptr ? Real(0) : Real(1) / mass[i]);
  }
};

/// Moves the particles of a fixture on by its rigid motion in the step. Where one is not where the motion should have
/// taken it so far, by more than rounding, it goes there too.
template <class Real>
struct DriveFixture {
  const std::uint32_t* member;
  const Vec4<Real>* rest;
  const Vec4<Real>* position;
  Mat3<Real> rotation;  // from the start of the run to that of the step
  Vec3<Real> about, shift;
  Mat3<Real> turn;  // change of the rotation in the step
  Vec3<Real> move;
  Vec4<Real>* increment;

  void operator()(std::size_t slot) const {
    const std::uint32_t i = member[slot];
    const Vec3<Real> arm = xyz(rest[i]) - about, x = xyz(position[i]);
    // rotation - 1 acts on the arm, so a fixture that is held stays where it is to the last bit
    const Vec3<Real> off = (xyz(rest[i]) - x) + ((rotation * arm - arm) + shift);
    const Real rounding = Real(4) * rounding_unit<Real> * (norm(x) + norm(arm));
    const Vec3<Real> way = turn * arm + move;
    increment[i] = padded(norm(off) > rounding ? way + off : way);
  }
};

/// The step's result becomes the state. Only what differs from free flight is divided by the step: the product of the
/// rounded step and its rounded inverse is not quite 1, and would speed up or slow down whatever flies for long.
template <class Real>
struct EndStep {
  const Vec4<Real>* increment;
  Vec3<Real> gravity;
  Real time_step, inverse_step;
  Real damping;  // factor of the velocity
  Vec4<Real>* position;
  Vec4<Real>* velocity;  // remainder of the position in the fourth place

  void operator()(std::size_t i) const {
    const Vec3<Real> d = xyz(increment[i]);
    const Vec4<Real> x = position[i];
    const Vec3<Real> free = free_velocity(velocity[i], x[3], gravity, time_step);
    const Vec3<Real> v = free + inverse_step * (d - time_step * free);
    const Vec3<Real> way = d + Remainder<Real>::unpack(velocity[i][3], xyz(x)), there = xyz(x) + way;
    position[i] = padded(there, x[3]);
    velocity[i] = padded(x[3] > Real(0) ? damping * v : v, Remainder<Real>::pack(cut_off(xyz(x), way, there), there));
  }
};

/// Deformation gradient and energy density of the present state.
template <class Real, int Columns, class Material>
struct Evaluate {
  RestNeighbors<Real> pairs;
  MomentPlanes<const Real, Columns> moments;
  const Sym3<Real>* missing;  // directions without neighbours; null: there are none
  const Vec4<Real>* position;
  Material material;
  Real penalty;
  std::size_t first;
  Mat3<Real>* displacement_gradient;  // F - I
  Real* energy;                       // J/m^3

  void operator()(std::size_t item) const {
    const std::size_t i = first + item;
    const RestMoments<Real, Columns> m = moments.load(i);
    const Vec3<Real> x = xyz(position[i]);
    Mat3<Real> H = Mat3<Real>::zero();
    pairs.for_each(i, [&](std::uint32_t s, const Vec3<Real>& p) {
      H += outer((xyz(position[pairs.index[s]]) - x) - p,
                 m.matrix.gradient(p, pairs.weight[s], Columns == 4 ? pairs.value[s] : Real(0)));
    });
    if (missing != nullptr) H = completed(H, missing[i]);
    Real misfit = Real(0);
    if (penalty > Real(0))
      pairs.for_each(i, [&](std::uint32_t s, const Vec3<Real>& p) {
        misfit += pairs.weight[s] * squared_norm((xyz(position[pairs.index[s]]) - x) - p - H * p);
      });
    displacement_gradient[i] = H;
    energy[i] = material.displacement_response(H, i).energy + Penalty<Real>::of(penalty, misfit).energy;
  }
};

/// Cauchy stress of the present state.
template <class Real, class Material>
struct CauchyStress {
  const Mat3<Real>* displacement_gradient;
  Material material;
  std::size_t first;
  Mat3<Real>* stress;

  void operator()(std::size_t item) const {
    const std::size_t i = first + item;
    const Mat3<Real> H = displacement_gradient[i], F = Mat3<Real>::identity() + H;
    stress[i] = cauchy_stress(times_transpose(material.displacement_response(H, i).stress, F), determinant(F));
  }
};

template <class Real>
struct SumOfSquares {
  Real value;

  static SumOfSquares identity() { return {Real(0)}; }
  void combine(const SumOfSquares& other) { value += other.value; }
};

template <class Real>
struct SquareOf {
  const Real* values;

  SumOfSquares<Real> operator()(std::size_t i) const { return {values[i] * values[i]}; }
};

/// Sums over all particles, in the widest precision the device has.
template <class Sum>
struct StepSums {
  Sum kinetic, elastic, gravity;
  Vec3<Sum> momentum, angular_momentum;
  Sum squared_speed;      // largest
  Sum volume_ratio;       // smallest
  Sum squared_violation;  // sum
  std::uint32_t bad;      // first particle that is no longer sound

  static StepSums identity() {
    return {Sum(0), Sum(0), Sum(0), Vec3<Sum>::zero(), Vec3<Sum>::zero(), Sum(0), Sum(1e30f), Sum(0), 0xFFFFFFFFu};
  }
  void combine(const StepSums& o) {
    kinetic += o.kinetic;
    elastic += o.elastic;
    gravity += o.gravity;
    momentum += o.momentum;
    angular_momentum += o.angular_momentum;
    squared_speed = sycl::fmax(squared_speed, o.squared_speed);
    volume_ratio = sycl::fmin(volume_ratio, o.volume_ratio);
    squared_violation += o.squared_violation;
    bad = bad < o.bad ? bad : o.bad;
  }
};

/// Nothing sound stretches a thousandfold, or is so far away that its position rounds by half a spacing. False for NaN.
template <class Real>
struct Sound {
  Real squared_distance;  // from the origin

  static bool whole(const Mat3<Real>& F) { return squared_norm(F) < Real(1e6f); }
  bool operator()(const Mat3<Real>& F, const Vec4<Real>& x) const {
    return whole(F) && x[0] * x[0] + x[1] * x[1] + x[2] * x[2] < squared_distance;
  }
};

template <class Real, class Sum>
struct MeasureParticle {
  const Vec4<Real>* rest;
  const Vec4<Real>* position;
  const Vec4<Real>* velocity;
  const Real* mass;
  const Mat3<Real>* displacement_gradient;
  const Real* energy;
  const Real* violation;
  Vec3<Sum> gravity;
  Sound<Real> sound;
  Sum held_part;  // of the energy of particles that are held

  StepSums<Sum> operator()(std::size_t i) const {
    const Vec3<Sum> x = widened(position[i]), v = widened(velocity[i]);
    const Sum m = Sum(mass[i]);
    const Vec3<Sum> p = m * v;
    const Sum scaled = Sum(violation[i]);
    const Mat3<Real> F = Mat3<Real>::identity() + displacement_gradient[i];
    const Sum volume_ratio = Sum(determinant(F));
    const Sum part = position[i][3] == Real(0) ? held_part : Sum(1);
    const Sum kinetic = Sum(0.5f) * dot(p, v), elastic = part * Sum(rest[i][3]) * Sum(energy[i]);
    const bool good = sycl::isfinite(kinetic) && sycl::isfinite(elastic) && sound(F, position[i]);
    return {kinetic,
            elastic,
            -m * dot(gravity, x),
            p,
            cross(x, p),
            dot(v, v),
            volume_ratio,
            scaled * scaled,
            good ? 0xFFFFFFFFu : std::uint32_t(i)};
  }

 private:
  static Vec3<Sum> widened(const Vec4<Real>& a) { return {Sum(a[0]), Sum(a[1]), Sum(a[2])}; }
};

}  // namespace ductile
