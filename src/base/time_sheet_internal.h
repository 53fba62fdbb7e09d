#pragma once

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

namespace coden {

/// Charge the wall time of one thread to whoever is at work on it. Work nests: a stage
/// that emits hands the clock to the next one and takes it back.
class TimeSheet {
 public:
  explicit TimeSheet(std::size_t num_workers) : seconds_(num_workers, 0.0) {}

  /// Charge the time since the last switch and make `worker` the one at work; returns the
  /// worker before.
  std::size_t Switch(std::size_t worker) {
    const auto now = Clock::now();
    seconds_[worker_] += std::chrono::duration<double>(now - since_).count();
    since_ = now;
    return std::exchange(worker_, worker);
  }

  double seconds(std::size_t worker) const { return seconds_[worker]; }

 private:
  using Clock = std::chrono::steady_clock;

  std::vector<double> seconds_;
  std::size_t worker_ = 0;
  Clock::time_point since_ = Clock::now();
};

}  // namespace coden
