#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/generate/generate.h"

namespace coden {

/// Options of the dynamic stochastic block model. One step is one unit of time.
struct SbmOptions {
  std::string out = {};
  std::int64_t nodes = 2000;
  int communities = 5;
  int features = 16;
  std::int64_t steps = 60;
  double edges_per_step = 0.75;
  int lifetime = 2;
  double within = 0.7;
  double switch_probability = 0.007;  ///< the flag is `switch`
  double profiled = 0.3;
  double signal = 4.0;
  std::uint64_t seed = 0;

  static std::span<const GenerateFlag<SbmOptions>> Flags();
};

/// Write a graph of communities that changes with time, for trying out temporal models:
/// edges.parquet (src, dst, time, op), features.parquet (node, x) and labels.parquet
/// (node, label, time) in the directory `out`, replacing files of these names.
///
/// Read the log as undirected and `graph.events = signed`: an insert always adds an
/// absent edge and a delete always removes a present one. A node's label is its
/// community: one row at time 0 and one for every change.
///
/// With the defaults, history matters, for three reasons that can be pointed at:
/// - Edges are brief. After `lifetime` steps an edge is deleted, so at any moment a node
///   has a handful of edges, some of which lead elsewhere: the current graph is a sparse
///   and noisy view of the communities, but every few steps bring a fresh one. Even the
///   true labels of most nodes, spread over the current graph, say less than history.
/// - Features say little of the node itself. Only the share `profiled` of the nodes has
///   any (mean of the community at time 0, plus noise); the others have zeros. They are
///   never updated, so they grow stale as nodes move. A node is known by the profiles its
///   edges lead to, and today's edges lead to few.
/// - Nodes change community, rarely. Old views are worth keeping but not for ever, so how
///   fast to forget is to be learnt. It shows late in the log, when many have moved.
///
/// The rows depend on the options alone, on any machine, and with one version of Arrow so
/// do the bytes of the files. Memory grows with nodes and live edges, not with `steps`.
/// The files appear when all rows are written; an error or a stop before leaves earlier
/// files as they were.
arrow::Result<GenerateSummary> GenerateSbm(const SbmOptions& options,
                                           const RunContext& context);

}  // namespace coden
