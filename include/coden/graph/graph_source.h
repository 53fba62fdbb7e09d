#pragma once

#include <arrow/status.h>

#include "coden/graph/snapshot_graph.h"

namespace coden {

/// Where the graphs of the snapshots come from: a history (state/history.h).
class GraphSource {
 public:
  virtual ~GraphSource() = default;
  /// Bring a graph without edges to where it was after `num_snapshots` snapshots.
  virtual arrow::Status Load(int num_snapshots, SnapshotGraph& graph) = 0;
  /// Bring it to a later snapshot; earlier ones that were not asked for are passed over.
  virtual arrow::Status AdvanceTo(int snapshot, SnapshotGraph& graph) = 0;
};

}  // namespace coden
