#pragma once

#include <vector>

#include "coden/base/types.h"

namespace coden {

/// Index of a node's numbers inside the engine.
using Row = std::int32_t;

/// Which row holds which node. Nodes that have, or ever had, an arc come first, in the
/// order of their first arc; the others need no solving and stay behind them.
///
/// Order of arrival keeps neighbours near and puts hubs, which come early, together, and
/// it never has to be made again when the graph changes.
class RowOrder {
 public:
  void Grow(NodeId num_nodes) {
    for (auto node = static_cast<NodeId>(row_of_.size()); node < num_nodes; ++node) {
      row_of_.push_back(node);
      node_at_.push_back(node);
    }
  }

  NodeId num_nodes() const { return static_cast<NodeId>(row_of_.size()); }
  Row num_connected() const { return num_connected_; }
  Row row_of(NodeId node) const { return row_of_[node]; }
  NodeId node_at(Row row) const { return node_at_[row]; }
  bool connected(NodeId node) const { return row_of_[node] < num_connected_; }

  /// Move `node` to the end of the connected rows and return the row it came from; its
  /// new row is num_connected() - 1, whose node has gone the other way.
  Row Connect(NodeId node) {
    const Row from = row_of_[node];
    const Row to = num_connected_++;
    const NodeId displaced = node_at_[to];
    node_at_[from] = displaced;
    row_of_[displaced] = from;
    node_at_[to] = node;
    row_of_[node] = to;
    return from;
  }

 private:
  std::vector<Row> row_of_;
  std::vector<NodeId> node_at_;
  Row num_connected_ = 0;
};

}  // namespace coden
