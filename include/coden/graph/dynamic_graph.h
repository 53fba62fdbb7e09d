#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coden/base/types.h"
#include "coden/graph/edge_change.h"

namespace coden {

/// A directed graph whose arcs come and go. Out-neighbours are kept sorted, so that every
/// traversal, and with it every sum of floating-point numbers, has one order, whatever
/// the history of the graph. How they are stored is told at the head of dynamic_graph.cc.
///
/// A span of neighbours is valid until the graph changes. Reading is safe from several
/// threads.
class DynamicGraph {
 public:
  NodeId num_nodes() const { return static_cast<NodeId>(lists_.size()); }
  std::int64_t num_arcs() const { return num_arcs_; }

  /// Have at least `num_nodes` nodes.
  void Grow(NodeId num_nodes);

  std::span<const NodeId> out_neighbours(NodeId node) const {
    return {Begin(node), lists_[node].size};
  }
  std::int64_t out_degree(NodeId node) const { return lists_[node].size; }
  bool HasArc(NodeId src, NodeId dst) const { return FindArc(src, dst).present; }

  /// Add an arc that is absent; both ends must be below num_nodes().
  void InsertArc(NodeId src, NodeId dst);
  /// Remove an arc that is present.
  void EraseArc(NodeId src, NodeId dst);

  /// Where an arc is among the neighbours of its source, or belongs. Valid until these
  /// neighbours change.
  struct ArcPlace {
    NodeId src;
    NodeId dst;
    std::uint32_t index;
    bool present;
  };
  /// Find an arc whose source is below num_nodes().
  ArcPlace FindArc(NodeId src, NodeId dst) const;
  /// Find the arc that goes the other way.
  ArcPlace Reverse(const ArcPlace& place) const { return FindArc(place.dst, place.src); }
  /// Add the arc where it is absent, remove it where it is present.
  void Toggle(const ArcPlace& place);
  /// All arcs, sorted; of a graph that is not directed those from a lower end.
  std::vector<EdgeChange> Edges(bool directed) const;

  /// The arc from `src` is asked for soon: fetch what leads to its neighbours. Always
  /// inlined: see DegreeGraph.
  [[gnu::always_inline]] void Prefetch(NodeId src, NodeId /*dst*/) const {
    if (src >= num_nodes()) return;
    __builtin_prefetch(&lists_[src]);
    __builtin_prefetch(&pools_[src >> kNodesPerPoolLog2]);
  }
  /// Bytes set aside for this graph, used or not.
  std::int64_t MemoryBytes() const;

 private:
  static constexpr int kNodesPerPoolLog2 = 8;
  static constexpr std::uint32_t kNear = 2;

  // The neighbours of one node: in `near` where the capacity is kNear, otherwise at
  // `offset` in the slots of the node's pool.
  struct List {
    union {
      std::uint64_t offset;
      NodeId near[kNear] = {};
    };
    std::uint32_t size = 0;
    std::uint32_t capacity = kNear;
  };

  // The longer lists of 2^kNodesPerPoolLog2 consecutive nodes. Slots from `used` on have
  // never been given out.
  struct Pool {
    std::vector<NodeId> slots;
    std::uint64_t used = 0;
    std::uint64_t live = 0;  // sum of the sizes of the lists in here
  };

  const NodeId* Begin(NodeId node) const {
    const List& list = lists_[node];
    if (list.capacity == kNear) return list.near;
    return pools_[node >> kNodesPerPoolLog2].slots.data() + list.offset;
  }
  NodeId* Begin(NodeId node) {
    return const_cast<NodeId*>(static_cast<const DynamicGraph*>(this)->Begin(node));
  }
  void MakeRoom(NodeId node);
  void Compact(NodeId node, std::uint32_t more = 0);

  std::vector<List> lists_;  // by node
  std::vector<Pool> pools_;
  std::int64_t num_arcs_ = 0;
};

}  // namespace coden
