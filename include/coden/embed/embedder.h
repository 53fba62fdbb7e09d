#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "coden/base/operator.h"
#include "coden/embed/embedding_engine.h"
#include "coden/graph/graph_source.h"
#include "coden/graph/node_times.h"
#include "coden/graph/snapshot_graph.h"
#include "coden/read/node_features.h"
#include "coden/sample/schedule.h"

namespace coden {

struct EmbedderOptions {
  EmbedOptions embed;
  bool directed = false;
  ColumnRange columns;  ///< the slice of the features to embed
  arrow::StopToken stop = arrow::StopToken::Unstoppable();
  /// Columns of a whole snapshot row, where `columns` is one slice of it: batches are cut
  /// as those of whole rows are. 0: `columns` is all there is.
  int row_width = 0;
  /// The nodes whose rows are emitted, in order, once they are present; all if not given.
  std::optional<std::vector<NodeId>> chosen = {};
  /// Called when a snapshot is embedded, before its last batch is given out, with its
  /// number.
  std::function<arrow::Status(int)> after_snapshot = {};
  /// Take only every so many-th of `columns`: a sample of them.
  int column_step = 1;

  int num_columns() const { return (columns.size() + column_step - 1) / column_step; }
};

/// What the stage did, for the report.
struct EmbedFigures {
  std::vector<SolveWork> work;  ///< by snapshot
  /// By snapshot: the proven bound on ||h - z||_1 / n of the worst column, as emitted.
  std::vector<double> error_bounds;
};

/// The rows of each snapshot of `schedule` after the first `num_done`: the nodes that are
/// present by then, of the chosen ones.
std::vector<std::int64_t> RowCounts(const Schedule& schedule, int num_done,
                                    const NodeTimes& times,
                                    const std::optional<std::vector<NodeId>>& chosen);

/// The `embed` stage: follow the graph from snapshot to snapshot and give every snapshot
/// as rows (snapshot, node, embedding), in order of snapshot and then node. Nodes are
/// numbers. It is the source of its pass: nothing of the log is left to read.
class Embedder : public arrow::RecordBatchReader {
 public:
  /// Embed the snapshots of `schedule` after the first `num_done`. `nodes` must hold
  /// every node, frozen. With `num_done` above zero the caller puts back what another
  /// embedder had become (src/state/saved_columns.cc). All references must outlive the
  /// stage.
  static arrow::Result<std::unique_ptr<Embedder>> Make(
      const EmbedderOptions& options, const Schedule& schedule, int num_done,
      std::shared_ptr<const NodeTimes> times, GraphSource& graphs,
      const NodeFeatures& features, NodeIdMap& nodes);

  const EmbedFigures& figures() const { return figures_; }
  const EmbedderOptions& options() const { return options_; }
  const SnapshotGraph& graph() const { return graph_; }
  const EmbeddingEngine& engine() const { return engine_; }
  EmbeddingEngine& engine() { return engine_; }

  static SchemaPtr OutputSchema();
  SchemaPtr schema() const override { return OutputSchema(); }
  arrow::Status ReadNext(BatchPtr* batch) override;

 private:
  Embedder(const EmbedderOptions& options, const Schedule& schedule,
           std::shared_ptr<const NodeTimes> times, GraphSource& graphs,
           NodeFeatures::Updates updates, NodeIdMap& nodes);

  /// Let the columns of a feature vector that are embedded be in force.
  void SetFeatures(NodeId node, std::span<const float> vector);
  /// Apply the feature updates at or before `time`.
  arrow::Status UpdateFeatures(EventTime time);
  bool IsPresent(NodeId node, int snapshot) const {
    return times_->since[node] >= 0 && times_->since[node] <= snapshot;
  }
  arrow::Status Embed(const SchedulePoint& point);
  arrow::Status EndSnapshot(const SchedulePoint& point);

  EmbedderOptions options_;
  const Schedule& schedule_;
  std::shared_ptr<const NodeTimes> times_;
  GraphSource& graphs_;
  NodeFeatures::Updates updates_;
  NodeIdMap& nodes_;
  SnapshotGraph graph_;
  EmbeddingEngine engine_;
  std::size_t next_point_ = 0;    // of the schedule
  std::vector<NodeId> rows_;      // of the snapshot that is given out
  std::size_t next_row_ = 0;      // of these
  std::vector<double> rounding_;  // by column, of the rows given out so far
  EmbedFigures figures_;
};

}  // namespace coden
