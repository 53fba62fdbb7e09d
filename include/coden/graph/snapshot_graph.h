#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/status.h>

#include "coden/base/huge_page_allocator.h"
#include "coden/base/types.h"
#include "coden/graph/edge_change.h"

namespace coden {

/// The graph at one snapshot, brought to the next one by net changes. Out-neighbours are
/// sorted, so that every traversal, and with it every sum of floating-point numbers, has
/// one order, whatever the history of the graph. How they are stored is told at the head
/// of snapshot_graph.cc.
///
/// Between two calls of Apply nothing changes, and reading is safe from several threads.
class SnapshotGraph {
 public:
  explicit SnapshotGraph(bool directed) : directed_(directed) {}

  bool directed() const { return directed_; }
  NodeId num_nodes() const { return static_cast<NodeId>(lists_.size()); }
  std::int64_t num_arcs() const { return num_arcs_; }

  /// Have at least `num_nodes` nodes.
  void Grow(NodeId num_nodes) {
    if (num_nodes > this->num_nodes()) lists_.resize(num_nodes);
  }

  /// Valid until the next Apply or Settle, where the list of `node` changes.
  std::span<const NodeId> out_neighbours(NodeId node) const {
    return {lists_[node].begin, lists_[node].size};
  }
  std::int64_t out_degree(NodeId node) const { return lists_[node].size; }
  bool HasArc(NodeId src, NodeId dst) const;

  /// Change the graph. `changes` are sorted, name every edge once, undirected ones by
  /// their lower end first, and lie below num_nodes(). An edge that comes must be absent
  /// and one that goes present: otherwise a corruption error, and the graph is of no use.
  arrow::Status Apply(std::span<const EdgeChange> changes);

  /// A node whose out-neighbours have changed since the last Settle, and what they were.
  /// After several calls of Apply they may be the same again.
  struct Change {
    NodeId node;
    std::span<const NodeId> before;  ///< sorted; valid until Settle
  };
  /// By node within one call of Apply.
  std::span<const Change> changes() const { return changes_; }
  /// Whoever follows the graph has taken note of the changes.
  void Settle();

  /// Bytes set aside for neighbours, used or not, and for the heads of their lists.
  std::int64_t MemoryBytes() const;

 private:
  using Array = std::vector<NodeId, HugePageAllocator<NodeId>>;
  struct List {
    const NodeId* begin = nullptr;
    std::uint32_t size = 0;
    bool changed = false;  // since the last Settle
  };
  struct Block {
    std::unique_ptr<NodeId[]> slots;
    std::size_t size;
  };
  class ChangesByNode;

  void NoteChange(NodeId node);
  arrow::Status ApplyToLists(ChangesByNode& changes);
  arrow::Status Rewrite(ChangesByNode* changes);
  NodeId* Reserve(std::size_t count);

  bool directed_;
  std::vector<List> lists_;       // by node
  Array base_;                    // lists one behind the other, by node
  std::vector<Array> old_bases_;  // what it was since the last Settle
  // Lists that have changed since the base was written, in blocks that never move.
  std::vector<Block> overlay_;
  std::size_t overlay_used_ = 0;    // slots of the last block
  std::size_t overlay_size_ = 0;    // of all blocks
  bool overlay_is_merged_ = false;  // no list is there any more
  std::int64_t num_arcs_ = 0;
  std::vector<Change> changes_;
};

}  // namespace coden
