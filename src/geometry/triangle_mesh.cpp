#include "geometry/triangle_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "common/error.hpp"
#include "geometry/mesh_files.hpp"
#include "io/files.hpp"

namespace ductile::geometry {
namespace {

using Eigen::Vector3d;
using Triangle = std::array<std::uint32_t, 3>;

constexpr std::uint32_t none = 0xffffffff;
/// Metres; keeps squares and volumes far from overflow.
constexpr double largest_coordinate = 1e30;
/// Height of a triangle per length, below which its normal is taken for noise.
constexpr double thinnest = 1e-10;

[[noreturn]] void refuse(const std::string& name, std::string_view what, std::string_view remedy) {
  throw InputError(fmt::format("{}: {}\n    {}", name, what, remedy));
}

std::size_t next_corner(std::size_t corner) { return corner == 2 ? 0 : corner + 1; }

/// The edge from corner `corner` of a triangle, ends in ascending order so that both sides of an edge compare equal.
struct HalfEdge {
  std::uint32_t low, high, triangle;
  std::uint8_t corner;
  bool ascending;

  [[nodiscard]] bool same_edge(const HalfEdge& other) const { return low == other.low && high == other.high; }
};

std::vector<HalfEdge> sorted_half_edges(std::span<const Triangle> triangles) {
  std::vector<HalfEdge> edges;
  edges.reserve(3 * triangles.size());
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      const auto a = triangles[t][k], b = triangles[t][next_corner(k)];
      edges.push_back(
          {std::min(a, b), std::max(a, b), static_cast<std::uint32_t>(t), static_cast<std::uint8_t>(k), a < b});
    }
  std::sort(edges.begin(), edges.end(), [](const HalfEdge& a, const HalfEdge& b) {
    return std::tie(a.low, a.high, a.triangle) < std::tie(b.low, b.high, b.triangle);
  });
  return edges;
}

/// For each vertex the first one (in the order of the file) at exactly the same place.
std::vector<std::uint32_t> first_equal_vertex(std::span<const Vector3d> vertices) {
  std::vector<std::uint32_t> order(vertices.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto key = [&](std::uint32_t v) { return std::tuple(vertices[v].x(), vertices[v].y(), vertices[v].z(), v); };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  std::vector<std::uint32_t> first(vertices.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const bool repeats = k > 0 && vertices[order[k]] == vertices[order[k - 1]];
    first[order[k]] = repeats ? first[order[k - 1]] : order[k];
  }
  return first;
}

std::string lower_case_ending(const std::filesystem::path& file) {
  auto ending = file.extension().string();
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return ending;
}

std::string read_mesh_bytes(const std::filesystem::path& file) {
  const auto name = file.string();
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) refuse(name, "the mesh file does not exist", "check the path");
  if (!std::filesystem::is_regular_file(status)) refuse(name, "this is not a file", "give the path of a mesh file");
  const auto size = std::filesystem::file_size(file, error);
  if (!error && size >= 0xffffffffu) refuse(name, "the mesh file is larger than 4 GiB", "simplify the mesh");
  auto bytes = io::read_whole(file);
  if (bytes.empty()) refuse(name, "the mesh file is empty", "export it again");
  return bytes;
}

}  // namespace

TriangleSoup read_triangles(const std::filesystem::path& file, double scale) {
  const auto name = file.string();
  if (!(scale > 0) || !std::isfinite(scale))
    refuse(name, fmt::format("a mesh cannot be scaled by {}", scale), "the scale must be positive");
  const auto ending = lower_case_ending(file);
  auto* const reader = ending == ".obj"   ? &read_obj
                       : ending == ".stl" ? &read_stl
                       : ending == ".ply" ? &read_ply
                       : ending == ".off" ? &read_off
                                          : nullptr;
  if (reader == nullptr)
    refuse(name, fmt::format("'{}' is not the ending of a known mesh format", ending),
           "expected .obj, .stl, .ply or .off");
  auto soup = reader(read_mesh_bytes(file), name);
  for (auto& vertex : soup.vertices) vertex *= scale;
  return soup;
}

TriangleMesh TriangleMesh::read(const std::filesystem::path& file, double scale) {
  auto soup = read_triangles(file, scale);
  return TriangleMesh(std::move(soup.vertices), std::move(soup.triangles), file.string());
}

TriangleMesh::TriangleMesh(std::vector<Vector3d> vertices, std::vector<Triangle> triangles, const std::string& name)
    : vertices_(std::move(vertices)), triangles_(std::move(triangles)) {
  if (vertices_.size() >= none || triangles_.size() >= none)
    refuse(name, "the mesh has more than 2^32 vertices or triangles", "simplify it");
  for (const auto& triangle : triangles_)
    for (const auto vertex : triangle)
      if (vertex >= vertices_.size())
        refuse(name, fmt::format("a triangle uses vertex {}, but there are {}", vertex, vertices_.size()),
               "indices count from 0");
  weld(name);
  connect(name);
  orient_outward(name);
  compute_face_normals();
  compute_vertex_normals();
  tree_ = TriangleTree(vertices_, triangles_, face_normals_);
  check_parts(name);
}

/// Merges vertices at exactly the same place (STL repeats them for each triangle), drops triangles that lose an edge by
/// it, and vertices that no triangle uses.
void TriangleMesh::weld(const std::string& name) {
  for (const auto& vertex : vertices_)
    if (!(vertex.cwiseAbs().maxCoeff() <= largest_coordinate) || !vertex.allFinite())
      refuse(name, fmt::format("a vertex lies at ({}, {}, {})", vertex.x(), vertex.y(), vertex.z()),
             fmt::format("coordinates must be finite and at most {:g} m: correct the mesh or its scale",
                         largest_coordinate));
  const auto first = first_equal_vertex(vertices_);
  for (auto& triangle : triangles_)
    for (auto& vertex : triangle) vertex = first[vertex];
  std::erase_if(triangles_, [](const Triangle& t) { return t[0] == t[1] || t[1] == t[2] || t[2] == t[0]; });
  if (triangles_.empty()) refuse(name, "the mesh has no triangle", "export a closed surface");

  std::vector<std::uint32_t> renamed(vertices_.size(), none);
  for (const auto& triangle : triangles_)
    for (const auto vertex : triangle) renamed[vertex] = 0;
  std::uint32_t count = 0;
  for (std::size_t v = 0; v < vertices_.size(); ++v) {
    if (renamed[v] == none) continue;
    vertices_[count] = vertices_[v];
    renamed[v] = count++;
  }
  vertices_.resize(count);
  vertices_.shrink_to_fit();
  for (auto& triangle : triangles_)
    for (auto& vertex : triangle) vertex = renamed[vertex];
  for (const auto& vertex : vertices_) bounds_.extend(vertex);
}

/// Finds the neighbour of every triangle; each edge must have exactly two triangles that run along it in opposite ways.
void TriangleMesh::connect(const std::string& name) {
  const auto edges = sorted_half_edges(triangles_);
  struct Fault {
    std::size_t count = 0, first = 0;
    void note(std::size_t edge) { first = count++ == 0 ? edge : first; }
  } open, shared, twisted;
  std::size_t count = 0;
  neighbors_.assign(triangles_.size(), Triangle{none, none, none});
  for (std::size_t begin = 0, end = 0; begin < edges.size(); begin = end) {
    while (end < edges.size() && edges[end].same_edge(edges[begin])) ++end;
    ++count;
    const auto& a = edges[begin];
    if (end - begin == 1) open.note(begin);
    if (end - begin > 2) shared.note(begin);
    if (end - begin != 2) continue;
    const auto& b = edges[begin + 1];
    if (a.ascending == b.ascending) twisted.note(begin);
    neighbors_[a.triangle][a.corner] = b.triangle;
    neighbors_[b.triangle][b.corner] = a.triangle;
  }
  const auto report = [&](const Fault& fault, std::string_view what, std::string_view remedy) {
    if (fault.count == 0) return;
    const auto& edge = edges[fault.first];
    refuse(name,
           fmt::format("{} of {} edges {}; the first one goes from {} to {}", fault.count, count, what, place(edge.low),
                       place(edge.high)),
           remedy);
  };
  report(open, "belong to one triangle only: the surface has holes",
         "close the holes and merge near vertices in a modelling program");
  report(shared, "belong to more than two triangles", "remove inner walls and separate parts that share an edge");
  report(twisted, "lie between triangles of opposite orientation",
         "let a modelling program recalculate the normals so that all point outside");
}

/// Relative to the middle of the mesh, so that a mesh far from the origin loses no digits.
double TriangleMesh::signed_volume(std::uint32_t triangle) const {
  const Vector3d middle = bounds_.center();
  const auto& [a, b, c] = triangles_[triangle];
  return (vertices_[a] - middle).cross(vertices_[b] - middle).dot(vertices_[c] - middle) / 6;
}

double TriangleMesh::area(std::uint32_t triangle) const {
  const auto& [a, b, c] = triangles_[triangle];
  return (vertices_[b] - vertices_[a]).cross(vertices_[c] - vertices_[a]).norm() / 2;
}

/// The rounding errors of a sum of signed volumes stay below this bound, the volume of a real body far above.
bool TriangleMesh::encloses_volume(double volume, double surface) const {
  return std::abs(volume) > 1e-13 * surface * bounds_.diagonal().norm();
}

void TriangleMesh::orient_outward(const std::string& name) {
  double surface = 0;
  for (std::uint32_t t = 0; t < triangles_.size(); ++t) {
    volume_ += signed_volume(t);
    surface += area(t);
  }
  if (!encloses_volume(volume_, surface))
    refuse(name, "the mesh encloses no volume", "export a closed surface of a solid body");
  if (volume_ > 0) return;
  volume_ = -volume_;
  for (auto& triangle : triangles_) std::swap(triangle[1], triangle[2]);
  for (auto& across : neighbors_) std::swap(across[0], across[2]);
}

void TriangleMesh::compute_face_normals() {
  face_normals_.reserve(triangles_.size());
  for (const auto& [a, b, c] : triangles_) {
    const Vector3d ab = vertices_[b] - vertices_[a], ac = vertices_[c] - vertices_[a], bc = vertices_[c] - vertices_[b];
    const double longest2 = std::max({ab.squaredNorm(), ac.squaredNorm(), bc.squaredNorm()});
    const Vector3d normal = ab.cross(ac);
    const double length = normal.norm();
    face_normals_.push_back(length > thinnest * longest2 ? Vector3d(normal / length) : Vector3d(Vector3d::Zero()));
  }
}

/// Sums of the normals around a vertex, weighted by the angle there. They stay zero where they do not tell inside from
/// outside: at thin triangles, and where two sheets touch in a vertex (its triangles then form more than one ring).
void TriangleMesh::compute_vertex_normals() {
  vertex_normals_.assign(vertices_.size(), Vector3d::Zero());
  std::vector<std::uint32_t> valence(vertices_.size(), 0), start(vertices_.size(), none);
  std::vector<bool> thin(vertices_.size(), false);
  for (std::uint32_t t = 0; t < triangles_.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      const auto v = triangles_[t][k];
      const Vector3d u = vertices_[triangles_[t][next_corner(k)]] - vertices_[v];
      const Vector3d w = vertices_[triangles_[t][next_corner(next_corner(k))]] - vertices_[v];
      vertex_normals_[v] += std::atan2(u.cross(w).norm(), u.dot(w)) * face_normals_[t];
      thin[v] = thin[v] || face_normals_[t].isZero(0.0);
      ++valence[v];
      start[v] = t;
    }
  for (std::uint32_t v = 0; v < vertices_.size(); ++v) {
    std::uint32_t ring = 0, t = start[v];
    do {
      const auto corner =
          static_cast<std::size_t>(std::find(triangles_[t].begin(), triangles_[t].end(), v) - triangles_[t].begin());
      t = neighbors_[t][corner];
      ++ring;
    } while (t != start[v]);
    if (thin[v] || ring != valence[v]) vertex_normals_[v].setZero();
  }
}

std::vector<TriangleMesh::Part> TriangleMesh::find_parts(std::vector<std::uint32_t>& part_of) const {
  constexpr std::size_t samples = 16;
  std::vector<Part> parts;
  std::vector<std::uint32_t> members;
  part_of.assign(triangles_.size(), none);
  for (std::uint32_t seed = 0; seed < triangles_.size(); ++seed) {
    if (part_of[seed] != none) continue;
    const auto number = static_cast<std::uint32_t>(parts.size());
    Part part;
    members.assign(1, seed);
    part_of[seed] = number;
    for (std::size_t k = 0; k < members.size(); ++k) {
      part.volume += signed_volume(members[k]);
      part.surface += area(members[k]);
      for (const auto neighbor : neighbors_[members[k]]) {
        if (part_of[neighbor] != none) continue;
        part_of[neighbor] = number;
        members.push_back(neighbor);
      }
    }
    for (std::size_t k = 0; k < samples; ++k) part.samples.push_back(members[k * members.size() / samples]);
    parts.push_back(std::move(part));
  }
  return parts;
}

/// Parts must lie side by side, or be cavities of another part: only then is the side of the nearest triangle the side
/// of the body. A part is tested at the middle of several triangles, since it may touch another part somewhere.
void TriangleMesh::check_parts(const std::string& name) const {
  std::vector<std::uint32_t> part_of;
  const auto parts = find_parts(part_of);
  if (parts.size() == 1) return;
  for (std::uint32_t p = 0; p < parts.size(); ++p) {
    const auto& part = parts[p];
    const auto refuse_part = [&](std::string_view what, std::string_view remedy) {
      refuse(name, fmt::format("the part of the surface at {} {}", place(triangles_[part.samples[0]][0]), what),
             remedy);
    };
    if (!encloses_volume(part.volume, part.surface)) refuse_part("encloses no volume", "remove it");
    const int enclosures = part.volume > 0 ? 0 : 1;
    const bool fits = std::any_of(part.samples.begin(), part.samples.end(), [&](std::uint32_t t) {
      const auto& [a, b, c] = triangles_[t];
      return tree_.winding_number((vertices_[a] + vertices_[b] + vertices_[c]) / 3, part_of, p) == enclosures;
    });
    if (fits) continue;
    if (part.volume < 0)
      refuse_part("is inside out", "let a modelling program recalculate the normals so that all point outside");
    refuse_part("lies inside another part",
                "unite the parts in a modelling program, or turn the inner one's normals inward for a cavity");
  }
}

std::string TriangleMesh::place(std::uint32_t vertex) const {
  const auto& p = vertices_[vertex];
  return fmt::format("({:.6g}, {:.6g}, {:.6g})", p.x(), p.y(), p.z());
}

/// Sum of the normals of the faces that meet in the feature; zero if one of them has none.
Vector3d TriangleMesh::pseudo_normal(const TriangleTree::Nearest& nearest) const {
  const auto corner = static_cast<std::size_t>(nearest.corner);
  const Vector3d& face = face_normals_[nearest.triangle];
  if (nearest.feature == TriangleTree::Feature::face) return face;
  if (nearest.feature == TriangleTree::Feature::vertex) return vertex_normals_[triangles_[nearest.triangle][corner]];
  const Vector3d& beyond = face_normals_[neighbors_[nearest.triangle][corner]];
  if (face.isZero(0.0) || beyond.isZero(0.0)) return Vector3d::Zero();
  return face + beyond;
}

double TriangleMesh::signed_distance(const Vector3d& point) const {
  // So far away, or not a number, that squares are useless and the size of the mesh does not matter.
  if (!(point.cwiseAbs().maxCoeff() < 1e3 * largest_coordinate)) return (point - bounds_.center()).stableNorm();
  const auto nearest = tree_.nearest(point);
  const double distance = nearest.offset.norm();
  const Vector3d normal = pseudo_normal(nearest);
  const double outward = normal.dot(nearest.offset);
  // Both theorem and rounding leave a clear majority in normal surfaces; this is where they do not.
  if (!(std::abs(outward) > 1e-3 * normal.norm() * distance))
    return tree_.winding_number(point) > 0 ? -distance : distance;
  return outward < 0 ? -distance : distance;
}

std::vector<TriangleMesh::ColumnCrossing> TriangleMesh::column_crossings(std::span<const double> x,
                                                                         std::span<const double> y) const {
  // Far more than the grid of the crossings (2^-48 of the size), so that no triangle misses a line.
  const double margin = 0x1p-40 * bounds_.sizes().maxCoeff();
  const auto range = [margin](std::span<const double> lines, double a, double b, double c) {
    const auto [low, high] = std::minmax({a, b, c});
    const auto begin = std::lower_bound(lines.begin(), lines.end(), low - margin);
    const auto end = std::upper_bound(begin, lines.end(), high + margin);
    return std::pair(static_cast<std::uint32_t>(begin - lines.begin()),
                     static_cast<std::uint32_t>(end - lines.begin()));
  };
  std::vector<ColumnCrossing> found;
  VerticalCrossing crossing{};
  for (const auto& [a, b, c] : triangles_) {
    const std::array<Vector3d, 3> corners{vertices_[a], vertices_[b], vertices_[c]};
    const auto [i_begin, i_end] = range(x, corners[0].x(), corners[1].x(), corners[2].x());
    const auto [j_begin, j_end] = range(y, corners[0].y(), corners[1].y(), corners[2].y());
    for (auto i = i_begin; i < i_end; ++i)
      for (auto j = j_begin; j < j_end; ++j)
        if (tree_.crossings().cross(corners, tree_.crossings().snap(x[i], y[j]), crossing))
          found.push_back({i, j, crossing.z, crossing.sign});
  }
  std::sort(found.begin(), found.end(), [](const ColumnCrossing& a, const ColumnCrossing& b) {
    return std::tie(a.i, a.j, a.z, a.sign) < std::tie(b.i, b.j, b.z, b.sign);
  });
  return found;
}

}  // namespace ductile::geometry
