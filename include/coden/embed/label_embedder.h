#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "coden/embed/embedding_engine.h"
#include "coden/graph/graph_source.h"
#include "coden/graph/node_times.h"
#include "coden/graph/snapshot_graph.h"
#include "coden/sample/schedule.h"
#include "coden/settings/graph_options.h"

namespace coden {

/// A training label that others may read.
struct LabelSeed {
  NodeId node = kNoNode;
  int fold = 0;   ///< of the node: one and the same in all its seeds
  int label = 0;  ///< class; -1: from then on the node has no label that others read
  /// When the label becomes known.
  EventTime from = std::numeric_limits<EventTime>::min();
};

struct LabelEmbedderOptions {
  EmbedOptions embed;  ///< `alpha` is each of `alphas`
  GraphOptions graph;
  std::vector<double> alphas;
  /// By each of them the labels travel on a graph of its own, whose `graph.window` it is;
  /// 0: edges do not expire.
  std::vector<EventTime> windows = {0};
  /// With a single fold nodes without a seed read all labels, the others none.
  int num_folds = 0;
  int num_classes = 0;
  arrow::StopToken stop = arrow::StopToken::Unstoppable();
  /// Called at every snapshot, when the columns are those of it.
  std::function<arrow::Status(const SchedulePoint&)> after_snapshot = {};
};

/// Let known labels travel as feature columns do: follow the graph from snapshot to
/// snapshot of a schedule, and have at each of them, for every node, how much of each
/// class reaches it. No node reads its own label, nor that of a node of its fold. How is
/// told at the head of label_embedder.cc.
///
/// Gives nothing out: `after_snapshot` takes what it needs.
class LabelEmbedder {
 public:
  /// A seed is in force from the first snapshot at or after its time on, and replaces
  /// what came before for its node: of seeds with one time the last one counts. `graphs`
  /// has a source for each window. The nodes are those of `times`. `schedule`, which may
  /// leave snapshots out, must outlive the object.
  static arrow::Result<std::unique_ptr<LabelEmbedder>> Make(
      const LabelEmbedderOptions& options, const Schedule& schedule,
      std::vector<LabelSeed> seeds, const std::shared_ptr<const NodeTimes>& times,
      std::vector<std::unique_ptr<GraphSource>> graphs);

  /// Take the snapshots of the schedule that were not taken yet.
  arrow::Status Run();

  /// Numbers per node: windows x alphas x classes.
  int width() const;

  /// Write width() numbers for each of `nodes`, as of the last snapshot: by window, then
  /// alpha, then class. Safe from several threads between snapshots.
  void CopyRows(std::span<const NodeId> nodes, float* out) const;

  /// The fold whose labels a node does not read; -1 where it has no seed at any time, and
  /// reads the mean of what the folds leave out.
  int fold_of(NodeId node) const { return folds_[node]; }
  /// By node, the column of every engine that its label is in now: fold * classes +
  /// class, or -1.
  std::span<const int> columns() const { return columns_; }

  /// Go on after `num_snapshots` snapshots of the schedule were taken by another one.
  /// `columns` are those of that one, which may have had fewer nodes and other seeds:
  /// what differs enters at the next snapshot. No node may have changed its fold. Brings
  /// the graphs to where they were; the caller puts back the engines (src/state/).
  arrow::Status ContinueAfter(int num_snapshots, std::span<const int> columns);

  const LabelEmbedderOptions& options() const { return options_; }
  const Schedule& schedule() const { return schedule_; }
  /// Snapshots taken so far; one that is being taken counts.
  int num_snapshots() const { return static_cast<int>(next_point_); }
  /// Of every engine.
  int num_columns() const { return options_.num_folds * options_.num_classes; }
  NodeId num_nodes() const { return static_cast<NodeId>(folds_.size()); }
  const SnapshotGraph& graph(int window) const { return windows_[window].graph; }
  const EmbeddingEngine& engine(int window, int alpha) const {
    return windows_[window].engines[alpha];
  }
  EmbeddingEngine& engine(int window, int alpha) {
    return windows_[window].engines[alpha];
  }

 private:
  // A graph and, by alpha, what travels on it.
  struct Window {
    std::unique_ptr<GraphSource> source;
    SnapshotGraph graph;
    std::vector<EmbeddingEngine> engines;
  };

  LabelEmbedder(const LabelEmbedderOptions& options, const Schedule& schedule,
                std::vector<LabelSeed> seeds,
                const std::shared_ptr<const NodeTimes>& times,
                std::vector<std::unique_ptr<GraphSource>> graphs);

  EmbedOptions EmbedOptionsOf(double alpha) const;
  int ColumnOf(const LabelSeed& seed) const {
    return seed.label < 0 ? -1 : seed.fold * options_.num_classes + seed.label;
  }
  /// Let a node have its mass in one column, or in none where it is -1.
  void SetColumn(NodeId node, int column);
  arrow::Status Take(const SchedulePoint& point);

  LabelEmbedderOptions options_;
  const Schedule& schedule_;
  std::size_t next_point_ = 0;
  std::vector<LabelSeed> seeds_;  // by time
  std::size_t next_seed_ = 0;
  std::vector<int> folds_;    // by node
  std::vector<int> columns_;  // by node
  // Nodes that had another column when another embedder left off, with the right one.
  std::vector<std::pair<NodeId, int>> late_;
  std::deque<Window> windows_;
};

}  // namespace coden
