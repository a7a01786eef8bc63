#pragma once

#include <sycl/sycl.hpp>

#include <cstddef>
#include <cstdint>

#include "kernels/contact/distance_grid.hpp"
#include "kernels/contact/signed_distance.hpp"
#include "kernels/math/mat3.hpp"

namespace ductile {

enum class ColliderShape : int { plane, box, sphere, cylinder, capsule, torus, grid };

/// A rigid obstacle of infinite mass during one step.
template <class Real>
struct Collider {
  ColliderShape shape;
  bool inside;  // keeps particles in instead of out
  Real friction;
  Vec3<Real> size;      // box: half edges; else radius, half height or tube
  Mat3<Real> rotation;  // local to world at the end of the step
  Vec3<Real> center;    // at the end of the step; a plane's point
  Mat3<Real> back;      // a point y of the collider was at back (y - center) + start when the step began
  Vec3<Real> start;
  Mat3<Real> turn;          // 1 - back
  Vec3<Real> move;          // center - start
  DistanceGrid<Real> grid;  // of a mesh, in its own frame

  DistanceNormal<Real> distance(const Vec3<Real>& world) const {
    const Vec3<Real> p = transpose_times(rotation, world - center);
    DistanceNormal<Real> local = local_distance(p);
    local.normal = rotation * local.normal;
    if (inside) local = {-local.distance, -local.normal};
    return local;
  }
  /// What a particle that keeps the distance `keep` and goes from `begin` to `end` in the step meets: as
  /// `distance(end)`, or, if its centre comes to the surface on the way there, the distance from the surface's tangent
  /// plane at that place. Seen from the collider the way is taken as straight, and looked at to a quarter of `fine`.
  DistanceNormal<Real> met(const Vec3<Real>& begin, const Vec3<Real>& end, Real keep, Real fine) const {
    const DistanceNormal<Real> last = distance(end);
    if (shape == ColliderShape::plane) return last;  // one side only: nothing passes through
    const Vec3<Real> from = transpose_times(back, begin - start) + center, way = end - from;
    const Real length = norm(way);
    // Outside of its grid a mesh is nearer than the sum that the grid gives, by the root of two at most.
    const Real certain = shape == ColliderShape::grid ? Real(0.7f) : Real(1);
    // On a short way the centre cannot come to the surface, and on none shorter than the distance that is left.
    if (!(length > Real(0.5f) * fine) || !(length > certain * last.distance - keep)) return last;
    Real gone = Real(0);
    for (int step = 0; step < most_steps && gone < length; ++step) {
      const Vec3<Real> here = from + (gone / length) * way;
      const DistanceNormal<Real> surface = distance(here);
      if (surface.distance < Real(0.5f) * fine) {
        if (step == 0 && !(surface.distance > Real(0))) return last;  // it began inside
        const Real plane = surface.distance + dot(end - here, surface.normal);
        return plane < keep ? DistanceNormal<Real>{plane, surface.normal} : last;
      }
      gone += certain * (surface.distance - Real(0.25f) * fine);  // stays on this side of the surface
    }
    return last;
  }
  /// How far the collider's matter at `world` moved during the step.
  Vec3<Real> displacement(const Vec3<Real>& world) const { return turn * (world - center) + move; }

 private:
  static constexpr int most_steps = 64;  // of a quarter of `fine` at least, usually far more

  DistanceNormal<Real> local_distance(const Vec3<Real>& p) const {
    switch (shape) {
      case ColliderShape::box:
        return box_distance_normal(p, size);
      case ColliderShape::sphere:
        return sphere_distance_normal(p, size.x);
      case ColliderShape::cylinder:
        return cylinder_distance_normal(p, size.x, size.y);
      case ColliderShape::capsule:
        return capsule_distance_normal(p, size.x, size.y);
      case ColliderShape::torus:
        return torus_distance_normal(p, size.x, size.y);
      case ColliderShape::grid:
        return grid.at(p);
      case ColliderShape::plane:
        break;
    }
    return {p.z, {Real(0), Real(0), Real(1)}};
  }
};

/// What every collider did to every particle in a step: its tangential corrections and, in the fourth place, the sum of
/// the normal ones. With more than `most` colliders a particle remembers the first `most` that it touches.
template <class Real>
struct ColliderContacts {
  static constexpr std::uint32_t most = 4;

  Vec4<Real>* sum;       // slot by slot, each of all particles
  std::uint32_t* owner;  // of each slot: collider + 1, 0: free; null: slots are colliders
  std::uint32_t slots;
  std::size_t particles;

  /// Where the contact of a particle with a collider is remembered; null: it is not.
  Vec4<Real>* find(std::size_t i, std::uint32_t collider) const {
    if (owner == nullptr) return sum + (collider * particles + i);
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      std::uint32_t& taken = owner[slot * particles + i];
      if (taken == 0) taken = collider + 1;
      if (taken == collider + 1) return sum + (slot * particles + i);
    }
    return nullptr;
  }
  bool touched(std::size_t i) const {
    bool any = false;
    for (std::uint32_t slot = 0; slot < slots; ++slot) any = any || sum[slot * particles + i][3] > Real(0);
    return any;
  }
};

/// Keeps particles out of the colliders, with Coulomb friction: over the iterations of a step a collider's tangential
/// correction never exceeds its friction times its normal one. (A contact that is not remembered has that bound in
/// every iteration.)
template <class Real>
struct ResolveColliders {
  const Collider<Real>* collider;
  std::uint32_t colliders;
  const Vec4<Real>* position;  // x^n, inverse mass
  const Real* keep;            // distance of a particle's centre
  const Real* radius;
  ColliderContacts<Real> contacts;
  Vec4<Real>* increment;

  void operator()(std::size_t i) const {
    const Vec4<Real> x = position[i];
    if (x[3] == Real(0)) return;
    Vec3<Real> d = xyz(increment[i]);
    const Real least = keep[i], fine = sycl::fmax(least, Real(0.2f) * radius[i]);
    bool touched = false;
    for (std::uint32_t c = 0; c < colliders; ++c) {
      const auto surface = collider[c].met(xyz(x), xyz(x) + d, least, fine);
      const Real depth = least - surface.distance;
      if (!(depth > Real(0))) continue;
      touched = true;
      Vec4<Real>* const remembered = contacts.find(i, c);
      const Vec4<Real> before = remembered != nullptr ? *remembered : padded(Vec3<Real>::zero());
      d += depth * surface.normal;
      const Real pushed = before[3] + depth;
      const Vec3<Real> slip = d - collider[c].displacement(xyz(x) + d);
      Vec3<Real> tangential = xyz(before) - (slip - dot(slip, surface.normal) * surface.normal);
      const Real most = collider[c].friction * pushed, wanted = norm(tangential);
      if (wanted > most) tangential = tangential * (most / wanted);
      d += tangential - xyz(before);
      if (remembered != nullptr) *remembered = padded(tangential, pushed);
    }
    if (touched) increment[i] = padded(d);
  }
};

}  // namespace ductile
