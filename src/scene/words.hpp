#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "scene/scene.hpp"

/// The words of a scene file for the enumerations of a Scene.
namespace ductile::scene {

/// In the order of geometry::ShapeKind.
enum class ShapeType { box, sphere, cylinder, capsule, torus, plane, mesh };
/// Of a cutting surface.
enum class PatchType { rectangle, mesh };
/// In the order of scene::Plastic, which starts with "none".
enum class PlasticModel { von_mises, drucker_prager, cam_clay, herschel_bulkley, snow, creep };

/// `all` holds one word per enumerator, in their order.
template <class Enum>
struct Words;

template <std::size_t count>
using WordList = std::array<std::string_view, count>;

template <>
struct Words<Method> {
  static constexpr WordList<2> all{"total-lagrangian", "xpbi"};
};
template <>
struct Words<Scheme> {
  static constexpr WordList<2> all{"gauss-seidel", "jacobi"};
};
template <>
struct Words<Multiplier> {
  static constexpr WordList<3> all{"scalar", "pair", "tensor"};
};
template <>
struct Words<Reference> {
  static constexpr WordList<2> all{"memory", "current"};
};
template <>
struct Words<Separation> {
  static constexpr WordList<2> all{"distance", "density"};
};
template <>
struct Words<Volumes> {
  static constexpr WordList<3> all{"elastic", "density", "total"};
};
template <>
struct Words<Plasticity> {
  static constexpr WordList<3> all{"implicit", "semi-implicit", "none"};
};
template <>
struct Words<Gradient> {
  static constexpr WordList<5> all{"least-squares", "corrected", "raw", "mlsrk-constant", "mlsrk-linear"};
};
template <>
struct Words<Constraint> {
  static constexpr WordList<2> all{"sqrt-energy", "energy"};
};
template <>
struct Words<SmoothingKernel> {
  static constexpr WordList<5> all{"wendland", "poly6", "spiky", "cubic", "cosine"};
};
template <>
struct Words<Precision> {
  static constexpr WordList<2> all{"single", "double"};
};
template <>
struct Words<ElasticModel> {
  static constexpr WordList<6> all{"linear", "corotated", "fixed-corotated", "stvk", "neo-hookean", "hencky"};
};
template <>
struct Words<Inversion> {
  static constexpr WordList<2> all{"extended", "hard-switch"};
};
template <>
struct Words<PatchType> {
  static constexpr WordList<2> all{"rectangle", "mesh"};
};
template <>
struct Words<Fiber::Field> {
  static constexpr WordList<4> all{"constant", "axis", "radial", "circumferential"};
};
template <>
struct Words<PlasticModel> {
  static constexpr WordList<6> all{"von-mises", "drucker-prager", "cam-clay", "herschel-bulkley", "snow", "creep"};
};
template <>
struct Words<CamClay::Form> {
  static constexpr WordList<2> all{"hencky", "neo-hookean"};
};
template <>
struct Words<ShapeType> {
  static constexpr WordList<7> all{"box", "sphere", "cylinder", "capsule", "torus", "plane", "mesh"};
};
template <>
struct Words<Probe::Quantity> {
  static constexpr WordList<2> all{"mean-position", "reaction"};
};
template <>
struct Words<Field> {
  static constexpr WordList<6> all{"velocity",         "deformation_gradient", "cauchy_stress",
                                   "von_mises_stress", "volume_ratio",         "piece"};
};

template <class Enum>
[[nodiscard]] constexpr std::string_view word(Enum value) {
  return Words<Enum>::all[static_cast<std::size_t>(value)];
}

/// The methods that a scene may ask for: those that the program has a solver for.
inline constexpr std::array available_methods{Method::total_lagrangian, Method::xpbi};

// Additive plasticity belongs to the Green strain of the total-Lagrangian solver (P0), return mappings to the
// multiplicative update of XPBI (P1).
inline constexpr std::array additive_models{PlasticModel::creep};
inline constexpr std::array return_mappings{PlasticModel::von_mises, PlasticModel::drucker_prager,
                                            PlasticModel::cam_clay, PlasticModel::herschel_bulkley, PlasticModel::snow};

/// The plastic models of a method.
[[nodiscard]] constexpr std::span<const PlasticModel> plastic_models(Method method) {
  if (method == Method::xpbi) return return_mappings;
  return additive_models;
}

}  // namespace ductile::scene
