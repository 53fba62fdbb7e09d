#pragma once

#include <vector>

#include <arrow/result.h>

#include "coden/embed/embedder.h"
#include "coden/sample/shifted_graph.h"
#include "coden/store/run_store.h"

namespace coden {

/// Write the graph of an embedder as of its last snapshot: state/graph.parquet, with
/// neighbours and who is present, and state/window.parquet, with what will expire, where
/// there is a window. An undirected edge is written once.
arrow::Result<std::vector<FileRecord>> StageGraph(RunStore& store,
                                                  const Embedder& embedder);

/// Put edges, expiries and present nodes back into a new embedder, or the edges and
/// expiries into a new graph of the sampler.
arrow::Status LoadGraph(const RunStore& store, Embedder& embedder);
arrow::Status LoadGraph(const RunStore& store, NodeId num_nodes, ShiftedGraph& graph);

}  // namespace coden
