#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/embed/embedding_engine.h"
#include "coden/partition/prediction_clock.h"
#include "coden/sample/lazy_sampler.h"
#include "coden/settings/embed_options.h"
#include "coden/state/log_segments.h"

namespace coden {

/// How far a run has come: state/progress.json. The schedule runs ahead of the embedding
/// and ends with the log; the embedding has done the first `num_snapshots` of it.
struct RunProgress {
  ClockMemory clock;
  SamplerMemory sampler;
  std::vector<LogSegment> log;  ///< in order
  std::int64_t feature_rows = 0;
  std::string feature_hash;
  std::string update_hash;  ///< of the feature updates up to clock.last_time

  int num_snapshots = 0;
  EngineMemory engine;                    ///< after the last of them
  std::vector<ColumnRange> column_files;  ///< the columns of each state/columns-*.parquet
};

std::string ToJson(const RunProgress& progress);

/// Read it back; text that is not a progress is corruption of the file `shown`.
arrow::Result<RunProgress> ProgressFromJson(const std::string& text,
                                            const std::string& shown);

}  // namespace coden
