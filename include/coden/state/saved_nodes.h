#pragma once

#include <memory>
#include <vector>

#include <arrow/result.h>

#include "coden/graph/node_id_map.h"
#include "coden/graph/node_times.h"
#include "coden/sample/lazy_sampler.h"
#include "coden/store/run_store.h"

namespace coden {

/// The schema of state/nodes.parquet (schemas/nodes.csv).
std::shared_ptr<arrow::Schema> NodesSchema(
    const std::shared_ptr<arrow::DataType>& id_type);

/// Write every node, in the order of their numbers. `known` may be shorter than `nodes`:
/// the rest were not seen.
arrow::Result<FileRecord> StageNodes(RunStore& store, const NodeIdMap& nodes,
                                     const std::vector<SampledNode>& known);

/// Number the nodes of an earlier run in `nodes`, which is empty, as they were.
arrow::Result<std::vector<SampledNode>> LoadNodes(const RunStore& store,
                                                  NodeIdMap& nodes);

/// The nodes of a run by themselves.
struct SavedNodes {
  std::unique_ptr<NodeIdMap> ids;
  std::vector<SampledNode> known;
};
arrow::Result<SavedNodes> OpenNodes(const RunStore& store);

/// When each of `num_nodes` nodes came; those behind the last of `known` did not.
std::shared_ptr<const NodeTimes> TimesOf(const std::vector<SampledNode>& known,
                                         NodeId num_nodes);

}  // namespace coden
