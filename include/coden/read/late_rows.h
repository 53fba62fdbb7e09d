#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "coden/base/types.h"
#include "coden/settings/input_options.h"

namespace coden {

/// Which rows of a log are late: those at or before `predicted`, the last time that the
/// run has committed a prediction for, and those before a row above them. A row that is
/// late itself makes no other row late.
struct LateRule {
  LatePolicy policy = LatePolicy::kRefuse;
  EventTime predicted = kNoTime;
};

/// Find the late rows of a log, batch by batch.
class LateRows {
 public:
  static constexpr std::string_view kAlreadyPredicted =
      "the row was added late: the run has already made its prediction for this time; "
      "set "
      "`input.late = drop` to drop and count such rows, or rebuild the run with --force, "
      "which takes a log sorted by time";
  static constexpr std::string_view kFallingTime =
      "times must not fall from row to row; sort the log by time, or set `input.late = "
      "drop` to drop and count such rows";

  explicit LateRows(EventTime predicted = kNoTime)
      : predicted_(predicted), earliest_(predicted + 1) {}

  /// Mark which of the next rows are late, and return how many. Negative times are
  /// neither late nor do they make others late.
  std::int64_t Mark(std::span<const EventTime> times, std::vector<bool>* late);

  /// Which rule a late row at `time` breaks.
  std::string_view RuleOf(EventTime time) const {
    return time <= predicted_ ? kAlreadyPredicted : kFallingTime;
  }

  /// The earliest time that is not late: that of the last row that was not.
  EventTime earliest() const { return earliest_; }

 private:
  EventTime predicted_;
  EventTime earliest_;
};

}  // namespace coden
