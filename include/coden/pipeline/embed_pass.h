#pragma once

#include <optional>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/embed/embedder.h"
#include "coden/sample/schedule.h"
#include "coden/snapshot/snapshot_cache.h"
#include "coden/snapshot/snapshot_writer.h"
#include "coden/state/run_inputs.h"
#include "coden/state/run_progress.h"
#include "coden/state/saved_slice.h"
#include "coden/store/manifest.h"

namespace coden {

/// Hear of a second pass while it runs, to commit what it has done.
class EmbedObserver {
 public:
  virtual ~EmbedObserver() = default;
  /// Snapshot `snapshot` has been embedded. Called from the thread that embeds, only by
  /// RunEmbedPass, for every snapshot, in order.
  virtual arrow::Status OnEmbedded(int snapshot, const Embedder& embedder) = 0;
  /// The file of a snapshot has been staged. Called from the thread that writes, for
  /// every snapshot, in order. In RunEmbedPass OnEmbedded of this snapshot has returned
  /// by then: the embedder calls it before it gives the snapshot's last rows out.
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

/// What a second pass works on: a schedule, its history, and how many snapshots are done.
struct EmbedTask {
  const Schedule& schedule;     ///< of the whole run
  const RunProgress& progress;  ///< its first snapshots are done
  std::vector<FileRecord> history;
  SnapshotProvenance provenance;
  SnapshotCache* cache = nullptr;  ///< sees every row on its way; may be none
};

/// The nodes whose rows snapshots have, sorted; nothing where that is all of them.
arrow::Result<std::optional<std::vector<NodeId>>> ChosenNodes(const Settings& settings,
                                                              const NodeIdMap& nodes);

/// Second pass: embed -> snapshot, for the snapshots of the schedule that are not done
/// yet.
arrow::Result<EmbedPassResult> RunEmbedPass(const Settings& settings, RunInputs& inputs,
                                            const EmbedTask& task, RunStore& store,
                                            EmbedObserver& observer,
                                            const RunContext& context);

/// Second pass for some of the columns: embed -> slice. `step` is its name for
/// the progress. The files go into the store's stage; the slice is not published.
arrow::Result<SavedSlice> RunSlicePass(const Settings& settings, RunInputs& inputs,
                                       const EmbedTask& task, const ColumnRange& columns,
                                       const std::string& step, RunStore& store,
                                       const RunContext& context);

/// Write the snapshots of slices that lie side by side and hold all columns: slices ->
/// snapshot. The files are those of RunEmbedPass, to the last byte.
arrow::Result<EmbedPassResult> RunJoinPass(const Settings& settings, RunInputs& inputs,
                                           const EmbedTask& task,
                                           const std::vector<SavedSlice>& slices,
                                           RunStore& store, EmbedObserver& observer,
                                           const RunContext& context);

}  // namespace coden
