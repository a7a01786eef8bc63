#pragma once

#include <chrono>
#include <string>

namespace ductile::app {

/// How far a run has come: one line that is rewritten on a terminal, a plain line every tenth of the way, and
/// every minute, otherwise.
class Progress {
 public:
  Progress(long long first_step, long long last_step, double time_step, bool quiet);
  ~Progress();

  /// `work`: particle-iterations since the start.
  void update(long long step, double work, double min_volume_ratio);
  /// Ends the line so that other text can follow.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] std::string line(long long step, double work, double min_volume_ratio, std::size_t width) const;

  long long first_, last_;
  double time_step_;
  bool quiet_, terminal_;
  bool open_ = false;
  int tenth_ = -1;
  Clock::time_point start_, shown_;
};

}  // namespace ductile::app
