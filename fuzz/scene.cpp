// Any bytes as a scene: read, or refused by InputError.

#include <cstdint>
#include <string>

#include "common/error.hpp"
#include "scene/scene.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    (void)ductile::scene::parse_scene(std::string(data, data + size), "fuzz.toml", {});
  } catch (const ductile::InputError&) {
  }
  return 0;
}
