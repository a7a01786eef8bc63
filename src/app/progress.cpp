#include "app/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "app/text.hpp"

namespace ductile::app {

Progress::Progress(long long first_step, long long last_step, double time_step, double work_per_step, bool quiet)
    : first_(first_step),
      last_(last_step),
      time_step_(time_step),
      work_per_step_(work_per_step),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) != 0),
      start_(Clock::now()),
      shown_(start_ - std::chrono::hours(1)) {}

Progress::~Progress() { finish(); }

std::string Progress::line(long long step, double min_volume_ratio) const {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  const auto done = double(step - first_);
  const double left = done > 0 ? elapsed / done * double(last_ - step) : 0;
  return fmt::format(
      "{:3.0f} %  step {}/{}  t {:.4g}/{:.4g} s  {} particle-iterations/s  smallest volume {:.3f}  {} left",
      100.0 * double(step) / double(last_), step, last_, double(step) * time_step_, double(last_) * time_step_,
      format_count(elapsed > 0 ? done * work_per_step_ / elapsed : 0), min_volume_ratio, format_seconds(left));
}

void Progress::update(long long step, double min_volume_ratio) {
  if (quiet_) return;
  if (terminal_) {
    const auto now = Clock::now();
    if (step != last_ && now - shown_ < std::chrono::milliseconds(200)) return;
    shown_ = now;
    fmt::print(stderr, "\r{}\033[K", line(step, min_volume_ratio));
    std::fflush(stderr);
    open_ = true;
  } else if (const int tenth = static_cast<int>(10 * step / last_); tenth != tenth_) {
    tenth_ = tenth;
    fmt::print(stderr, "{}\n", line(step, min_volume_ratio));
  }
}

void Progress::finish() {
  if (open_) fmt::print(stderr, "\n");
  open_ = false;
}

}  // namespace ductile::app
