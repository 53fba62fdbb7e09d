#pragma once

#include <functional>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/embed/embedder.h"
#include "coden/pipeline/progress.h"
#include "coden/pipeline/run_inputs.h"
#include "coden/sample/schedule.h"
#include "coden/snapshot/snapshot_writer.h"
#include "coden/state/run_progress.h"
#include "coden/store/manifest.h"

namespace coden {

/// Hear of a second pass while it runs, to commit what it has done.
class EmbedObserver {
 public:
  virtual ~EmbedObserver() = default;
  /// Snapshot `snapshot` has been embedded and emitted. Called from the thread that
  /// embeds, only where one pass takes all columns.
  virtual arrow::Status OnEmbedded(int snapshot, const Embedder& embedder) = 0;
  /// The file of a snapshot has been staged. Called from the thread that writes; every
  /// OnEmbedded of an earlier snapshot has been called by then.
  virtual arrow::Status OnWritten(WrittenSnapshot written) = 0;
};

struct EmbedPassResult {
  /// Of the snapshots that were taken, in order, as written.
  std::vector<double> error_bounds;
  std::vector<SolveWork> work;
  std::vector<StageFigure> figures;
  /// What the run needs to go on from its last snapshot.
  std::vector<FileRecord> state;
  EngineMemory engine;
  std::vector<ColumnRange> column_files;
};

/// What a second pass works on.
struct EmbedTask {
  const Schedule& schedule;     ///< of the whole run
  const RunProgress& progress;  ///< its first snapshots are done
  SnapshotProvenance provenance;
  int columns_per_pass = 0;
  Operator* before_writer = nullptr;  ///< sees every row on its way; may be none
};

/// Second pass: read -> embed -> snapshot, for the snapshots of the schedule that are not
/// done yet. It is taken for `columns_per_pass` columns at a time; all but the last time
/// the embeddings wait in temporary files. The snapshots do not depend on it, nor on
/// where an earlier run had stopped.
arrow::Result<EmbedPassResult> RunEmbedPasses(const Settings& settings, RunInputs& inputs,
                                              const EmbedTask& task, RunStore& store,
                                              EmbedObserver& observer,
                                              const RunContext& context);

}  // namespace coden
