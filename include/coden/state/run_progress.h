#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/embed/embed_options.h"
#include "coden/embed/embedding_engine.h"
#include "coden/partition/prediction_clock.h"
#include "coden/sample/lazy_sampler.h"

namespace coden {

/// A run of rows of the log that the schedule uses, all of them. Rows that are dropped,
/// because they came late, lie between two segments.
struct LogSegment {
  std::int64_t first_row = 0;    ///< of the log
  std::int64_t first_event = 0;  ///< events before it
  std::int64_t num_events = 0;
  std::string hash;  ///< of its events (LogHasher)

  std::int64_t end_row() const { return first_row + num_events; }
};

/// How far a run has come: state/progress.json. The schedule runs ahead of the embedding
/// and ends with the log; the embedding has done the first `num_snapshots` of it.
struct RunProgress {
  ClockMemory clock;
  SamplerMemory sampler;
  std::vector<LogSegment> log;  ///< in order
  std::int64_t num_late = 0;    ///< rows between them, dropped
  std::int64_t feature_rows = 0;
  std::string feature_hash;
  std::string update_hash;  ///< of the feature updates up to clock.last_time

  int num_snapshots = 0;
  EngineMemory engine;                    ///< after the last of them
  std::vector<ColumnRange> column_files;  ///< the columns of each state/columns-*.parquet

  /// The row of the log that comes after `events` events.
  std::int64_t RowAfter(std::int64_t events) const;
};

std::string ToJson(const RunProgress& progress);

/// Read it back; text that is not a progress is corruption of the file `shown`.
arrow::Result<RunProgress> ProgressFromJson(const std::string& text,
                                            const std::string& shown);

}  // namespace coden
