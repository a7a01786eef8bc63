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

std::string remedy(int code, std::size_t size, bool in_place) {
  switch (code) {
    case ENOSPC:
    case EDQUOT:
      return fmt::format("free space there (this file needs {:.3g} MB).", static_cast<double>(size) / 1e6);
    case EFBIG:
      return "raise the limit on file sizes (ulimit -f).";
    case EROFS:
    case EACCES:
    case EPERM:
      return in_place ? "make it writable." : "make the folder writable.";
    case ENOENT:
    case ENOTDIR:
      return "the folder is missing.";
    case EISDIR:
      return "give the name of a file in it.";
    case EMFILE:
    case ENFILE:
      return "raise the limit on open files (ulimit -n).";
    case ELOOP:
      return "its links lead in a circle: give another name.";
    default:
      return in_place ? "give the name of a file." : "check the disk.";
  }
}

/// Makes the rename itself survive a power cut. Best effort: the file is whole either way.
void flush_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

/// True for links that lead to what a process has open (/dev/stdout, a shell's >(...)): the name that it had when it
/// was opened, if any, is not the way to it.
bool leads_to_open_file(const fs::path& link) {
  std::error_code failure;
  const fs::path folder = link.parent_path();
  const std::string place = fs::canonical(folder.empty() ? "." : folder, failure).string() + "/";
  return place.starts_with("/proc/");
}

/// The end of the chain of links that starts at a name: what they lead to is replaced, not the link.
fs::path followed(fs::path file) {
  constexpr int longest = 40;  // as Linux follows
  std::error_code failure;
  for (int k = 0; k < longest && fs::is_symlink(fs::symlink_status(file, failure)); ++k) {
    if (leads_to_open_file(file)) break;
    file = file.parent_path() / fs::read_symlink(file, failure);
  }
  return file;
}

/// True for pipes and devices, which a rename would replace by a file that nobody reads; also for what can't be written
/// at all, whose error then names it.
bool is_written_in_place(const fs::path& target) {
  std::error_code failure;
  const auto status = fs::status(target, failure);
  return (fs::exists(status) && !fs::is_regular_file(status)) || fs::is_symlink(fs::symlink_status(target, failure));
}

/// A file being written beside its target, or a pipe or device being written itself. Until `keep` has renamed the file,
/// destruction removes it.
class Output {
 public:
  Output(const fs::path& name, std::size_t size)
      : name_(name), size_(size), target_(followed(name)), in_place_(is_written_in_place(target_)) {
    path_ = in_place_ ? target_ : target_.parent_path() / name_beside(target_);
    const int flags = in_place_ ? O_APPEND : O_CREAT | O_TRUNC;
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
    if (descriptor_ < 0) fail(errno);
  }
  ~Output() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!in_place_ && !kept_) ::unlink(path_.c_str());
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

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
    // systems do not know fsync (EINVAL and the like), nor do pipes: their writes count as done.
    if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP && errno != ENOSYS) fail(errno);
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    // Network file systems report a full disk only here. After EINTR the descriptor is closed all the same on Linux.
    if (closed != 0 && errno != EINTR) fail(errno);
    if (in_place_) return;
    if (::rename(path_.c_str(), target_.c_str()) != 0) fail(errno);
    kept_ = true;
    flush_folder(target_.parent_path());
  }

 private:
  static std::string name_beside(const fs::path& target) {
    return fmt::format(".{}{}{}", target.filename().string(), temporary_mark, ::getpid());
  }

  [[noreturn]] void fail(int code) const {
    throw SimulationError(
        fmt::format("cannot write {}: {}\n    {}", name_.string(), reason(code), remedy(code, size_, in_place_)));
  }

  fs::path name_;
  std::size_t size_;
  fs::path target_;
  bool in_place_;
  fs::path path_;
  int descriptor_ = -1;
  bool kept_ = false;
};

/// `.name.tmp-<digits>`, the form that Output gives.
bool is_temporary_name(const std::string& name) {
  const auto mark = name.rfind(temporary_mark);
  if (name.front() != '.' || mark == std::string::npos || mark < 2) return false;
  const auto digits = std::string_view(name).substr(mark + temporary_mark.size());
  return !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
}

[[noreturn]] void fail_to_read(const fs::path& file, int code) {
  throw InputError(fmt::format("cannot read {}: {}", file.string(), reason(code)));
}

int open_to_read(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail_to_read(file, errno);
  return descriptor;
}

}  // namespace

void write_whole(const fs::path& file, std::string_view bytes) {
  write_whole(file, std::span<const std::string_view>(&bytes, 1));
}

void write_whole(const fs::path& file, std::span<const std::string_view> pieces) {
  std::size_t size = 0;
  for (const auto piece : pieces) size += piece.size();
  Output output(file, size);
  for (const auto piece : pieces) output.write(piece);
  output.keep();
}

std::string read_whole(const fs::path& file) {
  const int descriptor = open_to_read(file);
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
      fail_to_read(file, code);
    }
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
  }
  ::close(descriptor);
  text.resize(used);
  return text;
}

void GrowingFile::open() {
  close();
  descriptor_ = open_to_read(file_);
}

void GrowingFile::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void GrowingFile::go_on(std::size_t size) {
  open();
  size_ = size;
}

void GrowingFile::write(std::string_view more) {
  Output output(file_, size_ + more.size());
  std::string piece(std::min<std::size_t>(size_, 1 << 16), '\0');
  for (std::size_t done = 0; done < size_;) {
    const ssize_t count =
        ::pread(descriptor_, piece.data(), std::min(piece.size(), size_ - done), static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0)
      throw SimulationError(fmt::format("cannot read back {}: {}", file_.string(),
                                        count < 0 ? reason(errno) : "another program has cut it short"));
    output.write(std::string_view(piece).substr(0, static_cast<std::size_t>(count)));
    done += static_cast<std::size_t>(count);
  }
  output.write(more);
  output.keep();
  open();
  size_ += more.size();
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
