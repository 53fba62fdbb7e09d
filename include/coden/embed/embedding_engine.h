#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coden/embed/embed_options.h"
#include "coden/embed/neighbourhood_changes.h"
#include "coden/embed/ppr_block.h"
#include "coden/graph/dynamic_graph.h"

namespace coden {

/// Embeddings of all columns on a changing graph: blocks of columns in parallel, and the
/// three propagation kinds on the one solver.
///
/// `average` and `symmetric` run `mass` on D^b X and scale the result by D^-b, with b = 1
/// and b = 1/2 and D = max(degree, 1). A change of degree is then also a change of
/// features. The bound n * epsilon carries over because D^-b <= 1.
class EmbeddingEngine {
 public:
  EmbeddingEngine(const EmbedOptions& options, int num_columns);

  int num_columns() const { return num_columns_; }
  NodeId num_nodes() const { return static_cast<NodeId>(scale_.size()); }

  /// Have at least `num_nodes` nodes; new ones have zero features.
  void Grow(NodeId num_nodes);

  /// Replace the features of `node`.
  void SetFeatures(NodeId node, std::span<const float> features);

  /// Bring every column within the bound on `graph`, given what changed since the last
  /// call. Uses the TBB arena of the caller; the result does not depend on its size.
  /// Where `stopped` ends it early the embeddings are not within the bound.
  SolveWork Update(
      const DynamicGraph& graph, const NeighbourhoodChanges& changes,
      const StopCheck& stopped = [] { return false; });

  /// Write the embedding of `node`, num_columns() numbers.
  void CopyRow(NodeId node, float* out) const;

  /// One column of one node, in full precision.
  double Value(NodeId node, int column) const;

  /// A bound on ||h - z||_1 of the worst column.
  double ErrorBound() const;

 private:
  struct Block {
    int first_column;
    PprBlock solver;
  };

  std::span<float> Features(NodeId node) {
    return {features_.data() + static_cast<std::size_t>(node) * num_columns_,
            static_cast<std::size_t>(num_columns_)};
  }
  double ScaleFor(std::int64_t degree) const;

  EmbedOptions options_;
  int num_columns_;
  std::vector<Block> blocks_;
  std::vector<float> features_;  // nodes x columns, row by row: what is in force
  std::vector<double> scale_;    // D^b in force, by node
};

}  // namespace coden
