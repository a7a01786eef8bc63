#include "geometry/patch.hpp"

#include <fmt/format.h>
#include <Eigen/Geometry>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "common/error.hpp"
#include "geometry/mesh_files.hpp"

namespace ductile::geometry {

Patch Patch::rectangle(double width, double height) {
  const double x = width / 2, y = height / 2;
  Patch patch;
  patch.vertices = {{-x, -y, 0}, {x, -y, 0}, {x, y, 0}, {-x, y, 0}};
  patch.triangles = {{0, 1, 2}, {0, 2, 3}};
  patch.connect();
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
  patch.connect();
  return patch;
}

void Patch::place(const Eigen::Matrix3d& rotation, const Eigen::Vector3d& position) {
  for (auto& vertex : vertices) vertex = rotation * vertex + position;
}

/// Winds the triangles of every connected part the same way, those in one plane to the same side, and finds the rim.
void Patch::connect() {
  using Edge = std::array<std::uint32_t, 2>;
  const auto edge = [&](std::size_t t, std::size_t k) { return Edge{triangles[t][k], triangles[t][(k + 1) % 3]}; };
  const auto key = [](const Edge& e) { return Edge{std::min(e[0], e[1]), std::max(e[0], e[1])}; };
  std::map<Edge, std::vector<std::uint32_t>> users;
  for (std::uint32_t t = 0; t < triangles.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) users[key(edge(t, k))].push_back(t);

  std::vector<char> wound(triangles.size());
  const auto turn = [&](std::uint32_t t) { std::swap(triangles[t][1], triangles[t][2]); };
  /// Makes the other triangle of an edge go along it the other way; returns it if it had not been wound yet.
  const auto wind_across = [&](std::uint32_t t, const Edge& shared) -> std::optional<std::uint32_t> {
    const auto& both = users.at(key(shared));
    if (both.size() != 2) return {};
    const std::uint32_t other = both[0] == t ? both[1] : both[0];
    if (wound[other] != 0) return {};
    wound[other] = 1;
    if (edge(other, 0) == shared || edge(other, 1) == shared || edge(other, 2) == shared) turn(other);
    return other;
  };
  for (std::uint32_t seed = 0; seed < triangles.size(); ++seed) {
    if (wound[seed] != 0) continue;
    wound[seed] = 1;
    const auto& first = triangles[seed];
    const Eigen::Vector3d corner = vertices[first[0]];
    const Eigen::Vector3d normal = (vertices[first[1]] - corner).cross(vertices[first[2]] - corner);
    if (normal.dot(Eigen::Vector3d(1, 0.6180339887, 0.3819660113)) < 0) turn(seed);
    std::vector<std::uint32_t> part{seed};
    for (std::size_t done = 0; done < part.size(); ++done)
      for (std::size_t k = 0; k < 3; ++k)
        if (const auto next = wind_across(part[done], edge(part[done], k))) part.push_back(*next);
  }
  for (std::uint32_t t = 0; t < triangles.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k)
      if (const Edge e = edge(t, k); users.at(key(e)).size() == 1) rim.push_back({e[0], e[1], t});
}

}  // namespace ductile::geometry
