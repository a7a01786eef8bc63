#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/materials/creep.hpp"
#include "kernels/materials/fibers.hpp"

namespace ductile {

/// Fibre directions (and stiffness in the fourth place) of every particle, one family after the other.
template <class Real>
struct FiberField {
  const Vec4<Real>* fiber;
  std::uint32_t families;
  std::size_t particles;

  [[gnu::always_inline]] FastResponse<Real> fast_response(std::uint32_t family, const Mat3<Real>& H,
                                                          std::size_t i) const {
    const Vec4<Real> b = fiber[family * particles + i];
    return FiberFamily<Real>{xyz(b), b[3]}.fast_response(H);
  }
  void add(Response<Real>& response, const Mat3<Real>& H, std::size_t i) const {
    for (std::uint32_t f = 0; f < families; ++f) {
      const Vec4<Real> b = fiber[f * particles + i];
      response += FiberFamily<Real>{xyz(b), b[3]}.displacement_response(H);
    }
  }
};

/// The law of a material at its particles.
template <class Real, class Law>
struct MaterialPoint {
  Law law;
  FiberField<Real> fibers;

  Response<Real> displacement_response(const Mat3<Real>& H, std::size_t i) const {
    Response<Real> response = law.displacement_response(H);
    fibers.add(response, H, i);
    return response;
  }
  /// Without the fibres.
  [[gnu::always_inline]] FastResponse<Real> fast_response(const Mat3<Real>& H, std::size_t) const {
    return law.fast_response(H);
  }
};

template <class Real>
struct MaterialPoint<Real, Creep<Real>> {
  Creep<Real> law;
  FiberField<Real> fibers;
  const typename Creep<Real>::State* state;

  Response<Real> displacement_response(const Mat3<Real>& H, std::size_t i) const {
    Response<Real> response = law.displacement_response(H, state[i]);
    fibers.add(response, H, i);
    return response;
  }
  [[gnu::always_inline]] FastResponse<Real> fast_response(const Mat3<Real>& H, std::size_t i) const {
    return law.fast_response(H, state[i]);
  }
};

/// Plastic flow after a step.
template <class Real>
struct UpdateCreep {
  Creep<Real> law;
  const Mat3<Real>* displacement_gradient;
  Real time_step;
  std::size_t first;
  typename Creep<Real>::State* state;

  void operator()(std::size_t item) const {
    const std::size_t i = first + item;
    state[i] = law.update(Mat3<Real>::identity() + displacement_gradient[i], state[i], time_step);
  }
};

}  // namespace ductile
