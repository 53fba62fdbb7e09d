#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/settings/settings.h"
#include "coden/store/file_record.h"
#include "coden/store/run_store.h"

namespace coden {

class RankGroup;
class SnapshotCache;

/// What the stage did, for the summary line. The results themselves are in the run's
/// files.
struct TrainSummary {
  std::int64_t num_labelled = 0;  ///< labelled nodes that appear in some snapshot
  std::int64_t num_unknown = 0;   ///< labels of nodes that appear in none: left out
  int num_predictions = 0;
  double micro_f1_average = 0.0;   ///< test, over prediction times, mean over runs
  std::vector<std::string> notes;  ///< what was left out or is odd, with counts
  std::vector<FileRecord> files;   ///< staged, to be committed
};

/// What training finds in memory: how it goes on where another process was interrupted,
/// and snapshots that were just made.
struct TrainMemory {
  /// What that one had saved, as it was handed to `save`; empty: start.
  std::string saved;
  /// Keep what training has come to. Called between epochs, when the last call is
  /// `run.commit_interval` ago.
  std::function<arrow::Status(const std::string& bytes)> save;
  SnapshotCache* snapshots = nullptr;
  /// The processes that train together; null: this one alone. Each calls Train with the
  /// same run, settings and `saved`, and rank 0 alone saves and writes.
  RankGroup* ranks = nullptr;
};

/// Train `settings.train.model` on the snapshots of the run in `store` and the
/// labels of `settings.input.labels`; write predictions, metrics and the model into the
/// stage of the run.
///
/// The only entrance of the folder: LibTorch stops here, and so do its exceptions.
arrow::Result<TrainSummary> Train(const Settings& settings, RunStore& store,
                                  const TrainMemory& memory, const RunContext& context);

}  // namespace coden
