// Any bytes as a checkpoint: read, or refused by InputError. The checksum at the end is mended first, or nothing behind
// it would ever be reached.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "common/checksum.hpp"
#include "common/error.hpp"
#include "io/checkpoint.hpp"

namespace {

/// A file in memory that can be opened by its path.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::uint8_t> bytes) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (descriptor_ < 0 || write(descriptor_, bytes.data(), bytes.size()) != ssize_t(bytes.size())) abort();
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

void read(std::span<const std::uint8_t> bytes) {
  const MemoryFile file(bytes);
  try {
    (void)ductile::io::read_checkpoint(file.path());
  } catch (const ductile::InputError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint8_t> bytes(data, data + size);
  read(bytes);
  if (size < 24) return 0;
  // Sizes that fit: the header's own, and the checksum of what stands before it.
  const std::uint64_t total = size;
  std::memcpy(&bytes[16], &total, sizeof total);
  ductile::Crc64 crc;
  crc.update(std::as_bytes(std::span(bytes).first(size - 8)));
  const std::uint64_t sum = crc.value();
  std::memcpy(&bytes[size - 8], &sum, sizeof sum);
  read(bytes);
  return 0;
}
