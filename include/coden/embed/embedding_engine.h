#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "coden/embed/solve_work.h"
#include "coden/graph/snapshot_graph.h"
#include "coden/settings/embed_options.h"

namespace coden {

/// Which solver an update uses. The engine chooses; tests force one.
enum class SolverChoice { kAutomatic, kSweeps, kPush };

/// What an engine remembers between updates, besides features, graph and numbers.
struct EngineMemory {
  double pushed = 0.0;          ///< part of the budget that pushes have used up
  std::vector<double> bounds;   ///< by column, as ErrorBounds()
  std::vector<bool> in_double;  ///< by column: float32 could not hold it
};

/// Personalised-PageRank embeddings of all feature columns on a changing graph, each
/// column with a proven bound ||h - z||_1 <= n * epsilon after every update. How, and how
/// the solvers are chosen, is in docs/performance.md and at the heads of the files in
/// src/embed/.
///
/// Columns are kept in float32, or in float64 where float32 cannot hold the bound.
class EmbeddingEngine {
 public:
  EmbeddingEngine(const EmbedOptions& options, int num_columns,
                  SolverChoice choice = SolverChoice::kAutomatic);
  EmbeddingEngine(EmbeddingEngine&&) noexcept;
  EmbeddingEngine& operator=(EmbeddingEngine&&) noexcept;
  ~EmbeddingEngine();

  int num_columns() const;
  NodeId num_nodes() const;

  /// Have at least `num_nodes` nodes; new ones have zero features.
  void Grow(NodeId num_nodes);

  /// Say in which order nodes came in the log: what is near in time is then near in
  /// memory. By node, the lower the earlier, -1 for a node without an event; nodes behind
  /// the last come in the order of their numbers. Connected nodes keep their places.
  void SetArrivals(std::shared_ptr<const std::vector<std::int32_t>> arrivals);

  /// Replace the features of `node`.
  void SetFeatures(NodeId node, std::span<const float> features);

  /// Bring every column within the bound on `graph`, whose changes() since the last call
  /// are not settled yet; the engine must have every node. `num_present` is the n of the
  /// bound: all nodes if not given. Uses the TBB arena of the caller; the result does not
  /// depend on its size. Where `stopped` ends it early the bounds are infinite.
  SolveWork Update(
      const SnapshotGraph& graph, const StopCheck& stopped = [] { return false; },
      std::optional<std::int64_t> num_present = std::nullopt);

  /// Write the embeddings of `nodes`, num_columns() numbers each, as of the last update.
  /// Adds to `rounding`, by column, what rounding to float32 lost.
  void CopyRows(std::span<const NodeId> nodes, float* out,
                std::span<double> rounding) const;

  /// One column of one node, in full precision.
  double Value(NodeId node, int column) const;

  /// A proven bound on ||h - z||_1, by column.
  std::vector<double> ErrorBounds() const;
  /// The largest of them.
  double ErrorBound() const;

  /// Compute the bounds again by another route, in float64 from the features and the
  /// graph of the last update alone, and keep them. Returns the largest ratio of a new
  /// bound to the old one: above one, an old bound was wrong.
  double Audit(const SnapshotGraph& graph);

  /// Columns that float32 could not hold.
  int num_double_columns() const;

  /// Everything that another engine needs to go on from here with the same bits: what it
  /// remembers, the nodes that have or had an arc in the order of their rows, and their
  /// numbers, column by column.
  EngineMemory Memory() const;
  std::vector<NodeId> ConnectedNodes() const;
  void CopyNumbers(int column, std::int64_t first_row, std::span<double> out) const;

  /// Put them back, in this order, into an engine that has all its nodes and the features
  /// of then, and has not been updated. `graph` is that of then.
  void Restore(const SnapshotGraph& graph, std::span<const NodeId> connected,
               const EngineMemory& memory);
  void RestoreNumbers(int column, std::int64_t first_row,
                      std::span<const double> numbers);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace coden
