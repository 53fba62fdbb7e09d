#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "coden/graph/dynamic_graph.h"

namespace coden {

/// Remember, for every node whose out-neighbourhood changes, what it was at the last
/// Clear.
class NeighbourhoodChanges {
 public:
  struct Change {
    NodeId node;
    std::span<const NodeId> before;  ///< sorted; valid until Clear
  };

  /// In the order of each node's first change.
  std::span<const Change> changes() const { return changes_; }
  bool empty() const { return changes_.empty(); }
  void Clear();

  /// The neighbours of `node` are about to change.
  void BeforeChange(const DynamicGraph& graph, NodeId node);

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
