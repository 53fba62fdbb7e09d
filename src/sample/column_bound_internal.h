#pragma once

#include <cstdint>
#include <vector>

#include "coden/graph/dynamic_graph.h"
#include "sample/neighbourhood_changes_internal.h"

namespace coden {

/// An upper bound on z = PPR(x) of one column x >= 0, node by node, that follows a
/// changing graph event by event. Cheaper and coarser than EmbeddingEngine; the method is
/// at the head of column_bound.cc.
class ColumnBound {
 public:
  /// An undirected graph has with every arc its reverse at each call that takes a graph.
  ColumnBound(double alpha, bool directed);

  void Grow(NodeId num_nodes);

  /// Give `node`, which has and had no arcs, its first feature.
  void SetFirst(NodeId node, double x);
  /// Change a feature; takes effect with the next Settle.
  void Change(NodeId node, double difference);

  /// Forget all features, on `graph`, whose arcs were not told.
  void Clear(const DynamicGraph& graph);

  /// Bring the bound up to the graph after `changes`, which it was not yet told. `mass`
  /// is the sum of the features. Tunes where the graph has doubled since the last time.
  void Settle(const DynamicGraph& graph, const NeighbourhoodChanges& changes,
              double mass);

  /// Choose how close the bound stays and bring it there; visits every node.
  void Tune(const DynamicGraph& graph, double mass);

  /// A number that is at least z(node) on the graph of the last Settle; `degree` is the
  /// node's out-degree in it.
  double Upper(NodeId node, std::int64_t degree);

 private:
  void AddResidue(NodeId node, double amount);
  void Push(const DynamicGraph& graph);
  void EnqueueAll();

  double alpha_;
  bool directed_;
  double tolerance_ = 1.0;
  std::int64_t tuned_arcs_ = 0;
  double largest_share_;  // of a residue that can come to rest at one node
  double positive_residue_ = 0.0;
  double from_reserve_ = 0.0;  // what Upper has given since the last push: the parts of
  double from_residue_ = 0.0;  // the reserve and of the residue
  std::vector<double> h_;
  std::vector<double> r_;
  std::vector<bool> queued_;
  std::vector<NodeId> queue_;
};

}  // namespace coden
