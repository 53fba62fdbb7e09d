#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <arrow/result.h>

#include "coden/graph/node_id_map.h"
#include "coden/read/edge_log.h"
#include "coden/read/node_features.h"
#include "coden/settings/settings.h"
#include "coden/state/run_progress.h"
#include "coden/state/saved_nodes.h"
#include "coden/store/manifest.h"
#include "coden/store/run_store.h"

namespace coden {

/// What an earlier run has left in its directory to go on from.
struct EarlierRun {
  const RunStore& store;
  const RunProgress& progress;
  const PartRecord& embed;  ///< of its manifest
};

/// The inputs of the embedding, open and checked as far as footers and features tell.
struct RunInputs {
  EdgeLog log;  ///< closed for those who follow the history instead
  std::unique_ptr<NodeIdMap> nodes;
  NodeFeatures features;
  ColumnRange columns;             ///< the slice to embed
  std::vector<SampledNode> saved;  ///< by node: those of the earlier run
  /// With `graph.window`: the most insertions that have waited for their expiry at once,
  /// where a first pass has counted them.
  std::optional<std::int64_t> most_pending;

  /// With an earlier run its nodes keep their numbers, and files that it has read come
  /// first in the log.
  static arrow::Result<RunInputs> Open(const Settings& settings,
                                       const EarlierRun* earlier = nullptr);

  /// The same without the log, which is left closed: for everybody who follows the
  /// history. The nodes are frozen.
  static arrow::Result<RunInputs> OpenWithoutLog(const Settings& settings,
                                                 const EarlierRun& earlier);

  /// When the nodes came.
  std::shared_ptr<const NodeTimes> Times() const { return TimesOf(saved, nodes->size()); }
};

/// Refuse features or feature updates that are no longer what the earlier run has read.
arrow::Status CheckFeatures(const Settings& settings, RunInputs& inputs,
                            const RunProgress& progress);

/// Refuse a log that lacks rows that the earlier run has used, or, with `verify`, has
/// others in their place: then reads them.
arrow::Status CheckLog(const Settings& settings, RunInputs& inputs,
                       const RunProgress& progress, bool verify);

}  // namespace coden
