#pragma once

#include "kernels/smoothing/kernels.hpp"
#include "scene/scene.hpp"

namespace ductile {

/// Calls use(kernel) with the smoothing kernel of the given support radius.
template <class Real, class Use>
void with_smoothing(scene::SmoothingKernel kernel, Real support, const Use& use) {
  switch (kernel) {
    case scene::SmoothingKernel::wendland:
      return use(Wendland<Real, 3>(support));
    case scene::SmoothingKernel::poly6:
      return use(Poly6<Real, 3>(support));
    case scene::SmoothingKernel::spiky:
      return use(Spiky<Real, 3>(support));
    case scene::SmoothingKernel::cubic:
      return use(CubicSpline<Real, 3>(support));
    case scene::SmoothingKernel::cosine:
      return use(Cosine<Real, 3>(support));
  }
}

}  // namespace ductile
