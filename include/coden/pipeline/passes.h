#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/graph/node_id_map.h"
#include "coden/store/manifest.h"
#include "coden/pipeline/progress.h"
#include "coden/pipeline/settings.h"
#include "coden/read/edge_log.h"
#include "coden/read/node_features.h"
#include "coden/sample/schedule.h"
#include "coden/snapshot/snapshot_writer.h"

namespace coden {

/// The inputs of the embedding, open and checked as far as footers and features tell.
struct RunInputs {
  EdgeLog log;
  std::unique_ptr<NodeIdMap> nodes;
  NodeFeatures features;
  ColumnRange columns;  ///< the slice to embed

  static arrow::Result<RunInputs> Open(const Settings& settings);
};

/// What the first pass over the log finds out.
struct SchedulePassResult {
  Schedule schedule;
  std::vector<EventTime> first_event;  ///< by node; LazySampler::kNever for none
  std::vector<StageFigure> figures;
  std::vector<std::string> notes;
};

/// First pass: read -> partition -> sample. Numbers every node of the log in
/// `inputs.nodes`.
arrow::Result<SchedulePassResult> RunSchedulePass(const Settings& settings,
                                                  RunInputs& inputs,
                                                  const RunContext& context);

struct EmbedPassResult {
  std::vector<FileRecord> files;
  std::vector<double> error_bounds;  ///< by snapshot (SchedulePoint::error_bound)
  std::vector<StageFigure> figures;
};

/// Second pass: read -> embed -> snapshot, against the schedule of the first. It is taken
/// for `columns_per_pass` columns at a time; all but the last time the embeddings wait in
/// temporary files. The snapshots do not depend on it.
arrow::Result<EmbedPassResult> RunEmbedPasses(const Settings& settings, RunInputs& inputs,
                                              const SchedulePassResult& scheduled,
                                              int columns_per_pass,
                                              const SnapshotProvenance& provenance,
                                              const RunContext& context);

/// The schema of state/nodes.parquet (schemas/nodes.csv).
std::shared_ptr<arrow::Schema> NodesSchema(
    const std::shared_ptr<arrow::DataType>& id_type);

/// Every node with the time of its first event, in the order of the snapshots.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> NodesBatch(
    const NodeIdMap& nodes, const std::vector<EventTime>& first_event);

}  // namespace coden
