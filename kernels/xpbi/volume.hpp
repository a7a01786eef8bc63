#pragma once

#include "kernels/xpbi/lists.hpp"

namespace ductile {

/// Flow that keeps the volume in every step still lets particles crowd: motion between the particles of one support is
/// no strain. A particle that chooses its neighbours anew sees how densely they lie without load, and takes part of
/// what is beyond the density at rest as compression: elastic volume and pairs change, places do not. Material that
/// stores volume gained in tension loses that first.
template <class Real, class Smoothing, class Material>
struct TakeUpCrowding {
  const std::uint32_t* stale;
  const std::uint32_t* loading;
  const std::uint32_t* start;
  const std::uint32_t* index;
  const Vec4<Real>* rest;
  const Real* reach;
  Smoothing smoothing;  // of support 1
  Real most_density;    // sum of V W that is no crowd
  Real part;            // of the crowding that is taken up
  Material material;
  std::size_t first;
  Mat3<Real>* displacement_gradient;
  Vec4<Real>* pair;

  void operator()(std::size_t item) const {
    const std::size_t i = first + item;
    if (stale[i] == 0 || (loading[i] & loading_tension) != 0) return;
    const Real crowding = sycl::log(unloaded_density(i) / most_density);
    const Real stored = material.mapping.rule.stored_volume(material.state[i]);
    const Real taken = part * (crowding + stored);
    if (!(taken > Real(0))) return;
    const Real from_store = sycl::fmin(taken, stored);
    if constexpr (!std::is_empty_v<typename Material::State>)
      material.state[i] = material.mapping.rule.without_volume(material.state[i], from_store);
    const Real stretch = sycl::exp((taken - from_store) * (Real(-1) / Real(3)));
    const Mat3<Real> I = Mat3<Real>::identity();
    displacement_gradient[i] = (I + displacement_gradient[i]) * stretch - I;
    for (std::uint32_t s = start[i]; s < start[i + 1]; ++s)
      pair[s] = padded(xyz(pair[s]) * (Real(1) / stretch), pair[s][3]);
  }

 private:
  Real unloaded_density(std::size_t i) const {
    const Real inverse = Real(1) / reach[i];
    Real sum = rest[i][3] * smoothing.value(Real(0));
    for (std::uint32_t s = start[i]; s < start[i + 1]; ++s) {
      const Real r = norm(xyz(pair[s])) * inverse;
      if (r < Real(1) && index[s] != i) sum += rest[index[s]][3] * smoothing.value(r);
    }
    return sum * square(inverse) * inverse;
  }
};

}  // namespace ductile
