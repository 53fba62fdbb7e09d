#pragma once

#include <cstddef>
#include <cstdint>

#include <arrow/status.h>

#include "coden/base/error.h"
#include "coden/read/event_batch.h"
#include "coden/sample/schedule.h"

namespace coden {

/// Where a replay of the log stands in a finished schedule: every snapshot is taken when
/// exactly its events have been applied, however the log is cut into batches.
class ScheduleReplay {
 public:
  /// `schedule` must outlive the replay.
  explicit ScheduleReplay(const Schedule& schedule) : schedule_(schedule) {}

  const Schedule& schedule() const { return schedule_; }
  /// Snapshots taken so far; one that is being taken counts.
  int num_snapshots() const { return static_cast<int>(next_point_); }
  /// The last of them, or null.
  const SchedulePoint* last() const {
    return next_point_ == 0 ? nullptr : &schedule_[next_point_ - 1];
  }

  /// Go on as if the first `num_snapshots` snapshots had been taken, with the events that
  /// follow them.
  void ContinueAfter(int num_snapshots) {
    next_point_ = static_cast<std::size_t>(num_snapshots);
    num_events_ = next_point_ == 0 ? 0 : last()->events;
  }

  /// Call `apply(event)` for the events up to the last snapshot, and `take(point)` for
  /// every snapshot when it is due. `prefetch(event)` hears of an event that comes soon.
  template <typename Prefetch, typename Apply, typename Take>
  arrow::Status Push(const EventView& events, const Prefetch& prefetch,
                     const Apply& apply, const Take& take) {
    for (std::int64_t row = 0; row < events.size(); ++row) {
      ARROW_RETURN_NOT_OK(TakeDue(take));
      if (next_point_ == schedule_.size()) return arrow::Status::OK();
      if (row + kRowsAhead < events.size()) prefetch(events[row + kRowsAhead]);
      ARROW_RETURN_NOT_OK(apply(events[row]));
      ++num_events_;
    }
    return TakeDue(take);
  }

  /// The log has ended: take what is due, which must be all that is left.
  template <typename Take>
  arrow::Status Finish(const Take& take) {
    ARROW_RETURN_NOT_OK(TakeDue(take));
    return next_point_ == schedule_.size() ? arrow::Status::OK() : InputChanged();
  }

 private:
  // How far ahead of an event its memory is asked for.
  static constexpr std::int64_t kRowsAhead = 16;

  template <typename Take>
  arrow::Status TakeDue(const Take& take) {
    while (next_point_ < schedule_.size() &&
           schedule_[next_point_].events == num_events_) {
      ARROW_RETURN_NOT_OK(take(schedule_[next_point_++]));
    }
    return arrow::Status::OK();
  }

  const Schedule& schedule_;
  std::size_t next_point_ = 0;
  std::int64_t num_events_ = 0;
};

}  // namespace coden
