#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/result.h>

#include "coden/graph/node_id_map.h"
#include "coden/snapshot/snapshot_rows.h"
#include "coden/store/run_store.h"

namespace coden {

/// A snapshot as the run numbers its nodes.
struct NumberedSnapshot {
  SnapshotRows rows;
  std::vector<NodeId> nodes;         ///< by row
  std::vector<std::int32_t> row_of;  ///< by node, or -1

  /// Number the nodes of `rows`, which are of snapshot `snapshot`. A node that the run
  /// does not have is corruption.
  static arrow::Result<NumberedSnapshot> Make(SnapshotRows rows, const NodeIdMap& nodes,
                                              int snapshot);
};

}  // namespace coden
