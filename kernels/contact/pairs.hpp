#pragma once

#include <sycl/sycl.hpp>

#include <cstddef>
#include <cstdint>

#include "kernels/math/mat3.hpp"
#include "kernels/math/scalar.hpp"

namespace ductile {

/// Pairs of rest neighbours that cuts have severed; all pointers null: none.
struct SeveredPairs {
  const std::uint32_t* start;
  const std::uint32_t* index;
  const std::uint8_t* severed;

  bool contains(std::uint32_t i, std::uint32_t j) const {
    if (severed == nullptr) return false;
    for (std::uint32_t s = start[i]; s < start[i + 1]; ++s)
      if (index[s] == j) return severed[s] != 0;
    return false;
  }
};

/// Who may touch whom: particles of different pieces, and particles of one piece that are no rest neighbours.
template <class Real>
struct MayTouch {
  const std::uint32_t* particle;  // of each surface slot
  const std::uint32_t* piece;     // an uncut body is one piece
  const Vec4<Real>* rest;
  const Real* reach;           // support at rest, per particle; null: a piece does not touch itself
  const std::uint32_t* flows;  // 1 for particles that flow, which the method keeps apart itself; null: none does
  SeveredPairs severed;

  bool operator()(std::size_t a, std::uint32_t b) const {
    const std::uint32_t i = particle[a], j = particle[b];
    if (flows != nullptr && (flows[i] & flows[j]) != 0) return false;
    if (piece[i] != piece[j]) return true;
    if (reach == nullptr) return false;
    const Vec3<Real> p = xyz(rest[i] - rest[j]);
    return squared_norm(p) > reach[i] * reach[i] || severed.contains(i, j);
  }
};

/// Contacts of the surface particles (P0 sec. 4.5): two that are closer than the sum of their radii push each other
/// apart. Particles on a smooth part of the surface know its plane and their depth below it: they meet others across
/// that plane, so faces are not as rough as their particles. Everything is gathered and symmetric in the pair, so
/// momentum is conserved.
template <class Real>
struct ContactPairs {
  const std::uint32_t* start;
  const std::uint32_t* other;  // surface slots
  const Vec4<Real>* position;  // of each surface slot: x^n, inverse mass
  const Vec4<Real>* moved;     // of each surface slot: way since then, radius
  const Vec4<Real>* face;      // of each surface slot: outward normal, depth below the face; zero: no face
  const Real* width;           // of each surface slot: squared distance along its face up to which it stands for it
  const Vec4<Real>* rest;      // of each surface slot, once there are cuts; null before
  Real recovered;              // part of their overlap by which faces come out of each other in a step

  struct Gap {
    Vec3<Real> normal;  // from the other to this one
    Real overlap;
  };
  Gap gap(std::size_t a, std::uint32_t b) const {
    const Vec3<Real> before = xyz(position[a] - position[b]), way = slip(a, b);
    Real reach = moved[a][3] + moved[b][3];
    // Neighbours of an irregular sample that a cut has severed are no farther apart than they were.
    if (rest != nullptr) reach = sycl::fmin(reach, norm(xyz(rest[a] - rest[b])));
    const Vec4<Real> front = face[a], back = face[b];
    const Vec3<Real> across = xyz(back - front);
    const Real length = squared_norm(across);
    // Squared length of the difference of two normals: 2 - 2 cos of their angle.
    if (front[3] * back[3] > Real(0) ? length > facing : length > Real(0)) {
      const Vec3<Real> normal = across / sycl::sqrt(length);
      const Real depth = depth_of(front, moved[a]) + depth_of(back, moved[b]);
      // From well outside, or already inside by less than half of what the particles themselves keep.
      if (dot(before, normal) > depth - Real(0.5f) * reach)
        return face_gap(before, way, normal, depth, sycl::fmax(width[a], width[b]));
    }
    return centre_gap(before, way, reach, a < b);
  }
  /// Way of this one as the other sees it.
  Vec3<Real> slip(std::size_t a, std::uint32_t b) const { return xyz(moved[a] - moved[b]); }

 private:
  /// Pairs that pass at more than this part of their distance only brush each other and may slide past. On a square
  /// lattice every line through a layer comes closer than 0.71 to some particle.
  static constexpr Real glancing = Real(0.85f);
  /// Faces whose normals are at least 107 degrees apart face each other.
  static constexpr Real facing = Real(2.6f);

  static Real depth_of(const Vec4<Real>& face, const Vec4<Real>& moved) {
    return face[3] > Real(0) ? face[3] : moved[3];
  }

  /// Across a plane: a pair acts where it comes through it, within the particles' part of the face. One that is through
  /// already, because it came from the side or its faces turned, goes no deeper and comes out little by little: thrown
  /// out in one step it would gain energy.
  Gap face_gap(const Vec3<Real>& before, const Vec3<Real>& way, const Vec3<Real>& normal, Real depth,
               Real squared_width) const {
    const Real above = dot(before, normal) - depth, end = above + dot(way, normal);
    const Real least = (Real(1) - recovered) * sycl::fmin(above, Real(0));
    if (!(end < least)) return {normal, Real(-1)};
    const Real part = above > Real(0) ? above / (above - end) : Real(0);
    const Vec3<Real> there = before + part * way;
    const Real away = dot(there, normal);
    return {normal, squared_norm(there) - away * away > squared_width ? Real(-1) : least - end};
  }

  /// A pair that approaches keeps the direction in which it first touches, however far it goes on: the present one
  /// turns while particles pass each other, and would push them out on the far side.
  static Gap centre_gap(const Vec3<Real>& before, const Vec3<Real>& way, Real reach, bool lower) {
    const Vec3<Real> apart = before + way;
    const Real approach = -dot(before, way);
    const Gap none{before, Real(-1)};
    if (approach > Real(0)) {
      const Real length = squared_norm(way), now = squared_norm(before), blocked = sycl::fmin(now, reach * reach);
      // Squared: how far the two are from each other when they pass, how far apart they stop, both times the way.
      const Real passing = length * now - approach * approach, stopping = length * blocked;
      if (passing < glancing * glancing * stopping) {
        const Real left = approach - length, within = stopping - passing;
        if (left > Real(0) && left * left > within) return none;  // they do not come that far
        const Real touch = sycl::fmax((approach - sycl::sqrt(within)) / length, Real(0));
        const Vec3<Real> there = before + touch * way;
        const Vec3<Real> normal = there / norm(there);
        return {normal, reach - dot(apart, normal)};
      }
    }
    if (squared_norm(apart) >= reach * reach) return none;
    // Coincident centres have no direction: the lower index goes up.
    const Real distance = norm(apart);
    const Vec3<Real> normal =
        distance > Real(0) ? apart / distance : Vec3<Real>{Real(0), Real(0), Real(lower ? -1 : 1)};
    return {normal, reach - distance};
  }
};

/// The faces of the surface particles as they are now: normals go with the cofactor of F.
template <class Real>
struct PlaceFaces {
  const std::uint32_t* particle;
  const Vec4<Real>* rest_face;              // of each particle: outward normal at rest, depth; zero: no face
  const Mat3<Real>* displacement_gradient;  // F - I
  const Real* radius;
  Vec4<Real>* face;
  Real* width;

  void operator()(std::size_t a) const {
    const std::uint32_t i = particle[a];
    const Vec4<Real> rest = rest_face[i];
    const Mat3<Real> F = Mat3<Real>::identity() + displacement_gradient[i];
    const Vec3<Real> normal = cofactor(F) * xyz(rest);
    const Real area = norm(normal);
    const bool whole = area > Real(0.05f);  // false where there is no face, or it is crushed
    face[a] = whole ? padded(normal / area, rest[3]) : padded(Vec3<Real>::zero());
    // Half the diagonal of a cell of the lattice in the face, as far as it is stretched, and a little more.
    const Real stretch = Real(0.5f) * (squared_norm(F) - squared_norm(F * xyz(rest)));
    width[a] = whole ? square(Real(2) * radius[i]) * sycl::fmin(Real(0.5625f) * stretch, widest) : Real(0);
  }

  static constexpr Real widest = Real(0.96f);  // spacings, squared: pairs are searched 1.4 spacings far
};

/// How far the surface particles have come, in a row for the searches of contacts.
template <class Real>
struct GatherMoves {
  const std::uint32_t* particle;
  const Vec4<Real>* increment;
  const Real* radius;
  Vec4<Real>* moved;

  void operator()(std::size_t a) const {
    const std::uint32_t i = particle[a];
    moved[a] = padded(xyz(increment[i]), radius[i]);
  }
};

/// Lists the pairs of a surface particle that touch now; their corrections share the way.
template <class Real>
struct FindContacts {
  ContactPairs<Real> pairs;
  std::uint32_t* count;
  std::uint32_t* touching;  // pairs, from the start of the particle's pairs on

  void operator()(std::size_t a) const {
    std::uint32_t found = pairs.start[a];
    for (std::uint32_t s = pairs.start[a]; s < pairs.start[a + 1]; ++s)
      if (pairs.gap(a, pairs.other[s]).overlap > Real(0)) touching[found++] = s;
    count[a] = found - pairs.start[a];
  }
};

/// Impulse on a surface particle by all its contacts, with Coulomb friction per pair over the step.
template <class Real>
struct GatherContacts {
  ContactPairs<Real> pairs;
  const std::uint32_t* count;
  const std::uint32_t* touching;
  Real friction;
  Vec4<Real>* history;  // of each ordered pair: tangential correction of this step, and the normal one
  Vec4<Real>* impulse;  // on the particle, times dt

  void operator()(std::size_t a) const {
    Vec3<Real> sum = Vec3<Real>::zero();
    const Real own = pairs.position[a][3];
    const std::uint32_t first = pairs.start[a], contacts = count[a];
    for (std::uint32_t t = first; t < first + contacts; ++t) {
      const std::uint32_t s = touching[t], b = pairs.other[s];
      const Real mobility = own + pairs.position[b][3];
      if (mobility == Real(0)) continue;
      const auto gap = pairs.gap(a, b);
      const Real part = Real(1) / Real(sycl::max(contacts, count[b]));
      const Vec4<Real> before = history[s];
      const Real push = part * gap.overlap, pushed = before[3] + push;
      const Vec3<Real> slip = pairs.slip(a, b);
      Vec3<Real> tangential = xyz(before) - part * (slip - dot(slip, gap.normal) * gap.normal);
      const Real limit = friction * pushed, wanted = norm(tangential);
      if (wanted > limit) tangential = tangential * (limit / wanted);
      sum += (push * gap.normal + (tangential - xyz(before))) / mobility;
      history[s] = padded(tangential, pushed);
    }
    impulse[a] = padded(sum);
  }
};

template <class Real>
struct ApplyContacts {
  const std::uint32_t* particle;
  const Vec4<Real>* position;  // of each surface slot, inverse mass in the fourth place
  const Vec4<Real>* impulse;
  Vec4<Real>* increment;
  Vec4<Real>* held;  // what contacts did to particles of infinite mass; null: not wanted

  void operator()(std::size_t a) const {
    const std::uint32_t i = particle[a];
    const Real inverse_mass = position[a][3];
    increment[i] += impulse[a] * inverse_mass;
    if (held != nullptr && inverse_mass == Real(0)) held[i] += impulse[a];
  }
};

}  // namespace ductile
