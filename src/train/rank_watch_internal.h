#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/cancel.h>

namespace coden {

/// What a rank puts in the place of its beat when it ends in an error.
inline constexpr std::string_view kFailedBeat = "failed";

/// What to say of a rank that is no longer there.
arrow::Status LostRank(int rank, int size);

/// Watch over the other ranks on a thread of its own: each rank shows by a beat that it
/// is alive, however long it computes. So a step may take any time, and a rank that is
/// gone is missed within seconds, also by those who wait for nobody.
class RankWatch {
 public:
  /// Beats without a change after which a rank is lost. They are counted and not timed: a
  /// machine that slept finds all ranks where they were.
  static constexpr int kMostMissed = 20;

  /// Publish the beat of this rank and return those of all ranks, by rank.
  using Exchange =
      std::function<arrow::Result<std::vector<std::string>>(const std::string& own)>;

  /// Call `on_end`, at most once, with the reason why the group has come to an end: a
  /// rank is lost, the exchange fails or `stop` is asked for.
  RankWatch(int rank, Exchange exchange, arrow::StopToken stop,
            std::function<void(const arrow::Status&)> on_end,
            std::chrono::milliseconds interval = std::chrono::seconds(1));
  ~RankWatch();

 private:
  void Watch();
  arrow::Status Beat();

  const int rank_;
  const Exchange exchange_;
  const arrow::StopToken stop_;
  const std::function<void(const arrow::Status&)> on_end_;
  const std::chrono::milliseconds interval_;

  int num_beats_ = 0;
  std::vector<std::string> beats_;  // the last ones, by rank
  std::vector<int> missed_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace coden
