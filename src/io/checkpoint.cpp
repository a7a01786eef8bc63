#include "io/checkpoint.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <span>
#include <stdexcept>
#include <string_view>

#include "common/checksum.hpp"
#include "common/error.hpp"
#include "io/files.hpp"

// Layout, little endian, nothing padded:
//   magic[8]  version:u32  blocks:u32  file_size:u64
//   scene_digest  backend                     each length:u32 and its characters
//   for each block: name (as above), size:u64
//   the bytes of every block in the same order
//   CRC-64 of everything before:u64
namespace ductile::io {
namespace {

static_assert(std::endian::native == std::endian::little, "checkpoints are written in the machine's own byte order");

constexpr std::string_view magic{"DUCTILE\x1a", 8};  // the last byte shows a file that went through a text transfer
constexpr std::uint32_t current_version = 1;
constexpr std::size_t checksum_size = 8;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class Number>
void append(std::string& text, Number number) {
  std::array<char, sizeof number> bytes;
  std::memcpy(bytes.data(), &number, sizeof number);
  text.append(bytes.data(), bytes.size());
}

void append_string(std::string& text, const std::string& string) {
  if (string.size() > std::numeric_limits<std::uint32_t>::max())
    throw std::length_error("a checkpoint's name does not fit 32 bits");
  append(text, static_cast<std::uint32_t>(string.size()));
  text += string;
}

/// Takes a file from front to end, never more than it holds, and sums up what it has taken.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : file_(file), stream_(file, std::ios::binary) {
    std::error_code failure;
    left_ = std::filesystem::file_size(file, failure);
    if (!stream_ || failure) refuse(failure ? failure.message() : "it cannot be opened");
    size_ = left_;
  }

  [[noreturn]] void refuse(std::string_view why) const {
    throw InputError(
        fmt::format("cannot resume from {}: {}\n    start the run again with --force", file_.string(), why));
  }

  [[nodiscard]] std::uint64_t left() const { return left_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t checksum() const { return crc_.value(); }

  void take(std::span<std::byte> bytes) {
    if (bytes.size() > left_) refuse("it is cut short");
    stream_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!stream_) refuse("it cannot be read to its end");
    left_ -= bytes.size();
    crc_.update(bytes);
  }

  template <class Number>
  Number take_number() {
    Number number{};
    take(std::as_writable_bytes(std::span(&number, 1)));
    return number;
  }

  std::string take_string() {
    const auto length = take_number<std::uint32_t>();
    if (length > left_) refuse("it is damaged (a name is longer than the file)");
    std::string text(length, '\0');
    take(std::as_writable_bytes(std::span(text.data(), text.size())));
    return text;
  }

 private:
  std::filesystem::path file_;
  std::ifstream stream_;
  std::uint64_t size_ = 0, left_ = 0;
  Crc64 crc_;
};

/// Returns the number of blocks.
std::uint32_t take_header(Reader& reader) {
  std::array<std::byte, magic.size()> start{};
  if (reader.left() < start.size()) reader.refuse("it is not a checkpoint of Ductile, or cut short");
  reader.take(start);
  if (text_of(start) != magic) reader.refuse("it is not a checkpoint of Ductile");
  const auto version = reader.take_number<std::uint32_t>();
  if (version != current_version)
    reader.refuse(fmt::format("its format version is {}, {} than the {} that this program reads", version,
                              version > current_version ? "newer" : "older", current_version));
  const auto blocks = reader.take_number<std::uint32_t>();
  const auto expected_size = reader.take_number<std::uint64_t>();
  if (expected_size > reader.size())
    reader.refuse(fmt::format("it is cut short, {} of {} bytes are there", reader.size(), expected_size));
  if (expected_size < reader.size())
    reader.refuse(fmt::format("it is damaged, {} bytes where {} belong", reader.size(), expected_size));
  return blocks;
}

}  // namespace

void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint) {
  std::string table;
  append_string(table, checkpoint.scene_digest);
  append_string(table, checkpoint.backend);
  std::uint64_t payload = 0;
  for (const auto& block : checkpoint.blocks) {
    append_string(table, block.name);
    append(table, static_cast<std::uint64_t>(block.bytes.size()));
    payload += block.bytes.size();
  }

  std::string front(magic);
  append(front, current_version);
  append(front, static_cast<std::uint32_t>(checkpoint.blocks.size()));
  append(front, front.size() + sizeof(std::uint64_t) + table.size() + payload + checksum_size);
  front += table;

  std::vector<std::string_view> pieces{front};
  for (const auto& block : checkpoint.blocks) pieces.push_back(text_of(block.bytes));
  Crc64 crc;
  for (const auto piece : pieces) crc.update(bytes_of(piece));
  std::string back;
  append(back, crc.value());
  pieces.push_back(back);
  write_whole(file, pieces);
}

Checkpoint read_checkpoint(const std::filesystem::path& file) {
  Reader reader(file);
  const std::uint32_t blocks = take_header(reader);
  Checkpoint checkpoint;
  checkpoint.scene_digest = reader.take_string();
  checkpoint.backend = reader.take_string();

  // Names and sizes first; no entry is believed before the bytes it promises are known to be there.
  constexpr std::uint64_t smallest_entry = sizeof(std::uint32_t) + sizeof(std::uint64_t);
  if (blocks > reader.left() / smallest_entry) reader.refuse("it is damaged (more blocks than the file can hold)");
  std::vector<std::uint64_t> sizes;
  std::uint64_t payload = 0;
  for (std::uint32_t i = 0; i < blocks; ++i) {
    checkpoint.blocks.push_back({reader.take_string(), {}});
    sizes.push_back(reader.take_number<std::uint64_t>());
    if (sizes.back() > reader.left() || payload + sizes.back() > reader.left())
      reader.refuse("it is damaged (a block is longer than the file)");
    payload += sizes.back();
  }
  if (reader.left() != payload + checksum_size) reader.refuse("it is damaged (its blocks do not fill the file)");

  for (std::size_t i = 0; i < sizes.size(); ++i) {
    checkpoint.blocks[i].bytes.resize(sizes[i]);
    reader.take(checkpoint.blocks[i].bytes);
  }
  const auto computed = reader.checksum();
  if (reader.take_number<std::uint64_t>() != computed) reader.refuse("it is damaged (its checksum does not match)");
  return checkpoint;
}

}  // namespace ductile::io
