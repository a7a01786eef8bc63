#include "solvers/blocks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

namespace ductile {

namespace {

/// Particles in a block of the least width, two supports; the support in spacings.
double narrow_block(double support) { return 8 * support * support * support; }

/// How many times the least width of a block pays: a block reads all around it as well, so many particles get wider
/// ones, of which some 32 of a colour are left to share.
double block_widening(std::size_t particles, double support) {
  return std::clamp(std::cbrt(double(particles) / (256 * narrow_block(support))), 1.0, 2.5);
}

}  // namespace

ColouredBlocks colour_blocks(const scene::Scene& scene, const Particles& particles, Range range) {
  struct Entry {
    std::uint32_t colour, body;
    std::int64_t z, y, x;
    std::uint32_t particle;
    [[nodiscard]] auto block() const { return std::tuple(colour, body, z, y, x); }
  };
  const double least = 2 * scene.solver.smoothing.support;  // spacings
  const double wider = block_widening(range.count, scene.solver.smoothing.support);
  std::vector<Entry> entries;
  entries.reserve(range.count);
  for (std::size_t i = range.first; i < range.first + range.count; ++i) {
    const auto& body = scene.bodies[particles.body[i]];
    // A hair more than two supports: rounding of the rest positions must not bring two blocks of a colour together.
    const double width = wider * least * body.spacing * (1 + 1e-5);
    const Eigen::Vector3d cell = ((particles.rest[i] - body.shape.position) / width).array().floor();
    const std::int64_t x = std::int64_t(cell.x()), y = std::int64_t(cell.y()), z = std::int64_t(cell.z());
    const auto colour = std::uint32_t((x & 1) | (y & 1) << 1 | (z & 1) << 2);
    entries.push_back({colour, particles.body[i], z, y, x, std::uint32_t(i)});
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.block() < b.block(); });

  ColouredBlocks result;
  for (std::size_t k = 0; k < entries.size(); ++k) {
    if (k == 0 || entries[k].block() != entries[k - 1].block()) {
      Range& colour = result.colour[entries[k].colour];
      if (colour.count++ == 0) colour.first = result.start.size();
      result.start.push_back(std::uint32_t(k));
    }
    result.member.push_back(entries[k].particle);
  }
  result.start.push_back(std::uint32_t(entries.size()));
  return result;
}

std::size_t fewest_for_nested_blocks(double support) {
  return std::size_t(20 * BlockGrid<double>::parts_of_nested * narrow_block(support));
}

template <class Real>
BlockGrid<Real> make_block_grid(const Bounds<Real>& bounds, double width, bool nested, std::size_t particles) {
  const auto of_a_colour = [&](Real low, Real high) {
    const double parts = std::floor((double(high) - double(low)) / width * (1 + 1e-6)) + 1;
    return std::ceil(std::ceil(parts / (nested ? 4 : 1)) / 2);
  };
  const double x = of_a_colour(bounds.low.x, bounds.high.x), y = of_a_colour(bounds.low.y, bounds.high.y),
               z = of_a_colour(bounds.low.z, bounds.high.z);
  // Particles that are scattered get a number for one in four of them at most.
  const double most = double(particles) / (nested ? 32 * BlockGrid<Real>::parts_of_nested : 32) + 64;
  const bool hashed = x * y * z > most;
  return {bounds.low,
          Real(1 / width),
          nested,
          hashed,
          hashed ? 0 : std::uint32_t(x),
          hashed ? 0 : std::uint32_t(y),
          hashed ? std::bit_floor(std::uint32_t(most)) : std::uint32_t(x * y * z)};
}

template BlockGrid<float> make_block_grid(const Bounds<float>&, double, bool, std::size_t);
template BlockGrid<double> make_block_grid(const Bounds<double>&, double, bool, std::size_t);

}  // namespace ductile
