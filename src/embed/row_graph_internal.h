#pragma once

#include <span>

#include "coden/graph/snapshot_graph.h"
#include "embed/row_order_internal.h"

namespace coden {

/// The graph by row: connected rows and where their arcs go.
class RowGraph {
 public:
  RowGraph(const SnapshotGraph& graph, const RowOrder& order)
      : graph_(graph), order_(order) {}

  Row size() const { return order_.num_connected(); }
  std::span<const NodeId> neighbours(Row row) const {
    return graph_.out_neighbours(order_.node_at(row));
  }
  Row row_of(NodeId node) const { return order_.row_of(node); }
  std::int64_t num_arcs() const { return graph_.num_arcs(); }

  template <typename Visit>
  void ForEachTarget(Row row, Visit visit) const {
    for (const NodeId node : neighbours(row)) visit(order_.row_of(node));
  }

 private:
  const SnapshotGraph& graph_;
  const RowOrder& order_;
};

}  // namespace coden
