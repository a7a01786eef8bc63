#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace ductile::io {

/// Writes a file whole or not at all: beside its name, flushed to disk, then renamed. A link is followed, and what it
/// leads to replaced. A pipe or device is written as it is. Throws SimulationError with path, the system's reason and
/// what to do (disk full, read-only, a folder, ...).
void write_whole(const std::filesystem::path& file, std::string_view bytes);
/// The same for a file made of pieces, which need not be copied together first.
void write_whole(const std::filesystem::path& file, std::span<const std::string_view> pieces);
/// The whole file; throws InputError when it can't be read.
[[nodiscard]] std::string read_whole(const std::filesystem::path& file);

/// A file that grows: every write replaces it, whole or not at all, by what it held and more. What is on disk is not
/// kept in memory but read back, also when the name has been removed meanwhile.
class GrowingFile {
 public:
  explicit GrowingFile(std::filesystem::path file) : file_(std::move(file)) {}
  ~GrowingFile() { close(); }
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return file_; }
  /// Goes on behind the first `size` bytes of the file on disk; throws InputError when it can't be read.
  void go_on(std::size_t size);
  /// Throws SimulationError as write_whole() does, and then has written nothing.
  void write(std::string_view more);

 private:
  void open();
  void close();

  std::filesystem::path file_;
  int descriptor_ = -1;
  std::size_t size_ = 0;
};

/// Removes what killed runs left beside the files of `folder` (not below it). Hold the FolderLock: a live run's
/// unfinished file looks the same.
void remove_stale_temporaries(const std::filesystem::path& folder);

/// Keeps a second run out of a result folder while it lives; leaves no file and ends with the process, however it ends.
/// Throws InputError when another run holds the folder. File systems without locks are let through.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace ductile::io
