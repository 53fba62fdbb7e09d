#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "coden/embed/neighbourhood_changes.h"
#include "coden/graph/dynamic_graph.h"
#include "coden/graph/types.h"

namespace coden {

/// What a block of columns had to do to come within the tolerance again.
struct SolveWork {
  std::int64_t sweeps = 0;
  std::int64_t pushes = 0;  ///< nodes pushed, in at least one column
  std::int64_t arcs = 0;    ///< arcs followed by those pushes
};

/// Whether the work is to end early; called from any thread.
using StopCheck = std::function<bool()>;

/// Personalised PageRank of a block of feature columns on a changing graph, exact to
/// ||h - z||_1 <= n * epsilon per column after every Solve. The method is at the head of
/// ppr_block.cc.
///
/// A column's numbers depend on that column, the graph and the order of calls alone: not
/// on the columns beside it, so any cut of columns into blocks gives the same bits.
///
/// Not thread-safe; different blocks may run on different threads over one graph.
class PprBlock {
 public:
  /// Columns that fill a block: two cache lines of doubles per node.
  static constexpr int kWidth = 16;

  /// Columns of a block, padded to a width that fills cache lines. A block of one column
  /// has no padding.
  PprBlock(int num_columns, double alpha, double epsilon);

  int num_columns() const { return num_columns_; }
  NodeId num_nodes() const { return num_nodes_; }

  /// Have at least `num_nodes` nodes; new ones have no features yet.
  void Grow(NodeId num_nodes);

  /// Add `delta`, one number per column, times `scale` to the features of `node`.
  void AddFeatures(NodeId node, std::span<const float> delta, double scale);

  /// Account for a change of the graph; call before Solve, once per change.
  void Compensate(const DynamicGraph& graph,
                  std::span<const NeighbourhoodChanges::Change> changes);

  /// Push until no residue is above epsilon, or until `stopped` says so between two
  /// sweeps; then the invariant holds but the bound does not.
  SolveWork Solve(const DynamicGraph& graph, const StopCheck& stopped);

  /// The approximation h of one node, one number per column.
  std::span<const double> Row(NodeId node) const {
    return {h_.data() + Offset(node), static_cast<std::size_t>(num_columns_)};
  }

  /// The largest ||r||_1 of a column: a bound on its ||h - z||_1.
  double ErrorBound() const;

 private:
  std::size_t Offset(NodeId node) const {
    return static_cast<std::size_t>(node) * width_;
  }
  void MarkDirty(NodeId node) { dirty_[node >> 6] |= std::uint64_t{1} << (node & 63); }

  template <int kWidth>
  void CompensateColumns(const DynamicGraph& graph,
                         std::span<const NeighbourhoodChanges::Change> changes);

  int num_columns_;
  int width_;
  double alpha_;
  double epsilon_;
  NodeId num_nodes_ = 0;
  std::vector<double> h_;  // num_nodes x width, row by row
  std::vector<double> r_;  // the same
  std::vector<std::uint64_t>
      dirty_;  // one bit per node: its residue may be above epsilon
};

}  // namespace coden
