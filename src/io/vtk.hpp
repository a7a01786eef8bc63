#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ductile::io {

/// Values of one named quantity, `components` per particle (1, 3 or 9 row-major), in id order.
struct PointData {
  std::string name;
  int components = 1;
  std::variant<std::vector<float>, std::vector<double>, std::vector<std::int32_t>, std::vector<std::int64_t>> values;
};

/// A .vtp of vertices (raw appended, uncompressed) at `positions` (3 components), whole or not at all.
void write_particles(const std::filesystem::path& file, const PointData& positions, std::span<const PointData> data,
                     double time);
/// A .pvd that lists (time, file relative to the .pvd).
void write_collection(const std::filesystem::path& file, std::span<const std::pair<double, std::string>> frames);

}  // namespace ductile::io
