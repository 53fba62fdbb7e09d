#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <arrow/result.h>

#include "coden/graph/node_id_map.h"
#include "coden/pipeline/settings.h"
#include "coden/read/edge_log.h"
#include "coden/read/node_features.h"
#include "coden/state/run_progress.h"
#include "coden/state/saved_nodes.h"
#include "coden/store/run_store.h"

namespace coden {

/// What an earlier run has left in its directory to go on from.
struct EarlierRun {
  const RunStore& store;
  const RunProgress& progress;
  std::vector<std::string> edge_files;  ///< names of the files of its log, in order
};

/// The inputs of the embedding, open and checked as far as footers and features tell.
struct RunInputs {
  EdgeLog log;
  std::unique_ptr<NodeIdMap> nodes;
  NodeFeatures features;
  ColumnRange columns;           ///< the slice to embed
  std::vector<SavedNode> saved;  ///< by node: those of the earlier run
  /// With `graph.window`: the most insertions that have waited for their expiry at once,
  /// where a first pass has counted them.
  std::optional<std::int64_t> most_pending;

  /// With an earlier run its nodes keep their numbers, and files that it has read come
  /// first in the log.
  static arrow::Result<RunInputs> Open(const Settings& settings,
                                       const EarlierRun* earlier = nullptr);
};

/// Refuse inputs whose history is no longer what the earlier run has read: other features
/// than before, or, where `verify_log` asks for it, other rows of the log. Reads the rows
/// that were used.
arrow::Status CheckHistory(const Settings& settings, RunInputs& inputs,
                           const RunProgress& progress, bool verify_log);

}  // namespace coden
