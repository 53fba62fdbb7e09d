#include "coden/pipeline/run_inputs.h"

#include <algorithm>

#include <arrow/record_batch.h>

#include "coden/pipeline/error.h"
#include "coden/state/log_hasher.h"

namespace coden {

namespace {

constexpr std::string_view kWaysOut =
    "; give it back as it was, choose another `run.directory`, or rebuild with --force";

arrow::Status ChangedHistory(std::string_view what) {
  return HistoryError("the history of the run has changed: ", what, kWaysOut);
}

// The hash of the events of one segment, as they are now.
arrow::Result<std::string> HashSegment(const Settings& settings, RunInputs& inputs,
                                       const LogSegment& segment) {
  EventReader reader(settings.input.edges, settings.graph.events, *inputs.nodes,
                     inputs.log.num_before + segment.first_row);
  LogHasher hasher;
  ARROW_ASSIGN_OR_RAISE(
      const auto rows,
      inputs.log.Scan(settings.input.batch_rows, segment.first_row, segment.end_row()));
  ARROW_RETURN_NOT_OK(reader.Bind(rows->schema()).status());
  const Emit discard = [](const BatchPtr&) { return arrow::Status::OK(); };
  const Emit hash = [&](BatchPtr batch) {
    return hasher.Push(std::move(batch), discard);
  };
  for (BatchPtr batch;;) {
    ARROW_RETURN_NOT_OK(rows->ReadNext(&batch));
    if (batch == nullptr) return hasher.Digest();
    ARROW_RETURN_NOT_OK(reader.Push(std::move(batch), hash));
  }
}

}  // namespace

arrow::Result<RunInputs> RunInputs::Open(const Settings& settings,
                                         const EarlierRun* earlier) {
  RunInputs inputs;
  ARROW_ASSIGN_OR_RAISE(inputs.log, EdgeLog::Open(settings.input, settings.graph.events,
                                                  earlier ? earlier->edge_files
                                                          : std::vector<std::string>()));
  ARROW_ASSIGN_OR_RAISE(inputs.nodes, NodeIdMap::Make(inputs.log.id_type));
  if (earlier != nullptr) {
    ARROW_ASSIGN_OR_RAISE(inputs.saved, LoadNodes(earlier->store, *inputs.nodes));
  }
  ARROW_ASSIGN_OR_RAISE(inputs.features,
                        NodeFeatures::Open(settings.input, *inputs.nodes,
                                           earlier ? earlier->progress.feature_rows : 0));
  const int width = inputs.features.width();
  inputs.columns = settings.embed.columns.value_or(ColumnRange{0, width});
  if (inputs.columns.end > width) {
    return UsageError("`embed.columns` must lie within the ", width,
                      " feature columns: ", inputs.columns.begin, ":",
                      inputs.columns.end);
  }
  return inputs;
}

arrow::Status CheckHistory(const Settings& settings, RunInputs& inputs,
                           const RunProgress& progress, bool verify_log) {
  const auto& row_nodes = inputs.features.row_nodes();
  const auto num_rows = static_cast<std::int64_t>(row_nodes.size());
  if (num_rows < progress.feature_rows ||
      inputs.features.known_hash() != progress.feature_hash) {
    return ChangedHistory("rows of the features are not what they were");
  }
  for (std::int64_t row = progress.feature_rows; row < num_rows; ++row) {
    const NodeId node = row_nodes[row];
    if (node < static_cast<NodeId>(inputs.saved.size()) &&
        inputs.saved[node].sampled.seen) {
      return HistoryError("'", settings.input.features, "', row ", row,
                          ": the node was there before without features; give them as "
                          "`input.feature_updates`, or rebuild with --force: ",
                          inputs.nodes->Show(node));
    }
  }
  ARROW_ASSIGN_OR_RAISE(auto updates, inputs.features.OpenUpdates(*inputs.nodes));
  ARROW_RETURN_NOT_OK(updates.AdvanceTo(progress.clock.last_time, *inputs.nodes,
                                        [](NodeId, std::span<const float>) {}));
  if (updates.hash() != progress.update_hash) {
    return ChangedHistory("feature updates up to time " +
                          std::to_string(progress.clock.last_time) +
                          " are not what they were");
  }
  const std::int64_t used = progress.log.empty() ? 0 : progress.log.back().end_row();
  if (inputs.log.num_rows < used) {
    return ChangedHistory("the log has " + std::to_string(inputs.log.num_rows) +
                          " rows, " + std::to_string(used) + " were used");
  }
  if (!verify_log) return arrow::Status::OK();
  for (const LogSegment& segment : progress.log) {
    ARROW_ASSIGN_OR_RAISE(const std::string hash, HashSegment(settings, inputs, segment));
    if (hash != segment.hash) {
      return ChangedHistory("rows " + std::to_string(segment.first_row) + " to " +
                            std::to_string(segment.end_row() - 1) +
                            " of the log are not what they were");
    }
  }
  return arrow::Status::OK();
}

}  // namespace coden
