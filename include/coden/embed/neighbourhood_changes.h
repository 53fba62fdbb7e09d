#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "coden/graph/event_graph.h"

namespace coden {

/// Remember, for every node whose out-neighbourhood may have changed since the last
/// Clear, what it was. Events that cancel leave old and new equal, and so no trace in P'
/// - P.
class NeighbourhoodChanges : public ArcObserver {
 public:
  struct Change {
    NodeId node;
    std::uint32_t rank;              ///< for SortByRank
    std::span<const NodeId> before;  ///< sorted; valid until Clear
  };

  /// In the order of each node's first change.
  std::span<const Change> changes() const { return changes_; }
  bool empty() const { return changes_.empty(); }
  void Clear();

  /// Forget the nodes whose neighbours in `graph`, the one observed, are what they were.
  void Settle(const DynamicGraph& graph);

  void BeforeChange(const DynamicGraph& graph, NodeId node) override;
  void AfterChange(const DynamicGraph&, NodeId) override {}

  /// The same where changes come in another order than that of the events: `rank` says
  /// where the first change of `node` belongs, and SortByRank brings the changes from
  /// number `first` on into this order.
  void BeforeChange(const DynamicGraph& graph, NodeId node, std::uint32_t rank);
  void SortByRank(std::size_t first);

 private:
  std::span<const NodeId> Keep(std::span<const NodeId> neighbours);

  // Old neighbours one behind the other, in blocks that never move.
  struct Block {
    std::unique_ptr<NodeId[]> slots;
    std::size_t size;
  };

  std::vector<Change> changes_;
  std::vector<bool> recorded_;  // by node
  std::vector<Block> blocks_;
  std::size_t used_ = 0;  // slots of the last block
};

}  // namespace coden
