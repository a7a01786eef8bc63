#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace ductile::io {

/// Named byte blocks: the whole state of a run between two steps.
struct Checkpoint {
  struct Block {
    std::string name;
    std::vector<std::byte> bytes;
  };
  std::string scene_digest;  ///< scene::Scene::digest of the run
  std::string backend;       ///< results are bitwise reproducible per back end only
  std::vector<Block> blocks;
};

/// Whole or not at all. The file carries magic, format version, digest, block table and a checksum over all of it.
void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint);
/// Throws InputError with the reason for a foreign, old, cut or bit-flipped file; never allocates more than the file
/// holds.
[[nodiscard]] Checkpoint read_checkpoint(const std::filesystem::path& file);

}  // namespace ductile::io
