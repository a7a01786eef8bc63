#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ductile::io {

/// Values of one named quantity, `components` per particle (1, 3 or 9 row-major), in id order.
struct PointData {
  std::string name;
  int components = 1;
  std::variant<std::vector<float>, std::vector<double>, std::vector<std::int32_t>, std::vector<std::int64_t>> values;
  std::string unit = {};  ///< SI; written as VTK's UNITS_LABEL unless empty
};

/// A .vtp of vertices (raw appended, uncompressed) at `positions` (3 components), whole or not at all.
void write_particles(const std::filesystem::path& file, const PointData& positions, std::span<const PointData> data,
                     double time);
/// A .pvd that lists (time, file relative to the .pvd).
void write_collection(const std::filesystem::path& file, std::span<const std::pair<double, std::string>> frames);

/// Point data of a frame as numbers, positions among them under the name `position`.
struct ParticleFrame {
  struct Values {
    std::string name, unit;
    int components = 1;
    std::vector<double> numbers;  ///< `components` for each particle
  };
  std::size_t particles = 0;
  std::vector<Values> fields;

  [[nodiscard]] const Values* find(std::string_view name) const;
};
/// A .vtp of this program. Throws InputError when it is missing or damaged.
[[nodiscard]] ParticleFrame read_particles(const std::filesystem::path& file);
/// The entries of a .pvd of this program. Throws InputError when it is missing or damaged.
[[nodiscard]] std::vector<std::pair<double, std::string>> read_collection(const std::filesystem::path& file);

}  // namespace ductile::io
