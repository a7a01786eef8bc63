#include "app/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <limits>

#include "app/text.hpp"

namespace ductile::app {

namespace {

/// Columns of the terminal behind standard error, which may change while the program runs.
std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

Progress::Progress(long long first_step, long long last_step, double time_step, bool quiet)
    : first_(first_step),
      last_(last_step),
      time_step_(time_step),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) != 0),
      start_(Clock::now()),
      shown_(start_ - std::chrono::hours(1)) {}

Progress::~Progress() { finish(); }

std::string Progress::line(long long step, double work, double min_volume_ratio, std::size_t width) const {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  const auto done = double(step - first_);
  const double left = done > 0 ? elapsed / done * double(last_ - step) : 0;
  const double percent = 100.0 * double(step) / double(last_);
  const double time = double(step) * time_step_, end = double(last_) * time_step_;
  const auto rate = format_count(elapsed > 0 ? work / elapsed : 0);
  const std::string full = fmt::format(
      "{:3.0f} %  step {}/{}  t {:.4g}/{:.4g} s  {} left  {} particle-iterations/s  smallest volume ratio {:.3f}",
      percent, step, last_, time, end, format_seconds(left), rate, min_volume_ratio);
  if (full.size() < width) return full;
  // A line that wraps can't be overwritten.
  return fmt::format("{:3.0f} %  step {}  t {:.4g} s  {} left  {}/s  J {:.3f}", percent, step, time,
                     format_seconds(left), rate, min_volume_ratio)
      .substr(0, width - 1);
}

void Progress::update(long long step, double work, double min_volume_ratio) {
  if (quiet_) return;
  const auto now = Clock::now();
  const auto since = now - shown_;
  if (terminal_) {
    if (step != last_ && since < std::chrono::milliseconds(200)) return;
    shown_ = now;
    tell(fmt::format("\r{}\033[K", line(step, work, min_volume_ratio, terminal_width())));
    open_ = true;
  } else if (const int tenth = static_cast<int>(10 * step / last_);
             tenth != tenth_ || since > std::chrono::minutes(1)) {
    tenth_ = tenth;
    shown_ = now;
    tell(line(step, work, min_volume_ratio, std::numeric_limits<std::size_t>::max()) + "\n");
  }
}

void Progress::finish() {
  if (open_) tell("\n");
  open_ = false;
}

}  // namespace ductile::app
