#pragma once

#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/embed/embedder.h"
#include "coden/sample/shifted_graph.h"
#include "coden/store/run_layout.h"
#include "coden/store/run_store.h"

namespace coden {

/// The names of the files that a graph is saved in.
struct GraphFiles {
  std::string graph = std::string(RunLayout::kGraph);
  std::string window = std::string(RunLayout::kWindow);
};

/// Write a graph with what will expire, where there is a window, and who of its nodes is
/// `present`; nobody where that is empty. An undirected edge is written once.
arrow::Result<std::vector<FileRecord>> StageGraph(RunStore& store,
                                                  const GraphFiles& files,
                                                  const EventGraph& events,
                                                  const std::vector<bool>& present);

/// Put edges and expiries back into a new graph of `num_nodes` nodes.
arrow::Status LoadGraph(const RunStore& store, const GraphFiles& files, NodeId num_nodes,
                        EventGraph& graph);

/// Write the graph of an embedder as of its last snapshot: state/graph.parquet, with
/// neighbours and who is present, and state/window.parquet, with what will expire, where
/// there is a window.
arrow::Result<std::vector<FileRecord>> StageGraph(RunStore& store,
                                                  const Embedder& embedder);

/// Put edges, expiries and present nodes back into a new embedder, or the edges and
/// expiries into a new graph of the sampler.
arrow::Status LoadGraph(const RunStore& store, Embedder& embedder);
arrow::Status LoadGraph(const RunStore& store, NodeId num_nodes, ShiftedGraph& graph);

}  // namespace coden
