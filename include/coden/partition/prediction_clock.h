#pragma once

#include <cstdint>
#include <vector>

#include <arrow/result.h>

#include "coden/base/types.h"
#include "coden/settings/partition_options.h"

namespace coden {

/// Where a clock stands after the last prediction time of a log, for the one that goes on
/// when rows have been added to it.
struct ClockMemory {
  EventTime start_time = 0;     ///< t_0
  std::int64_t rows = 0;        ///< events so far
  EventTime last_time = 0;      ///< of the latest prediction time
  int num_predictions = 0;      ///< prediction times closed so far
  double rows_per_batch = 0.0;  ///< of equal-count batches
};

/// Decide, event by event, where the initial graph ends and where prediction times close.
/// Knows no Arrow; Partitioner wraps it as a stage.
class PredictionClock {
 public:
  /// `num_rows` is the length of the whole log, which equal-count batches are a share of.
  /// `log_end` is its last time, which is asked for where unfinished intervals wait.
  static arrow::Result<PredictionClock> Make(const PartitionOptions& options,
                                             std::int64_t num_rows,
                                             EventTime log_end = kNoTime);

  /// Go on where another clock stood, for a log that has `num_rows` events by now. Added
  /// rows are cut into equal-count batches of about the size that the first ones had;
  /// widths and given times go on as they would have.
  static arrow::Result<PredictionClock> Continue(const PartitionOptions& options,
                                                 const ClockMemory& memory,
                                                 std::int64_t num_rows,
                                                 EventTime log_end = kNoTime);

  /// Where this clock stands. Only after Finish.
  ClockMemory memory() const;

  /// Punctuation that belongs between two events.
  struct Mark {
    EventKind kind;
    EventTime time;
    bool operator==(const Mark&) const = default;
  };

  /// Note that an event at `time` comes next; append the marks that stand before it.
  /// Returns false where the event lies after the last prediction time and is not to be
  /// used.
  arrow::Result<bool> Next(EventTime time, std::vector<Mark>* marks);

  /// The log has ended; append the marks that close it.
  arrow::Status Finish(std::vector<Mark>* marks);

  /// Prediction times closed so far.
  int num_predictions() const { return num_predictions_; }
  /// Equal-count batches that fell together because one time held all their rows.
  int num_merged() const { return num_merged_; }
  /// Events after the last prediction time, of an interval that is not finished too.
  std::int64_t num_unused() const { return num_unused_; }

 private:
  PredictionClock(const PartitionOptions& options, std::int64_t num_rows,
                  EventTime log_end);

  bool InitialEndsBefore(EventTime time) const;
  void Start(EventTime next_time, std::vector<Mark>* marks);
  arrow::Status Close(EventTime time, std::vector<Mark>* marks);
  std::int64_t CountTarget(int batch) const;
  bool CountBatchIsFull() const;
  /// Whether rows of the open interval, which ends at `end`, are left for a later run.
  bool Waits(EventTime end) const {
    return options_.unfinished == UnfinishedInterval::kWait && end >= log_end_;
  }
  EventTime WidthEnd() const;

  PartitionOptions options_;
  std::int64_t num_rows_;
  EventTime log_end_;
  std::int64_t rows_ = 0;        // events seen, the next one not included
  EventTime last_time_ = -1;     // of the latest event seen
  bool started_ = false;         // the initial graph has ended
  std::int64_t start_rows_ = 0;  // events of the initial graph
  EventTime start_time_ = -1;    // t_0: the initial graph is every event at or before it
  int count_batch_ = 1;          // the equal-count batch that is open
  int num_predictions_ = 0;
  EventTime last_close_ = -1;    // the latest prediction time
  double rows_per_batch_ = 0.0;  // of the equal-count batches of the first log
  int num_merged_ = 0;
  std::int64_t num_unused_ = 0;
};

}  // namespace coden
