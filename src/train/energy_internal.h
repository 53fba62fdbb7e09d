#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/graph/snapshot_graph.h"
#include "coden/settings/settings.h"
#include "coden/store/run_store.h"
#include "train/training_input_internal.h"

namespace coden {

/// Dirichlet energy of vectors on the nodes of a graph.
struct Energy {
  double energy = 0.0;
  double squares = 0.0;       ///< the sum of squares of the vectors of nodes with arcs
  std::int64_t left_out = 0;  ///< arcs with an end that has no vector

  double relative() const;  ///< energy / squares; NaN where there is nothing
};

/// Return 1/2 sum over arcs (i, j) of ||m_i / sqrt(1 + d_i) - m_j / sqrt(1 + d_j)||^2.
/// `row_of` gives the row of a node in `rows`, [any, width], or -1. The result does not
/// depend on the threads.
Energy DirichletEnergy(const SnapshotGraph& graph, std::span<const std::int64_t> row_of,
                       std::span<const float> rows, std::int64_t width);

/// The vectors [nodes, channels] of the training data at a prediction time; empty: none.
using VectorsAt = std::function<arrow::Result<std::vector<float>>(std::int64_t k)>;

/// Follow the graph of the run in `store` and return the energy at every prediction time,
/// NaN where `vectors` has none.
arrow::Result<std::vector<Energy>> MeasureEnergy(const Settings& settings,
                                                 const RunStore& store,
                                                 const TrainingInput& input,
                                                 const VectorsAt& vectors,
                                                 const RunContext& context);

}  // namespace coden
