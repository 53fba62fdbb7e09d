#pragma once

#include <vector>

#include "embed/column_block_internal.h"
#include "embed/propagation_internal.h"
#include "embed/row_graph_internal.h"

namespace coden {

/// What a residue of one at a row can add to ||h - z||_1, by row: an upper bound that
/// holds on any graph of the engine.
std::vector<double> AuditWeights(const RowGraph& graph,
                                 const std::vector<std::int32_t>& degrees,
                                 const PropagationRule& rule);

struct AuditedBound {
  double value;
  double rounding;  ///< what its own computation may be wrong by
};

/// A bound on ||h - z||_1 of one column from its residue, computed from nothing. The
/// route is at the head of residue_audit.cc.
AuditedBound AuditColumn(const RowGraph& graph, const std::vector<std::int32_t>& degrees,
                         const PropagationRule& rule, const std::vector<double>& weights,
                         const ColumnBlock& block, int lane);

}  // namespace coden
