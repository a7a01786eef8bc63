#include "geometry/patch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "common/error.hpp"
#include "geometry/mesh_files.hpp"

namespace ductile::geometry {

Patch Patch::rectangle(double width, double height) {
  const double x = width / 2, y = height / 2;
  Patch patch;
  patch.vertices = {{-x, -y, 0}, {x, -y, 0}, {x, y, 0}, {-x, y, 0}};
  patch.triangles = {{0, 1, 2}, {0, 2, 3}};
  patch.find_rim();
  return patch;
}

Patch Patch::read(const std::filesystem::path& file, double scale) {
  constexpr std::size_t most = 10000;
  auto soup = read_triangles(file, scale);
  if (soup.triangles.empty() || soup.triangles.size() > most)
    throw InputError(fmt::format("{}: has {} triangles\n    a cutting surface has 1 to {}", file.string(),
                                 soup.triangles.size(), most));
  // Files repeat vertices: corners at the same place are one.
  std::map<std::tuple<double, double, double>, std::uint32_t> known;
  Patch patch;
  const auto vertex = [&](std::uint32_t v) {
    const auto& p = soup.vertices[v];
    const auto [place, fresh] =
        known.try_emplace(std::tuple(p.x(), p.y(), p.z()), static_cast<std::uint32_t>(patch.vertices.size()));
    if (fresh) patch.vertices.push_back(p);
    return place->second;
  };
  for (const auto& t : soup.triangles) patch.triangles.push_back({vertex(t[0]), vertex(t[1]), vertex(t[2])});
  patch.find_rim();
  return patch;
}

void Patch::place(const Eigen::Matrix3d& rotation, const Eigen::Vector3d& position) {
  for (auto& vertex : vertices) vertex = rotation * vertex + position;
}

void Patch::find_rim() {
  std::map<std::array<std::uint32_t, 2>, int> uses;
  for (const auto& t : triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const auto a = t[k], b = t[(k + 1) % 3];
      ++uses[{std::min(a, b), std::max(a, b)}];
    }
  for (const auto& [edge, count] : uses)
    if (count == 1) rim.push_back(edge);
}

}  // namespace ductile::geometry
