#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/base/types.h"
#include "coden/settings/settings.h"
#include "coden/store/file_record.h"
#include "coden/store/manifest.h"
#include "coden/store/run_store.h"

namespace coden {

/// A prediction time that was predicted, and where the time went. What cannot be told
/// apart is shared among the prediction times of a call by their snapshots.
struct PredictedTime {
  int prediction = 0;
  EventTime time = 0;
  std::int64_t num_nodes = 0;
  std::int64_t num_rows = 0;       ///< of the log, since the prediction time before
  std::int64_t num_snapshots = 0;  ///< of the schedule, since then
  double embed_seconds = 0.0;      ///< reading, snapshots and label columns
  double state_seconds = 0.0;  ///< opening model and states, and bringing them forward
  double score_seconds = 0.0;

  /// From when the program has begun to read the rows until their predictions are known.
  double latency_seconds() const { return embed_seconds + state_seconds + score_seconds; }
};

/// What the stage did. The predictions themselves are in the run's files.
struct PredictSummary {
  std::vector<PredictedTime> times;  ///< none: there is nothing new
  std::vector<std::string> notes;
  std::vector<FileRecord> files;  ///< all of the part, staged, to be committed
};

struct PredictTask {
  const PartRecord& trained;
  const PartRecord* earlier;   ///< what was predicted before; null: start after training
  double embed_seconds = 0.0;  ///< that brought the snapshots up to date
};

/// Let the model of the run in `store` predict every prediction time that is not
/// predicted yet: bring the states of the nodes forward through the snapshots and score
/// all nodes of each such time. `settings.train` is that of the training.
///
/// Like Train an entrance of the folder: LibTorch stops here, and so do its exceptions.
arrow::Result<PredictSummary> Predict(const Settings& settings, RunStore& store,
                                      const PredictTask& task, const RunContext& context);

}  // namespace coden
