#include "coden/state/run_inputs.h"

#include <algorithm>

#include <arrow/record_batch.h>

#include "coden/base/error.h"
#include "coden/state/fingerprint.h"
#include "coden/state/log_hasher.h"

namespace coden {

namespace {

constexpr std::string_view kWaysOut =
    "; give it back as it was, choose another `run.directory`, or rebuild with --force";

arrow::Status ChangedHistory(std::string_view what) {
  return HistoryError("the history of the run has changed: ", what, kWaysOut);
}

// Whether the events of one segment are what they were.
arrow::Result<bool> IsUnchanged(const Settings& settings, RunInputs& inputs,
                                const LogSegment& segment) {
  LogSegment alone = segment;
  alone.first_event = 0;
  ARROW_ASSIGN_OR_RAISE(const UsedRows rows,
                        ReadUsedRows(inputs.log, {&alone, 1}, settings.input.batch_rows));
  EventReader reader(settings.input.edges, settings.graph.events, *inputs.nodes,
                     rows.options);
  LogHasher hasher;
  ARROW_RETURN_NOT_OK(reader.Bind(rows.reader->schema()).status());
  const Emit discard = [](const BatchPtr&) { return arrow::Status::OK(); };
  const Emit hash = [&](BatchPtr batch) {
    return hasher.Push(std::move(batch), discard);
  };
  for (BatchPtr batch;;) {
    ARROW_RETURN_NOT_OK(rows.reader->ReadNext(&batch));
    if (batch == nullptr) break;
    ARROW_RETURN_NOT_OK(reader.Push(std::move(batch), hash));
  }
  const auto pieces = hasher.TakePieces();
  return pieces.size() == 1 && pieces[0].digest == segment.hash;
}

// Refuse a log that no longer has the rows of `segments`.
arrow::Status CheckRowsAreThere(const EdgeLog& log,
                                const std::vector<LogSegment>& segments) {
  for (const LogSegment& segment : segments) {
    const auto file = log.RowsOf(segment.file);
    if (!file)
      return ChangedHistory("the log no longer has its file '" + segment.file + "'");
    if (file->num_rows >= segment.end_row()) continue;
    return ChangedHistory("file '" + segment.file + "' of the log has " +
                          std::to_string(file->num_rows) + " rows, " +
                          std::to_string(segment.end_row()) + " were used");
  }
  return arrow::Status::OK();
}

}  // namespace

namespace {

// Features and columns, once the nodes of an earlier run have their numbers.
arrow::Status OpenFeatures(const Settings& settings, std::int64_t known_rows,
                           RunInputs* inputs) {
  ARROW_ASSIGN_OR_RAISE(inputs->features,
                        NodeFeatures::Open(settings.input, *inputs->nodes, known_rows));
  const int width = inputs->features.width();
  inputs->columns = settings.embed.columns.value_or(ColumnRange{0, width});
  if (inputs->columns.end > width) {
    return UsageError("`embed.columns` must lie within the ", width,
                      " feature columns: ", inputs->columns.begin, ":",
                      inputs->columns.end);
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<RunInputs> RunInputs::Open(const Settings& settings,
                                         const EarlierRun* earlier) {
  RunInputs inputs;
  std::vector<std::string> known_files;
  if (earlier != nullptr)
    known_files = EdgeFiles(earlier->embed.inputs, earlier->progress.log);
  ARROW_ASSIGN_OR_RAISE(
      inputs.log, EdgeLog::Open(settings.input, settings.graph.events, known_files));
  ARROW_ASSIGN_OR_RAISE(inputs.nodes, NodeIdMap::Make(inputs.log.id_type));
  if (earlier != nullptr) {
    ARROW_ASSIGN_OR_RAISE(inputs.saved, LoadNodes(earlier->store, *inputs.nodes));
  }
  ARROW_RETURN_NOT_OK(
      OpenFeatures(settings, earlier ? earlier->progress.feature_rows : 0, &inputs));
  return inputs;
}

arrow::Result<RunInputs> RunInputs::OpenWithoutLog(const Settings& settings,
                                                   const EarlierRun& earlier) {
  RunInputs inputs;
  ARROW_ASSIGN_OR_RAISE(SavedNodes nodes, OpenNodes(earlier.store));
  inputs.nodes = std::move(nodes.ids);
  inputs.saved = std::move(nodes.known);
  ARROW_RETURN_NOT_OK(OpenFeatures(settings, earlier.progress.feature_rows, &inputs));
  // Rows that were added to the features are for whoever goes on with the log.
  inputs.nodes->Freeze();
  return inputs;
}

arrow::Status CheckFeatures(const Settings& settings, RunInputs& inputs,
                            const RunProgress& progress) {
  const auto& row_nodes = inputs.features.row_nodes();
  const auto num_rows = static_cast<std::int64_t>(row_nodes.size());
  if (num_rows < progress.feature_rows ||
      inputs.features.known_hash() != progress.feature_hash) {
    return ChangedHistory("rows of the features are not what they were");
  }
  for (std::int64_t row = progress.feature_rows; row < num_rows; ++row) {
    const NodeId node = row_nodes[row];
    if (node < static_cast<NodeId>(inputs.saved.size()) && inputs.saved[node].seen()) {
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
  return arrow::Status::OK();
}

arrow::Status CheckLog(const Settings& settings, RunInputs& inputs,
                       const RunProgress& progress, bool verify) {
  ARROW_RETURN_NOT_OK(CheckRowsAreThere(inputs.log, progress.log));
  if (!verify) return arrow::Status::OK();
  for (const LogSegment& segment : progress.log) {
    ARROW_ASSIGN_OR_RAISE(const bool unchanged, IsUnchanged(settings, inputs, segment));
    if (unchanged) continue;
    return ChangedHistory("rows " + std::to_string(segment.first_row) + " to " +
                          std::to_string(segment.end_row() - 1) + " of file '" +
                          segment.file + "' of the log are not what they were");
  }
  return arrow::Status::OK();
}

}  // namespace coden
