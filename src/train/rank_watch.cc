#include "train/rank_watch_internal.h"

#include <algorithm>
#include <utility>

#include "coden/base/error.h"

namespace coden {

namespace {

// How soon a signal is heeded by a rank that waits for another.
constexpr std::chrono::milliseconds kPollInterval{100};

}  // namespace

arrow::Status LostRank(int rank, int size) {
  return UnavailableError(
      "training has stopped because another process of it has ended or cannot be "
      "reached (it may have said why); start all of them again to go on from the last "
      "commit: rank ",
      rank, " of ", size);
}

RankWatch::RankWatch(int rank, Exchange exchange, arrow::StopToken stop,
                     std::function<void(const arrow::Status&)> on_end,
                     std::chrono::milliseconds interval)
    : rank_(rank),
      exchange_(std::move(exchange)),
      stop_(std::move(stop)),
      on_end_(std::move(on_end)),
      interval_(interval),
      thread_([this] { Watch(); }) {}

RankWatch::~RankWatch() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void RankWatch::Watch() {
  auto next_beat = std::chrono::steady_clock::now();
  arrow::Status reason;
  while (reason.ok()) {
    {
      std::unique_lock lock(mutex_);
      const auto pause = std::min(kPollInterval, interval_);
      if (changed_.wait_for(lock, pause, [this] { return ended_; })) return;
    }
    reason = stop_.Poll();
    const auto now = std::chrono::steady_clock::now();
    if (!reason.ok() || now < next_beat) continue;
    next_beat = now + interval_;
    reason = Beat();
  }
  on_end_(reason);
}

arrow::Status RankWatch::Beat() {
  ARROW_ASSIGN_OR_RAISE(std::vector<std::string> beats,
                        exchange_(std::to_string(++num_beats_)));
  beats_.resize(beats.size());
  missed_.resize(beats.size());
  const int size = static_cast<int>(beats.size());
  for (int rank = 0; rank < size; ++rank) {
    if (rank == rank_) continue;
    missed_[rank] = beats[rank] == beats_[rank] ? missed_[rank] + 1 : 0;
    if (beats[rank] == kFailedBeat || missed_[rank] >= kMostMissed)
      return LostRank(rank, size);
  }
  beats_ = std::move(beats);
  return arrow::Status::OK();
}

}  // namespace coden
