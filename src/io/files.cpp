#include "io/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include "common/error.hpp"

namespace ductile::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view temporary_mark = ".tmp-";

std::string reason(int code) { return std::generic_category().message(code); }

std::string remedy(int code, std::size_t size) {
  switch (code) {
    case ENOSPC:
    case EDQUOT:
      return fmt::format("free space there (this file needs {:.1f} MB).", static_cast<double>(size) / 1e6);
    case EFBIG:
      return "raise the limit on file sizes (ulimit -f).";
    case EROFS:
    case EACCES:
    case EPERM:
      return "make the folder writable.";
    case ENOENT:
    case ENOTDIR:
      return "the folder is missing.";
    default:
      return "check the disk.";
  }
}

/// A file being written. Until `keep` has renamed it, destruction removes it.
class Temporary {
 public:
  Temporary(const fs::path& target, std::size_t size)
      : target_(target), size_(size), path_(target.parent_path() / name_beside(target)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(errno);
  }
  ~Temporary() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!kept_) ::unlink(path_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail(written < 0 ? errno : EIO);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void keep() {
    // Without this flush a power cut after the rename may leave a file of the right name and no content. Some file
    // systems do not know fsync (EINVAL and the like): their writes count as done.
    if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP && errno != ENOSYS) fail(errno);
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    // Network file systems report a full disk only here. After EINTR the descriptor is closed all the same on Linux.
    if (closed != 0 && errno != EINTR) fail(errno);
    if (::rename(path_.c_str(), target_.c_str()) != 0) fail(errno);
    kept_ = true;
  }

 private:
  static std::string name_beside(const fs::path& target) {
    return fmt::format(".{}{}{}", target.filename().string(), temporary_mark, ::getpid());
  }

  [[noreturn]] void fail(int code) const {
    throw SimulationError(
        fmt::format("cannot write {}: {}\n    {}", target_.string(), reason(code), remedy(code, size_)));
  }

  fs::path target_;
  std::size_t size_;
  fs::path path_;
  int descriptor_ = -1;
  bool kept_ = false;
};

/// Makes the rename itself survive a power cut. Best effort: the file is whole either way.
void flush_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

/// `.name.tmp-<digits>`, the form that Temporary gives.
bool is_temporary_name(const std::string& name) {
  const auto mark = name.rfind(temporary_mark);
  if (name.front() != '.' || mark == std::string::npos || mark < 2) return false;
  const auto digits = std::string_view(name).substr(mark + temporary_mark.size());
  return !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

void write_whole(const fs::path& file, std::string_view bytes) {
  write_whole(file, std::span<const std::string_view>(&bytes, 1));
}

void write_whole(const fs::path& file, std::span<const std::string_view> pieces) {
  std::size_t size = 0;
  for (const auto piece : pieces) size += piece.size();
  Temporary temporary(file, size);
  for (const auto piece : pieces) temporary.write(piece);
  temporary.keep();
  flush_folder(file.parent_path());
}

std::string read_whole(const fs::path& file) {
  const auto fail = [&](int code) { throw InputError(fmt::format("cannot read {}: {}", file.string(), reason(code))); };
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(errno);
  std::string text;
  struct stat status {};
  // One byte more than the file holds, so that its end shows without growing the text.
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
    text.resize(static_cast<std::size_t>(status.st_size) + 1);
  std::size_t used = 0;
  for (;;) {
    if (used == text.size()) text.resize(std::max<std::size_t>(2 * used, 4096));
    const ssize_t count = ::read(descriptor, text.data() + used, text.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int code = errno;
      ::close(descriptor);
      fail(code);
    }
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
  }
  ::close(descriptor);
  text.resize(used);
  return text;
}

void remove_stale_temporaries(const fs::path& folder) {
  std::error_code failure;  // a leftover that stays does no harm, so nothing here is an error
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    std::error_code ignored;
    if (is_temporary_name(entry->path().filename().string()) && !entry->is_directory(ignored))
      fs::remove(entry->path(), ignored);
  }
}

FolderLock::FolderLock(const fs::path& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw InputError(fmt::format("cannot open the folder {}: {}", folder.string(), reason(errno)));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  ::close(descriptor_);
  throw InputError(fmt::format(
      "another run is writing into {}\n    wait for it to end, or choose another folder with -o", folder.string()));
}

FolderLock::~FolderLock() { ::close(descriptor_); }

}  // namespace ductile::io
