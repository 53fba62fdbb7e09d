#pragma once

#include <functional>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "coden/embed/embedding_engine.h"
#include "coden/embed/event_buffer.h"
#include "coden/embed/schedule_replay.h"
#include "coden/graph/event_graph.h"
#include "coden/pipeline/operator.h"
#include "coden/read/node_features.h"
#include "coden/sample/schedule.h"

namespace coden {

struct EmbedderOptions {
  EmbedOptions embed;
  GraphOptions graph;
  ColumnRange columns;  ///< the slice of the features to embed
  arrow::StopToken stop = arrow::StopToken::Unstoppable();
  /// Columns of a whole snapshot row, where `columns` is one slice of it: batches are cut
  /// as those of whole rows are. 0: `columns` is all there is.
  int row_width = 0;
  /// Nodes that are present from the first snapshot on, because they have features.
  std::vector<NodeId> initial_nodes = {};
  /// Called when a snapshot has been emitted, with its number.
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

/// The `embed` stage: replay the events against a finished schedule and emit every
/// snapshot as rows (snapshot, node, embedding), in order of snapshot and then node.
class Embedder : public Operator {
 public:
  /// `nodes` must hold every node of the log already, as the schedule pass leaves it. All
  /// references must outlive the stage.
  static arrow::Result<std::unique_ptr<Embedder>> Make(const EmbedderOptions& options,
                                                       const Schedule& schedule,
                                                       const NodeFeatures& features,
                                                       NodeIdMap& nodes);

  const EmbedFigures& figures() const { return figures_; }

  /// Go on after `snapshot` snapshots of the schedule were taken by another embedder,
  /// with the events that follow them: let the features of then be in force. What that
  /// one had become is put back by the caller, into graph(), present nodes and engine(),
  /// in this order (src/state/).
  arrow::Status ContinueAfter(int num_snapshots);

  const EmbedderOptions& options() const { return options_; }
  const EventGraph& graph() const { return graph_; }
  EventGraph& graph() { return graph_; }
  const EmbeddingEngine& engine() const { return engine_; }
  EmbeddingEngine& engine() { return engine_; }
  const std::vector<bool>& present() const { return present_; }
  void SetPresent(NodeId node) { present_[node] = true; }

  std::string_view name() const override { return "embed"; }
  arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) override;
  arrow::Status Push(BatchPtr batch, const Emit& emit) override;
  arrow::Status Finish(const Emit& emit) override;

 private:
  Embedder(const EmbedderOptions& options, const Schedule& schedule,
           NodeFeatures::Updates updates, NodeIdMap& nodes);

  /// Let the columns of a feature vector that are embedded be in force.
  void SetFeatures(NodeId node, std::span<const float> vector);
  /// Apply the feature updates at or before `time`.
  arrow::Status UpdateFeatures(EventTime time);
  arrow::Status Take(const SchedulePoint& point, const Emit& emit);
  arrow::Status EmitSnapshot(const SchedulePoint& point, const Emit& emit);

  EmbedderOptions options_;
  ScheduleReplay replay_;
  NodeFeatures::Updates updates_;
  NodeIdMap& nodes_;
  EventGraph graph_;
  NeighbourhoodChanges changes_;
  EventBuffer events_;
  EmbeddingEngine engine_;
  std::vector<bool> present_;
  EmbedFigures figures_;
  SchemaPtr output_;
};

}  // namespace coden
