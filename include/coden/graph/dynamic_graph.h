#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coden/graph/types.h"

namespace coden {

/// A directed graph whose arcs come and go. Out-neighbours are kept sorted, so that every
/// traversal, and with it every sum of floating-point numbers, has one order, whatever
/// the history of the graph.
class DynamicGraph {
 public:
  NodeId num_nodes() const { return static_cast<NodeId>(out_.size()); }
  std::int64_t num_arcs() const { return num_arcs_; }

  /// Have at least `num_nodes` nodes.
  void Grow(NodeId num_nodes);

  std::span<const NodeId> out_neighbours(NodeId node) const { return out_[node]; }
  std::int64_t out_degree(NodeId node) const {
    return static_cast<std::int64_t>(out_[node].size());
  }
  bool HasArc(NodeId src, NodeId dst) const;

  /// Add an arc that is absent; both ends must be below num_nodes().
  void InsertArc(NodeId src, NodeId dst);
  /// Remove an arc that is present.
  void EraseArc(NodeId src, NodeId dst);

 private:
  std::vector<std::vector<NodeId>> out_;
  std::int64_t num_arcs_ = 0;
};

}  // namespace coden
