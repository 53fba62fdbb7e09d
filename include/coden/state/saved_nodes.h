#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/result.h>

#include "coden/graph/node_id_map.h"
#include "coden/sample/lazy_sampler.h"
#include "coden/store/run_store.h"

namespace coden {

/// A node as the next run finds it: a row of state/nodes.parquet.
struct SavedNode {
  SampledNode sampled;
  /// The first snapshot that the node's row of the features was known to; -1 where it has
  /// none.
  std::int32_t features_since = -1;
};

/// The schema of state/nodes.parquet (schemas/nodes.csv).
std::shared_ptr<arrow::Schema> NodesSchema(
    const std::shared_ptr<arrow::DataType>& id_type);

/// Write every node, in the order of the snapshots. `saved` may be shorter than `nodes`:
/// the rest were not seen.
arrow::Result<FileRecord> StageNodes(RunStore& store, const NodeIdMap& nodes,
                                     const std::vector<SavedNode>& saved);

/// Number the nodes of an earlier run in `nodes`, which is empty, as they were.
arrow::Result<std::vector<SavedNode>> LoadNodes(const RunStore& store, NodeIdMap& nodes);

}  // namespace coden
