#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <numbers>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "geometry/sampling.hpp"
#include "geometry/shape.hpp"
#include "geometry/triangle_mesh.hpp"

namespace ductile::geometry {
namespace {

using Eigen::Vector3d;
using std::numbers::pi;
using Polygon = std::vector<std::uint32_t>;
using Triangles = std::vector<std::array<std::uint32_t, 3>>;

/// A surface of polygons, before any reader or check has seen it.
struct Surface {
  std::vector<Vector3d> vertices;
  std::vector<Polygon> faces;

  [[nodiscard]] Triangles triangles() const {
    Triangles result;
    for (const auto& face : faces)
      for (std::size_t k = 2; k < face.size(); ++k) result.push_back({face[0], face[k - 1], face[k]});
    return result;
  }
  [[nodiscard]] TriangleMesh mesh() const { return {vertices, triangles(), "surface"}; }
  [[nodiscard]] Surface moved(const Vector3d& by) const {
    auto copy = *this;
    for (auto& v : copy.vertices) v += by;
    return copy;
  }
  [[nodiscard]] Surface scaled(double by) const {
    auto copy = *this;
    for (auto& v : copy.vertices) v *= by;
    return copy;
  }
  [[nodiscard]] Surface reversed() const {
    auto copy = *this;
    for (auto& face : copy.faces) std::reverse(face.begin(), face.end());
    return copy;
  }
  [[nodiscard]] Surface with(const Surface& other) const {
    auto copy = *this;
    for (auto face : other.faces) {
      for (auto& v : face) v += static_cast<std::uint32_t>(vertices.size());
      copy.faces.push_back(face);
    }
    copy.vertices.insert(copy.vertices.end(), other.vertices.begin(), other.vertices.end());
    return copy;
  }
};

/// Quads on a torus; `radius` to the middle of the tube.
Surface torus(double radius, double tube, std::uint32_t around, std::uint32_t across) {
  Surface surface;
  for (std::uint32_t i = 0; i < around; ++i)
    for (std::uint32_t j = 0; j < across; ++j) {
      const double u = 2 * pi * i / around, v = 2 * pi * j / across, r = radius + tube * std::cos(v);
      surface.vertices.emplace_back(r * std::cos(u), r * std::sin(u), tube * std::sin(v));
      const auto index = [&](std::uint32_t a, std::uint32_t b) { return a % around * across + b % across; };
      surface.faces.push_back({index(i, j), index(i + 1, j), index(i + 1, j + 1), index(i, j + 1)});
    }
  return surface;
}

/// Quads and, around the poles, triangles on a sphere.
Surface sphere(double radius, std::uint32_t around, std::uint32_t rings) {
  Surface surface;
  surface.vertices.emplace_back(0, 0, radius);
  surface.vertices.emplace_back(0, 0, -radius);
  for (std::uint32_t i = 1; i < rings; ++i)
    for (std::uint32_t j = 0; j < around; ++j) {
      const double polar = pi * i / rings, angle = 2 * pi * j / around;
      surface.vertices.emplace_back(radius * std::sin(polar) * std::cos(angle),
                                    radius * std::sin(polar) * std::sin(angle), radius * std::cos(polar));
    }
  const auto index = [&](std::uint32_t i, std::uint32_t j) { return 2 + (i - 1) * around + j % around; };
  for (std::uint32_t j = 0; j < around; ++j) {
    surface.faces.push_back({0, index(1, j), index(1, j + 1)});
    for (std::uint32_t i = 1; i + 1 < rings; ++i)
      surface.faces.push_back({index(i, j), index(i + 1, j), index(i + 1, j + 1), index(i, j + 1)});
    surface.faces.push_back({1, index(rings - 1, j + 1), index(rings - 1, j)});
  }
  return surface;
}

Surface box(const Vector3d& size) {
  Surface surface;
  for (int corner = 0; corner < 8; ++corner)
    surface.vertices.emplace_back(size.x() * ((corner & 1) - 0.5), size.y() * ((corner >> 1 & 1) - 0.5),
                                  size.z() * ((corner >> 2 & 1) - 0.5));
  surface.faces = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  return surface;
}

/// Outline in x, y (counter-clockwise) pulled up by `height`; the lids are fans around outline[0].
Surface prism(const std::vector<Eigen::Vector2d>& outline, double height) {
  Surface surface;
  const auto n = static_cast<std::uint32_t>(outline.size());
  for (double z : {0.0, height})
    for (const auto& p : outline) surface.vertices.emplace_back(p.x(), p.y(), z);
  Polygon top, bottom;
  for (std::uint32_t k = 0; k < n; ++k) {
    surface.faces.push_back({k, (k + 1) % n, n + (k + 1) % n, n + k});
    top.push_back(n + k);
    bottom.push_back((n - k) % n);
  }
  surface.faces.push_back(top);
  surface.faces.push_back(bottom);
  return surface;
}

Vector3d random_point(std::mt19937_64& engine, double extent) {
  std::uniform_real_distribution<double> uniform(-extent, extent);
  const double x = uniform(engine), y = uniform(engine), z = uniform(engine);
  return {x, y, z};
}

/// Distance to a triangle by another road than the mesh: bisection of the squared distance, which is convex, over both
/// barycentric coordinates (golden section within golden section).
double triangle_distance(const Vector3d& a, const Vector3d& b, const Vector3d& c, const Vector3d& p) {
  const auto minimum = [](const std::function<double(double)>& f) {
    double low = 0, high = 1;
    for (int k = 0; k < 40; ++k) {
      const double left = low + 0.382 * (high - low), right = low + 0.618 * (high - low);
      (f(left) < f(right) ? high : low) = f(left) < f(right) ? right : left;
    }
    return std::min({f(low), f(0.0), f(1.0)});
  };
  return std::sqrt(minimum([&](double s) {
    const Vector3d from = a + s * (b - a), to = a + s * (c - a);
    return minimum([&](double t) { return (from + t * (to - from) - p).squaredNorm(); });
  }));
}

/// Winding number as the sum of solid angles (Van Oosterom & Strackee 1983), over 4 pi.
double solid_angle_winding(const TriangleMesh& mesh, const Vector3d& p) {
  double sum = 0;
  for (const auto& [i, j, k] : mesh.triangles()) {
    const Vector3d a = mesh.vertices()[i] - p, b = mesh.vertices()[j] - p, c = mesh.vertices()[k] - p;
    sum += 2 * std::atan2(a.dot(b.cross(c)), a.norm() * b.norm() * c.norm() + a.dot(b) * c.norm() +
                                                 b.dot(c) * a.norm() + c.dot(a) * b.norm());
  }
  return sum / (4 * pi);
}

/// Files in a folder of their own that goes away with the test.
class MeshFile : public testing::Test {
 public:
  MeshFile() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("ductile_mesh_" + std::string(test->name()) + "_" + std::to_string(std::random_device{}()));
    std::filesystem::create_directories(folder_);
  }
  ~MeshFile() override { std::filesystem::remove_all(folder_); }

 protected:
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
  /// The error of reading these bytes; empty if they are accepted.
  std::string refusal(const std::string& name, const std::string& bytes, double scale = 1) const {
    return refusal(write(name, bytes), scale);
  }
  static std::string refusal(const std::filesystem::path& file, double scale = 1) {
    try {
      static_cast<void>(TriangleMesh::read(file, scale));
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  }

  std::filesystem::path folder_;
};

std::string obj(const Surface& surface) {
  std::ostringstream out;
  out.precision(17);
  out << "# comment\nmtllib none.mtl\no thing\r\n";
  for (const auto& v : surface.vertices) out << "v " << v.x() << ' ' << v.y() << '\t' << v.z() << "\r\n";
  out << "vn 0 0 1\nvt 0 0\ns off\n";
  for (std::size_t f = 0; f < surface.faces.size(); ++f) {
    out << "f";
    for (const auto v : surface.faces[f]) {
      // All the ways to write a corner, one per face.
      if (f % 4 == 0) out << ' ' << v + 1;
      if (f % 4 == 1) out << ' ' << v + 1 << "//1 \\\n";
      if (f % 4 == 2) out << ' ' << v + 1 << "/1/1";
      if (f % 4 == 3) out << ' ' << static_cast<long>(v) - static_cast<long>(surface.vertices.size()) << "/1";
    }
    out << " # face\n";
  }
  return out.str();
}

std::string off(const Surface& surface) {
  std::ostringstream out;
  out.precision(17);
  out << "COFF # with colours\n\n# comment\n" << surface.vertices.size() << ' ' << surface.faces.size() << " 0\n";
  for (const auto& v : surface.vertices) out << v.x() << ' ' << v.y() << ' ' << v.z() << " 255 0 0 255\n";
  for (const auto& face : surface.faces) {
    out << face.size();
    for (const auto v : face) out << ' ' << v;
    out << " 0.5 0.5 0.5\n";
  }
  return out.str();
}

std::string text_stl(const Surface& surface) {
  std::ostringstream out;
  out.precision(17);
  out << "solid with a name\n";
  for (const auto& triangle : surface.triangles()) {
    out << " facet normal nan 0 0\n  OUTER LOOP\n";
    for (const auto v : triangle) out << "   vertex " << surface.vertices[v].transpose() << "\n";
    out << "  endloop\n endfacet\n";
  }
  out << "endsolid with a name\n";
  return out.str();
}

template <class T>
void put(std::string& bytes, T value, std::endian order = std::endian::little) {
  std::array<char, sizeof(T)> raw;
  std::memcpy(raw.data(), &value, sizeof(T));
  if (order != std::endian::native) std::reverse(raw.begin(), raw.end());
  bytes.append(raw.data(), raw.size());
}

std::string binary_stl(const Surface& surface) {
  std::string bytes = "solid in a binary file, as some programs write it";
  bytes.resize(80, ' ');
  const auto triangles = surface.triangles();
  put(bytes, static_cast<std::uint32_t>(triangles.size()));
  for (const auto& triangle : triangles) {
    for (int k = 0; k < 3; ++k) put(bytes, std::numeric_limits<float>::quiet_NaN());
    for (const auto v : triangle)
      for (int axis = 0; axis < 3; ++axis) put(bytes, static_cast<float>(surface.vertices[v][axis]));
    put(bytes, std::uint16_t{7});
  }
  return bytes;
}

std::string text_ply(const Surface& surface) {
  std::ostringstream out;
  out.precision(17);
  out << "ply\r\nformat ascii 1.0\r\ncomment made by a test\r\nelement vertex " << surface.vertices.size()
      << "\r\nproperty double z\r\nproperty list uchar float weights\r\nproperty double x\r\nproperty float64 y\r\n"
      << "element edge 1\r\nproperty int a\r\nelement face " << surface.faces.size()
      << "\r\nproperty uchar red\r\nproperty list uint8 int32 vertex_index\r\nend_header\r\n";
  for (const auto& v : surface.vertices) out << v.z() << " 2 nan 0.5 " << v.x() << ' ' << v.y() << "\r\n";
  out << "-3\r\n";
  for (const auto& face : surface.faces) {
    out << "200 " << face.size();
    for (const auto v : face) out << ' ' << v;
    out << "\r\n";
  }
  return out.str();
}

/// Faces before vertices, extra properties, and index lists of the given integer types.
template <class Count, class Index>
std::string binary_ply(const Surface& surface, std::endian order, const std::string& types) {
  std::ostringstream out;
  out << "ply\nformat binary_" << (order == std::endian::big ? "big" : "little") << "_endian 1.0\nelement face "
      << surface.faces.size() << "\nproperty short flag\nproperty list " << types << " vertex_indices\nelement vertex "
      << surface.vertices.size()
      << "\nproperty uchar red\nproperty double y\nproperty double x\nproperty list ushort short marks\nproperty "
         "double "
         "z\nend_header\n";
  std::string bytes = out.str();
  for (const auto& face : surface.faces) {
    put(bytes, std::int16_t{-1}, order);
    put(bytes, static_cast<Count>(face.size()), order);
    for (const auto v : face) put(bytes, static_cast<Index>(v), order);
  }
  for (const auto& v : surface.vertices) {
    put(bytes, std::uint8_t{10}, order);
    put(bytes, v.y(), order);
    put(bytes, v.x(), order);
    put(bytes, std::uint16_t{2}, order);
    put(bytes, std::int32_t{0x01020304}, order);
    put(bytes, v.z(), order);
  }
  return bytes;
}

TEST_F(MeshFile, EveryFormatGivesTheSameSurface) {
  const auto surface = torus(0.7, 0.25, 20, 12);  // 240 vertices: the indices fit a byte
  const auto expected = surface.mesh();
  using std::endian;
  const std::vector<std::pair<std::string, std::string>> files{
      {"a.obj", obj(surface)},
      {"b.OFF", off(surface)},
      {"c.stl", text_stl(surface)},
      {"d.STL", binary_stl(surface)},
      {"e.ply", text_ply(surface)},
      {"f.ply", binary_ply<std::uint8_t, std::int32_t>(surface, endian::little, "uchar int")},
      {"g.ply", binary_ply<std::uint8_t, std::int32_t>(surface, endian::big, "uint8 int32")},
      {"h.ply", binary_ply<std::int32_t, std::uint8_t>(surface, endian::big, "int uchar")},
      {"i.ply", binary_ply<std::uint16_t, std::int16_t>(surface, endian::little, "ushort short")},
      {"j.ply", binary_ply<std::int8_t, std::uint32_t>(surface, endian::little, "char uint32")}};
  for (const auto& [name, bytes] : files) {
    SCOPED_TRACE(name);
    const auto mesh = TriangleMesh::read(write(name, bytes), 2.0);
    ASSERT_EQ(mesh.vertices().size(), 240u);
    ASSERT_EQ(mesh.triangles().size(), 480u);
    // Binary STL stores single precision.
    const double tolerance = name == "d.STL" ? 1e-6 : 1e-14;
    EXPECT_NEAR(mesh.volume(), 8 * expected.volume(), 8 * tolerance);
    std::mt19937_64 engine(1);
    for (int trial = 0; trial < 100; ++trial) {
      const Vector3d p = random_point(engine, 1.2);
      EXPECT_NEAR(mesh.signed_distance(2 * p), 2 * expected.signed_distance(p), 2 * tolerance);
    }
  }
}

TEST_F(MeshFile, OffNeedsNoKeywordAndTakesCountsBesideIt) {
  const std::string body = "4 4 6\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n";
  for (const std::string header : {"", "OFF\n", "OFF "})
    EXPECT_NEAR(TriangleMesh::read(write("t.off", header + body), 1).volume(), 1.0 / 6, 1e-15) << header;
}

/// Facets of a curved surface lie below it by at most e^2/(8 R), e the longest edge and R the radius of curvature.
TEST(TriangleMesh, AgreesWithTheAnalyticShapeToTheFacetError) {
  struct Curved {
    Surface surface;
    Shape shape;
    double radius, edge;
  };
  const double tube_edge = 2 * pi * 0.25 / 40, ring_edge = 2 * pi * 0.95 / 80;
  for (const auto& [surface, shape, radius, edge] :
       {Curved{sphere(0.8, 60, 30), {Sphere{0.8}}, 0.8, std::sqrt(2.0) * 2 * pi * 0.8 / 60},
        Curved{torus(0.7, 0.25, 80, 40), {Torus{0.7, 0.25}}, 0.25, std::hypot(tube_edge, ring_edge)}}) {
    const auto mesh = surface.mesh();
    const double facet_error = edge * edge / (8 * radius);
    std::mt19937_64 engine(2);
    for (int trial = 0; trial < 3000; ++trial) {
      const Vector3d p = random_point(engine, 1.2);
      ASSERT_NEAR(mesh.signed_distance(p), signed_distance(shape, p), facet_error) << p.transpose();
    }
    EXPECT_NEAR(mesh.volume() / volume(shape), 1.0, 3 * facet_error / radius);
    EXPECT_LT(mesh.volume(), volume(shape));
  }
}

TEST(TriangleMesh, BoxMeshIsTheAnalyticBox) {
  const Vector3d size(1.0, 0.6, 1.4);
  const auto mesh = box(size).mesh();
  const Shape analytic{Box{size}};
  EXPECT_NEAR(mesh.volume(), size.prod(), 1e-15);
  std::mt19937_64 engine(3);
  for (int trial = 0; trial < 5000; ++trial) {
    const Vector3d p = random_point(engine, 1.5);
    // The same numbers up to rounding: faces, edges and corners are nearest in turn.
    ASSERT_NEAR(mesh.signed_distance(p), signed_distance(analytic, p), 2e-15) << p.transpose();
  }
  for (const auto& corner : mesh.vertices()) {
    EXPECT_EQ(mesh.signed_distance(corner), 0.0);
    EXPECT_NEAR(mesh.signed_distance(3 * corner), 2 * corner.norm(), 1e-15);
  }
  EXPECT_NEAR(mesh.signed_distance(Vector3d(1e40, 0, 0)), 1e40, 1e25);
  EXPECT_TRUE(std::isnan(mesh.signed_distance(Vector3d(std::nan(""), 0, 0))));
}

TEST(TriangleMesh, DistanceIsThatOfTheNearestTriangleOfAll) {
  auto surface = torus(0.7, 0.25, 9, 5);
  std::mt19937_64 engine(4);
  for (auto& v : surface.vertices) v += random_point(engine, 0.05);  // a sharp, irregular surface
  const auto mesh = surface.mesh();
  for (int trial = 0; trial < 20; ++trial) {
    const Vector3d p = random_point(engine, 1.1);
    double nearest = std::numeric_limits<double>::infinity();
    for (const auto& [a, b, c] : mesh.triangles())
      nearest = std::min(nearest, triangle_distance(mesh.vertices()[a], mesh.vertices()[b], mesh.vertices()[c], p));
    // Golden section finds a flat minimum to the root of the rounding unit, its value much better.
    EXPECT_NEAR(std::abs(mesh.signed_distance(p)), nearest, 1e-8) << p.transpose();
  }
}

TEST(TriangleMesh, SignIsThatOfTheSolidAngle) {
  auto surface = torus(0.7, 0.25, 14, 7);
  std::mt19937_64 engine(5);
  for (auto& v : surface.vertices) v += random_point(engine, 0.04);
  const auto mesh = surface.mesh();
  for (int trial = 0; trial < 3000; ++trial) {
    const Vector3d p = random_point(engine, 1.1);
    EXPECT_EQ(mesh.signed_distance(p) < 0, solid_angle_winding(mesh, p) > 0.5) << p.transpose();
  }
}

/// A spike seen from behind: the nearest feature is a sharp edge or tip where single face normals give the wrong side.
TEST(TriangleMesh, SharpEdgesAndTipsHaveTheRightSide) {
  const auto mesh = prism({{0, 0}, {10, -0.01}, {10, 0.01}}, 0.05).mesh();
  std::mt19937_64 engine(6);
  for (int trial = 0; trial < 2000; ++trial) {
    const Vector3d p = random_point(engine, 0.1);
    EXPECT_EQ(mesh.signed_distance(p) < 0, solid_angle_winding(mesh, p) > 0.5) << p.transpose();
  }
  EXPECT_NEAR(mesh.signed_distance({-3, 0, 0.02}), 3.0, 1e-15);
}

/// A box whose upper edge has an extra vertex on one side only, closed by a triangle without area.
TEST(TriangleMesh, TrianglesWithoutAreaCloseTheSurfaceAndDoNoHarm) {
  const Vector3d size(1, 1, 1);
  auto surface = box(size);
  surface.vertices.emplace_back(0.1, 0.5, 0.5);  // on the edge from vertex 6 to vertex 7
  surface.faces[1] = {4, 5, 7, 8, 6};
  surface.faces.push_back({6, 8, 7});
  const auto mesh = surface.mesh();
  EXPECT_EQ(mesh.triangles().size(), 14u);
  EXPECT_NEAR(mesh.volume(), 1.0, 1e-15);
  std::mt19937_64 engine(7);
  for (int trial = 0; trial < 5000; ++trial) {
    const Vector3d p = random_point(engine, 1.0);
    ASSERT_NEAR(mesh.signed_distance(p), signed_distance({Box{size}}, p), 2e-15) << p.transpose();
  }
}

/// The upright edge over outline[0] gets a vertex in its middle that one of its two walls does not use; a triangle
/// without area closes the gap.
Surface with_slit(Surface prism, double height) {
  const auto n = static_cast<std::uint32_t>(prism.vertices.size() / 2), middle = 2 * n;
  prism.vertices.emplace_back(prism.vertices[0] + Vector3d(0, 0, height / 2));
  prism.faces[0] = {0, 1, n + 1, n, middle};
  prism.faces[n - 1] = {n - 1, 0, middle, n, 2 * n - 1};
  return prism;
}

/// Convex and sharp: the normal of one wall alone would give points behind the edge the wrong side. Concave: so would
/// no normal at all.
TEST(TriangleMesh, SlitsInSharpAndConcaveEdgesKeepTheSide) {
  const double height = 0.2;
  const auto wedge = prism({{0, 0}, {10, -0.01}, {10, 0.01}}, height);
  const auto notch = prism({{0, 0}, {1, 1}, {-1, 1}, {-1, -1}, {1, -1}}, height);
  std::mt19937_64 engine(11);
  for (const auto& surface : {wedge, notch}) {
    const auto mesh = surface.mesh(), slit = with_slit(surface, height).mesh();
    ASSERT_EQ(slit.triangles().size(), mesh.triangles().size() + 2);
    for (int trial = 0; trial < 2000; ++trial) {
      const Vector3d p = random_point(engine, 0.1) + Vector3d(0, 0, height / 2);
      ASSERT_NEAR(slit.signed_distance(p), mesh.signed_distance(p), 1e-15) << p.transpose();
      ASSERT_EQ(slit.signed_distance(p) < 0, solid_angle_winding(mesh, p) > 0.5) << p.transpose();
    }
  }
}

TEST(TriangleMesh, PartsThatTouchInAVertexHaveTheRightSide) {
  const auto mesh = box({1, 1, 1}).with(box({1, 1, 1}).moved({1, 1, 1})).mesh();
  EXPECT_EQ(mesh.vertices().size(), 15u);
  const Shape first{Box{}}, second{Box{}, {1, 1, 1}};
  std::mt19937_64 engine(8);
  for (int trial = 0; trial < 5000; ++trial) {
    const Vector3d p = random_point(engine, 1.0) + Vector3d(0.5, 0.5, 0.5);
    ASSERT_NEAR(mesh.signed_distance(p), std::min(signed_distance(first, p), signed_distance(second, p)), 2e-15);
  }
}

TEST(TriangleMesh, CavitiesAreOutside) {
  const auto outer = box({1, 1, 1}), inner = box({0.4, 0.4, 0.4});
  for (const auto& surface : {outer.with(inner.reversed()), outer.reversed().with(inner)}) {
    const auto mesh = surface.mesh();
    EXPECT_NEAR(mesh.volume(), 1 - 0.064, 1e-15);
    EXPECT_NEAR(mesh.signed_distance({0, 0, 0}), 0.2, 1e-15);
    EXPECT_NEAR(mesh.signed_distance({0, 0.25, 0}), -0.05, 1e-15);
    EXPECT_NEAR(mesh.signed_distance({0, 0, 0.7}), 0.2, 1e-15);
  }
}

TEST(TriangleMesh, InsideOutSurfaceIsFlipped) {
  const auto mesh = torus(0.7, 0.25, 20, 12).mesh(), flipped = torus(0.7, 0.25, 20, 12).reversed().mesh();
  EXPECT_NEAR(flipped.volume(), mesh.volume(), 1e-15);
  EXPECT_NEAR(solid_angle_winding(flipped, {0.7, 0, 0}), 1.0, 1e-12);
  std::mt19937_64 engine(9);
  for (int trial = 0; trial < 200; ++trial) {
    const Vector3d p = random_point(engine, 1.1);
    // Other diagonals in the quads, so not exactly the same surface.
    EXPECT_NEAR(flipped.signed_distance(p), mesh.signed_distance(p), 0.02);
  }
}

TEST(TriangleMesh, MeshFarFromTheOriginKeepsItsDigits) {
  const Vector3d far(1e6, -2e6, 3e6);
  const auto mesh = box({1, 1, 1}).moved(far).mesh();
  // Coordinates of a million metres carry 2e-10 m.
  EXPECT_NEAR(mesh.volume(), 1.0, 1e-8);
  EXPECT_NEAR(mesh.signed_distance(far + Vector3d(0.2, 0, 0)), -0.3, 1e-9);
}

std::string refusal(const Surface& surface) {
  try {
    static_cast<void>(surface.mesh());
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(TriangleMesh, RefusesSurfacesThatEncloseNothing) {
  auto open = box({1, 1, 1});
  open.faces.pop_back();
  EXPECT_TRUE(has(refusal(open), "4 of 17 edges belong to one triangle only")) << refusal(open);
  EXPECT_TRUE(has(refusal(open), "from (0.5, -0.5, -0.5) to (0.5, 0.5, -0.5)")) << refusal(open);
  EXPECT_TRUE(has(refusal(open), "surface:")) << refusal(open);

  auto wall = box({1, 1, 1}).with(box({1, 1, 1}).moved({1, 1, 0}));  // two cubes that share an edge
  EXPECT_TRUE(has(refusal(wall), "1 of 35 edges belong to more than two triangles")) << refusal(wall);

  auto twisted = box({1, 1, 1});
  std::reverse(twisted.faces[2].begin(), twisted.faces[2].end());
  EXPECT_TRUE(has(refusal(twisted), "opposite orientation")) << refusal(twisted);

  const Surface flat{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}, {0, 2, 1}}};
  EXPECT_TRUE(has(refusal(flat), "no volume")) << refusal(flat);
  EXPECT_TRUE(has(refusal(box({1, 1, 1}).with(flat.moved({3, 0, 0}))), "at (3, 0, 0) encloses no volume"));

  EXPECT_TRUE(has(refusal(Surface{}), "no triangle"));
  EXPECT_TRUE(has(refusal({{{0, 0, 0}, {1, 0, 0}}, {{0, 1, 1}}}), "no triangle"));
  EXPECT_TRUE(has(refusal({{{0, 0, 0}, {1, 0, 0}}, {{0, 1, 2}}}), "uses vertex 2"));

  auto infinite = box({1, 1, 1});
  infinite.vertices[3].y() = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(has(refusal(infinite), "finite")) << refusal(infinite);
  infinite.vertices[3].y() = 1e31;
  EXPECT_TRUE(has(refusal(infinite), "1e+30")) << refusal(infinite);
}

TEST(TriangleMesh, RefusesPartsWithTheWrongOrientation) {
  const auto cube = box({1, 1, 1}), small = box({0.4, 0.4, 0.4});
  EXPECT_TRUE(has(refusal(cube.with(small)), "lies inside another part")) << refusal(cube.with(small));
  const auto beside = cube.with(small.reversed().moved({2, 0, 0}));
  EXPECT_TRUE(has(refusal(beside), "is inside out")) << refusal(beside);
  EXPECT_EQ(refusal(cube.with(small.moved({2, 0, 0}))), "");
  // A solid within the cavity of another one.
  EXPECT_EQ(refusal(cube.with(box({0.8, 0.8, 0.8}).reversed()).with(small)), "");
}

TEST_F(MeshFile, RefusesFilesThatCannotBeRead) {
  const auto names_file = [&](const std::string& text, const std::string& name) {
    return text.starts_with((folder_ / name).string());
  };
  const auto missing = refusal(folder_ / "missing.obj");
  EXPECT_TRUE(names_file(missing, "missing.obj") && has(missing, "does not exist")) << missing;
  std::filesystem::create_directory(folder_ / "folder.obj");
  const auto directory = refusal(folder_ / "folder.obj");
  EXPECT_TRUE(names_file(directory, "folder.obj") && has(directory, "not a file")) << directory;
  const auto ending = refusal("mesh.step", "x");
  EXPECT_TRUE(names_file(ending, "mesh.step") && has(ending, "'.step'") && has(ending, ".obj, .stl, .ply or .off"))
      << ending;
  for (const std::string name : {"e.obj", "e.stl", "e.ply", "e.off"})
    EXPECT_TRUE(has(refusal(name, ""), "empty")) << name;
  for (double scale : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_TRUE(has(refusal("s.obj", obj(box({1, 1, 1})), scale), "scale"));
  EXPECT_TRUE(has(refusal("s.obj", obj(box({1, 1, 1})), 1e300), "1e+30"));
}

TEST_F(MeshFile, RefusesDamagedTextAtItsLine) {
  const std::string ply =
      "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
      "element face 1\nproperty list uchar int vertex_indices\nend_header\n";
  const std::string facet = "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n";
  struct Bad {
    std::string name, bytes;
    int line;
    std::string reason;
  };
  const std::vector<Bad> files{
      {"a.obj", "v 0 0 0\nv 0 0\n", 2, "three coordinates"},
      {"b.obj", "v 0 0 0\n\nv 0 0 nan\n", 3, "'nan' is not a finite number"},
      {"c.obj", "v 0 0 1e999\n", 1, "not a finite number"},
      {"d.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\nf 1 2 3\n", 4, "uses vertex 4, but the file has 3"},
      {"e.obj", "v 0 0 0\nf 1 1 0\n", 2, "index 0"},
      {"f.obj", "v 0 0 0\nf 1 1 -2\n", 2, "index -2"},
      {"g.obj", "v 0 0 0\nf 1 1\n", 2, "fewer than three"},
      {"h.obj", "v 0 0 0\nf 1 1 99999999999\n", 2, "index 99999999999"},
      {"i.obj", "v 0 0 0x\n", 1, "'0x'"},
      {"j.obj", "v 0 0 0\nf a b c\n", 2, "not a whole number"},
      {"a.off", "OFF\n4 4\n0 0 0\n", 3, "ends after 1 of 4 vertices"},
      {"b.off", "OFF\n99999999 1 0\n0 0 0\n", 2, "more than the file can hold"},
      {"c.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", 6, "uses vertex 3"},
      {"d.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1\n", 6, "2 of 3 corners"},
      {"e.off", "OFF BINARY\n", 1, "binary"},
      {"f.off", "4OFF\n", 1, "three-dimensional"},
      {"g.off", "OFF\n-3 1 0\n", 2, "number of vertices"},
      {"h.off", "# nothing\n", 1, "no numbers"},
      {"i.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n2 0 1\n", 6, "fewer than three"},
      {"a.stl", facet + "endloop\n", 6, "2 corners"},
      {"b.stl", facet, 5, "endsolid"},
      {"c.stl", facet + "vertex 0 inf 0\n", 6, "'inf'"},
      {"d.stl", "solid\nhello\n", 2, "no line of a text STL"},
      {"a.ply", "plyx\n", 1, "no PLY file"},
      {"b.ply", "ply\nformat ascii 1.0\n", 2, "end_header"},
      {"c.ply", "ply\nformat wordy 1.0\n", 2, "expected ascii"},
      {"d.ply", "ply\nelement vertex 999999\n", 2, "more than the file can hold"},
      {"e.ply", "ply\nelement vertex 3\nproperty long x\n", 3, "type"},
      {"f.ply", "ply\nproperty float x\n", 2, "header"},
      {"g.ply", "ply\nelement vertex 3\nproperty list float int x\n", 3, "length of a list"},
      {"h.ply", ply + "0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", 13, "uses vertex 3"},
      {"i.ply", ply + "0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n", 13, "uses vertex -1"},
      {"j.ply", ply + "0 0 0\n1 0 0\n0 1 0\n3 0 1\n", 13, "ends too early"},
      {"k.ply", ply + "0 0 0\n1 0 inf\n0 1 0\n3 0 1 2\n", 11, "'inf'"},
      {"l.ply", ply + "0 0 0\n1 0 0\n0 1 0\n2 0 1\n", 13, "fewer than three"},
      {"m.ply", "ply\nelement vertex 0\nend_header\n", 3, "format"},
  };
  for (const auto& [name, bytes, line, reason] : files) {
    const auto text = refusal(name, bytes);
    const auto place = (folder_ / name).string() + ":" + std::to_string(line) + ": ";
    EXPECT_TRUE(text.starts_with(place)) << "expected " << place << "\n" << text;
    EXPECT_TRUE(has(text, reason)) << "expected " << reason << "\n" << text;
    EXPECT_TRUE(has(text, "\n    ")) << "no remedy in\n" << text;
  }
}

TEST_F(MeshFile, RefusesDamagedBinaries) {
  const auto cube = box({1, 1, 1});
  const auto stl = binary_stl(cube);
  const auto ply = binary_ply<std::uint8_t, std::int32_t>(cube, std::endian::little, "uchar int");
  EXPECT_TRUE(has(refusal("a.stl", stl.substr(0, 200)), "ends before") ||
              has(refusal("a.stl", stl.substr(0, 200)), "STL"));
  auto unmarked = stl;
  unmarked.replace(0, 5, "cube ");
  const auto cut = refusal("b.stl", unmarked.substr(0, 300));
  EXPECT_TRUE(has(cut, "b.stl: the header promises 12 triangles (684 bytes), but the file has 300 bytes")) << cut;
  EXPECT_TRUE(has(refusal("c.stl", "tiny"), "no STL file"));
  auto infinite = unmarked;
  const float bad = std::numeric_limits<float>::infinity();
  std::memcpy(infinite.data() + 84 + 50 + 12, &bad, sizeof bad);
  EXPECT_TRUE(has(refusal("d.stl", infinite), "triangle 2 (byte 146)")) << refusal("d.stl", infinite);

  const auto short_ply = refusal("e.ply", ply.substr(0, ply.size() - 1));
  EXPECT_TRUE(has(short_ply, "e.ply: byte") && has(short_ply, "ends too early")) << short_ply;
  auto huge_list = ply;
  huge_list[ply.find("end_header\n") + 11 + 2] = static_cast<char>(255);
  EXPECT_NE(refusal("f.ply", huge_list), "");
  const auto floats = refusal("g.ply", binary_ply<std::uint8_t, float>(cube, std::endian::little, "uchar float"));
  EXPECT_TRUE(has(floats, "whole numbers")) << floats;
  const auto strips = refusal("h.ply",
                              "ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\nproperty "
                              "float z\nelement tristrips 0\nend_header\n");
  EXPECT_TRUE(has(strips, "element 'face'")) << strips;
}

/// Bytes replaced by digits (even kinds) or anything (odd), or cut out.
std::string damage(std::string bytes, int kind, std::mt19937_64& engine) {
  // The first lines decide most, so half of the damage is there.
  const auto reach = kind % 2 == 0 ? bytes.size() : std::min<std::size_t>(bytes.size(), 300);
  const auto at = engine() % reach;
  if (kind % 5 == 4) return bytes.substr(0, at) + bytes.substr(std::min(bytes.size(), at + 1 + engine() % 40));
  bytes[at] = static_cast<char>(kind % 5 < 2 ? '0' + engine() % 10 : engine());
  return bytes;
}

/// Any change of any byte gives a mesh or an InputError, never anything else.
TEST_F(MeshFile, DamageIsNeverFatal) {
  const auto surface = torus(0.7, 0.25, 4, 3);
  std::mt19937_64 engine(10);
  for (const auto& [name, bytes] : std::vector<std::pair<std::string, std::string>>{
           {"a.obj", obj(surface)},
           {"b.off", off(surface)},
           {"c.stl", text_stl(surface)},
           {"d.stl", binary_stl(surface)},
           {"e.ply", text_ply(surface)},
           {"f.ply", binary_ply<std::int32_t, std::int16_t>(surface, std::endian::big, "int short")}})
    for (int trial = 0; trial < 60; ++trial) {
      auto damaged = bytes;
      for (int change = 0; change < 1 + trial % 3; ++change) damaged = damage(damaged, trial, engine);
      const auto file = write(name, damaged);
      EXPECT_NO_THROW({
        const auto text = refusal(file);
        EXPECT_TRUE(text.empty() || text.starts_with(file.string())) << text;
      });
    }
}

Shape shape_of(const Surface& surface) { return {Mesh{std::make_shared<const TriangleMesh>(surface.mesh())}}; }

TEST(MeshSampling, KeepsTheLatticePointsOfNegativeDistance) {
  const auto shape = shape_of(torus(0.7, 0.25, 30, 15).with(sphere(0.3, 20, 10).moved({0, 0, 0.1})));
  const double spacing = 0.03;
  const auto samples = sample_lattice(shape, spacing, 0, 0, 1);
  std::size_t inside = 0;
  const Eigen::AlignedBox3d box = bounds(shape);
  const Vector3d counts = (box.sizes() / spacing).array().round();
  for (double i = 0; i < counts.x(); ++i)
    for (double j = 0; j < counts.y(); ++j)
      for (double k = 0; k < counts.z(); ++k) {
        const Vector3d p = box.center() + spacing * (Vector3d(i, j, k) - (counts - Vector3d::Ones()) / 2);
        inside += signed_distance(shape, p) <= 1e-9 * spacing;
      }
  EXPECT_EQ(samples.positions.size(), inside);
  for (const auto& p : samples.positions) ASSERT_LE(signed_distance(shape, p), 2e-9 * spacing);
  // First order in spacing over thickness.
  EXPECT_NEAR(static_cast<double>(inside) * std::pow(spacing, 3) / volume(shape), 1.0, 0.02);
}

/// Lattice lines through vertices, edges and diagonals of the mesh: nothing is lost, nothing is counted twice.
TEST(MeshSampling, LinesThroughEdgesAndVerticesAreCountedOnce) {
  // A pyramid over a square with a tip in the middle, subdivided lattice lines hit tip, ridges and base corners.
  const Surface pyramid{{{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}, {0, 0, 1}},
                        {{3, 2, 1, 0}, {0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}}};
  const auto mesh = pyramid.mesh();
  const std::vector<double> lines{-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1};
  const auto crossings = mesh.column_crossings(lines, lines);
  int sum = 0;
  for (std::size_t k = 0; k < crossings.size(); ++k) {
    const auto& c = crossings[k];
    sum += c.sign;
    const double x = lines[c.i], y = lines[c.j];
    EXPECT_EQ(c.sign, k % 2 == 0 ? -1 : 1);
    EXPECT_NEAR(c.z, k % 2 == 0 ? 0 : 1 - std::max(std::abs(x), std::abs(y)), 1e-12);
  }
  EXPECT_EQ(sum, 0);
  // Lines on the rim count as inside on two of four sides, so 8 x 8 lines cross twice.
  EXPECT_EQ(crossings.size(), 2u * 8 * 8);
}

TEST(MeshSampling, BoxMeshSamplesLikeABox) {
  for (double spacing : {0.1, 0.05}) {
    const Vector3d size(1.0, 0.6, 0.5);
    const auto from_mesh = sample_lattice(shape_of(box(size)), spacing, 0, 0, 1);
    const auto from_box = sample_lattice({Box{size}}, spacing, 0, 0, 1);
    ASSERT_EQ(from_mesh.positions.size(), from_box.positions.size());
    for (std::size_t k = 0; k < from_box.positions.size(); ++k)
      EXPECT_LT((from_mesh.positions[k] - from_box.positions[k]).norm(), 1e-15);
    EXPECT_NEAR(from_mesh.volumes[0], from_box.volumes[0], 1e-15 * spacing);
  }
}

/// A cross whose inner walls lie on lattice points, up to rounding: these are kept on all sides.
TEST(MeshSampling, PointsOnUprightWallsAreKeptOnEverySide) {
  const double a = 0.4, b = 1.5;  // half the width of the arms, half the size
  const auto shape = shape_of(prism(
      {{a, a}, {a, b}, {-a, b}, {-a, a}, {-b, a}, {-b, -a}, {-a, -a}, {-a, -b}, {a, -b}, {a, -a}, {b, -a}, {b, a}},
      1.0));
  ASSERT_NEAR(volume(shape), 4.16, 1e-14);
  // 15 x 15 columns at -1.4, -1.2 ... 1.4, of which |x| <= 0.4 or |y| <= 0.4; five layers.
  EXPECT_EQ(sample_lattice(shape, 0.2, 0, 0, 1).positions.size(), 5u * (5 * 15 + 10 * 5));
}

TEST(MeshSampling, RefusesASpacingThatMissesTheMesh) {
  EXPECT_THROW(static_cast<void>(sample_lattice(shape_of(box({1, 1, 1})), 3.0, 0, 0, 1)), InputError);
  EXPECT_THROW(static_cast<void>(sample_lattice(shape_of(torus(0.7, 0.1, 20, 8)), 1.9, 0, 0, 1)), InputError);
}

TEST(MeshSampling, BoundsHoldTheRotatedMesh) {
  auto shape = shape_of(torus(0.7, 0.25, 30, 15));
  shape.position = {1, 2, 3};
  shape.rotation = Eigen::AngleAxisd(0.9, Vector3d(0.3, -0.7, 0.5).normalized()).toRotationMatrix();
  const auto box = bounds(shape), analytic = bounds({Torus{0.7, 0.25}, shape.position, shape.rotation});
  // The facets stay inside the torus, by no more than their sagitta.
  EXPECT_TRUE(analytic.contains(box));
  EXPECT_LT((box.min() - analytic.min()).maxCoeff(), 0.01);
  EXPECT_LT((analytic.max() - box.max()).maxCoeff(), 0.01);
  for (const auto& p : sample_lattice(shape, 0.05, 0, 0, 1).positions) ASSERT_TRUE(box.contains(p));
}

}  // namespace
}  // namespace ductile::geometry
