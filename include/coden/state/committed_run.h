#pragma once

#include <memory>
#include <vector>

#include <arrow/result.h>

#include "coden/graph/graph_source.h"
#include "coden/sample/schedule.h"
#include "coden/state/run_inputs.h"

namespace coden {

/// A run whose snapshots are committed, open again: for those who follow the graph once
/// more without making snapshots. The log stays closed.
struct CommittedRun {
  RunInputs inputs;
  RunProgress progress;
  Schedule schedule;
  std::vector<FileRecord> files;  ///< histories among them

  /// Nodes have the numbers they had.
  static arrow::Result<CommittedRun> Open(const Settings& settings,
                                          const RunStore& store);

  /// The graphs on which edges expire after each of `windows`, which are that of the run
  /// or have been made by MakeWindowHistories. New sources begin at the first snapshot.
  arrow::Result<std::vector<std::unique_ptr<GraphSource>>> Graphs(
      const Settings& settings, const RunStore& store,
      const std::vector<EventTime>& windows) const;
};

}  // namespace coden
