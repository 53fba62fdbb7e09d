#pragma once

#include <string>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/settings/settings.h"

namespace coden {

/// How edges come and go over the prediction times (the arrival patterns of the paper).
enum class ArrivalPattern {
  kInclined,  ///< batches are added in time order: the log as it is
  kDeclined,  ///< all are there at the start, and are taken back, the last one first
  kBalanced,  ///< half are there at the start; every step adds one and takes one back
};

/// Write the log of `settings` arranged as `pattern` to `path`, a local Parquet file of
/// signed events, and return settings that read it: the same pipeline with the prediction
/// times of the original.
///
/// After step k of `declined` the graph is the original one of K - k steps. `balanced`
/// draws by `run.seed`; a batch stands there for the edges that it has brought in and
/// that were still there at its end, so deletions of the original are left out. The rows
/// of a step are spread evenly over its interval. Holds the log in memory.
arrow::Result<Settings> WritePatternLog(const Settings& settings, ArrivalPattern pattern,
                                        const std::string& path,
                                        const RunContext& context);

}  // namespace coden
