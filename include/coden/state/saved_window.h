#pragma once

#include <deque>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "coden/graph/event_graph.h"
#include "coden/store/run_store.h"

namespace coden {

/// Write the insertions that `graph.window` will let expire, oldest first, as the file
/// `name` of the run.
arrow::Result<FileRecord> StageWindow(RunStore& store, std::string_view name,
                                      const std::deque<PendingExpiry>& pending);

/// Read them back, for a graph of `num_nodes` nodes.
arrow::Result<std::vector<PendingExpiry>> LoadWindow(const RunStore& store,
                                                     std::string_view name, bool directed,
                                                     NodeId num_nodes);

}  // namespace coden
