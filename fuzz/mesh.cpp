// Any bytes as a surface; the first one chooses the format. Read, welded and checked, or refused by InputError; what is
// accepted answers a question about its inside.

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/error.hpp"
#include "geometry/mesh_files.hpp"
#include "geometry/triangle_mesh.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ductile::geometry;
  if (size == 0) return 0;
  constexpr std::array readers{read_obj, read_stl, read_ply, read_off};
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    TriangleSoup soup = readers[data[0] % readers.size()](bytes, "fuzz");
    const TriangleMesh mesh(std::move(soup.vertices), std::move(soup.triangles), "fuzz");
    if (std::isnan(mesh.signed_distance(mesh.bounds().center()))) std::abort();
  } catch (const ductile::InputError&) {
  }
  return 0;
}
