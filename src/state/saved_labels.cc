#include "coden/state/saved_labels.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <nlohmann/json.hpp>

#include "coden/base/error.h"
#include "coden/state/saved_columns.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "state/damaged_internal.h"
#include "store/json_field_internal.h"

namespace coden {

namespace {

using nlohmann::json;

constexpr int kFormatVersion = 1;

int NumWindows(const LabelEmbedder& labels) {
  return static_cast<int>(labels.options().windows.size());
}

int NumAlphas(const LabelEmbedder& labels) {
  return static_cast<int>(labels.options().alphas.size());
}

ColumnFile FileOf(const LabelEmbedder& labels, int window, int alpha) {
  return {RunLayout::LabelColumns(window, alpha),
          {0, labels.engine(window, alpha).num_columns()}};
}

// What the numbers mean: those of other options are of no use.
json MeaningOf(const LabelEmbedderOptions& options) {
  return {{"num_folds", options.num_folds},
          {"num_classes", options.num_classes},
          {"alphas", options.alphas},
          {"windows", options.windows},
          {"epsilon", options.embed.epsilon},
          {"propagation", static_cast<int>(options.embed.propagation)},
          {"events", static_cast<int>(options.graph.events)},
          {"directed", options.graph.directed},
          {"self_loops", options.graph.self_loops},
          {"window", options.graph.window}};
}

std::string ToJson(const LabelEmbedder& labels) {
  const int done = labels.num_snapshots();
  json engines = json::array();
  for (int window = 0; window < NumWindows(labels); ++window) {
    for (int alpha = 0; alpha < NumAlphas(labels); ++alpha) {
      const EngineMemory memory = labels.engine(window, alpha).Memory();
      engines.push_back({{"pushed", memory.pushed},
                         {"bounds", memory.bounds},
                         {"in_double", memory.in_double}});
    }
  }
  const json value = {
      {"format_version", kFormatVersion},
      {"options", MeaningOf(labels.options())},
      {"num_snapshots", done},
      {"last_snapshot", done == 0 ? -1 : labels.schedule()[done - 1].snapshot},
      {"engines", engines}};
  return value.dump(1) + "\n";
}

struct LabelProgress {
  int num_snapshots = 0;
  std::vector<EngineMemory> engines;  // by window and alpha
};

arrow::Result<LabelProgress> LoadProgress(const RunStore& store,
                                          const LabelEmbedder& labels) {
  ARROW_ASSIGN_OR_RAISE(const std::string text,
                        store.ReadText(RunLayout::kLabelProgress));
  const json value = json::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
  // The library reports a missing key or a wrong type by throwing; the fence is here.
  try {
    LabelProgress progress;
    progress.num_snapshots = JsonField(value, "num_snapshots");
    const int last_snapshot = JsonField(value, "last_snapshot");
    const Schedule& schedule = labels.schedule();
    const bool fits =
        value.at("format_version") == kFormatVersion &&
        value.at("options") == MeaningOf(labels.options()) &&
        progress.num_snapshots >= 0 &&
        progress.num_snapshots <= static_cast<int>(schedule.size()) &&
        last_snapshot == (progress.num_snapshots == 0
                              ? -1
                              : schedule[progress.num_snapshots - 1].snapshot);
    if (!fits) return Damaged(store, RunLayout::kLabelProgress);
    const auto num_columns = static_cast<std::size_t>(labels.num_columns());
    for (const json& engine : value.at("engines")) {
      EngineMemory& memory = progress.engines.emplace_back();
      memory.pushed = engine.at("pushed");
      memory.bounds = engine.at("bounds").get<std::vector<double>>();
      memory.in_double = engine.at("in_double").get<std::vector<bool>>();
      if (memory.bounds.size() != num_columns || memory.in_double.size() != num_columns)
        return Damaged(store, RunLayout::kLabelProgress);
    }
    if (static_cast<int>(progress.engines.size()) !=
        NumWindows(labels) * NumAlphas(labels)) {
      return Damaged(store, RunLayout::kLabelProgress);
    }
    return progress;
  } catch (const json::exception&) {
    return Damaged(store, RunLayout::kLabelProgress);
  }
}

std::shared_ptr<arrow::Schema> LabelsSchema() {
  return arrow::schema({
      arrow::field("node", arrow::int32(), false),
      arrow::field("column", arrow::int32(), false),
  });
}

arrow::Result<FileRecord> StageLabels(RunStore& store, const LabelEmbedder& labels) {
  arrow::Int32Builder nodes, columns;
  for (NodeId node = 0; node < labels.num_nodes(); ++node) {
    const int column = labels.columns()[node];
    if (column < 0) continue;
    ARROW_RETURN_NOT_OK(nodes.Append(node));
    ARROW_RETURN_NOT_OK(columns.Append(column));
  }
  const std::int64_t rows = nodes.length();
  ARROW_ASSIGN_OR_RAISE(const auto node, nodes.Finish());
  ARROW_ASSIGN_OR_RAISE(const auto column, columns.Finish());
  return StageParquetFile(
      store, RunLayout::kLabels,
      *arrow::RecordBatch::Make(LabelsSchema(), rows, {node, column}));
}

// By node, the column of its label.
arrow::Result<std::vector<int>> LoadLabels(const RunStore& store,
                                           const LabelEmbedder& labels) {
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, RunLayout::kLabels));
  if (!table->schema()->Equals(*LabelsSchema(), /*check_metadata=*/false))
    return Damaged(store, RunLayout::kLabels);
  ARROW_ASSIGN_OR_RAISE(const auto batch, table->CombineChunksToBatch());
  const auto& nodes = static_cast<const arrow::Int32Array&>(*batch->column(0));
  const auto& columns = static_cast<const arrow::Int32Array&>(*batch->column(1));
  std::vector<int> by_node(labels.num_nodes(), -1);
  for (std::int64_t row = 0; row < batch->num_rows(); ++row) {
    const NodeId node = nodes.Value(row);
    const int column = columns.Value(row);
    if (node < 0 || node >= labels.num_nodes() || by_node[node] >= 0 || column < 0 ||
        column >= labels.num_columns()) {
      return Damaged(store, RunLayout::kLabels);
    }
    by_node[node] = column;
  }
  return by_node;
}

}  // namespace

arrow::Result<std::vector<FileRecord>> StageLabelState(RunStore& store,
                                                       const LabelEmbedder& labels) {
  std::vector<FileRecord> files;
  ARROW_ASSIGN_OR_RAISE(files.emplace_back(),
                        store.StageText(RunLayout::kLabelProgress, ToJson(labels)));
  ARROW_ASSIGN_OR_RAISE(files.emplace_back(), StageLabels(store, labels));
  for (int window = 0; window < NumWindows(labels); ++window) {
    for (int alpha = 0; alpha < NumAlphas(labels); ++alpha) {
      ARROW_ASSIGN_OR_RAISE(files.emplace_back(),
                            StageColumns(store, FileOf(labels, window, alpha),
                                         labels.engine(window, alpha)));
    }
  }
  return files;
}

arrow::Status LoadLabelState(const RunStore& store, LabelEmbedder& labels) {
  ARROW_ASSIGN_OR_RAISE(const LabelProgress progress, LoadProgress(store, labels));
  ARROW_ASSIGN_OR_RAISE(const std::vector<int> columns, LoadLabels(store, labels));
  ARROW_RETURN_NOT_OK(labels.ContinueAfter(progress.num_snapshots, columns));
  auto memory = progress.engines.begin();
  for (int window = 0; window < NumWindows(labels); ++window) {
    for (int alpha = 0; alpha < NumAlphas(labels); ++alpha) {
      const ColumnFile file = FileOf(labels, window, alpha);
      ARROW_RETURN_NOT_OK(LoadColumns(store, {&file, 1}, *memory++, file.columns,
                                      labels.graph(window),
                                      labels.engine(window, alpha)));
    }
  }
  return arrow::Status::OK();
}

}  // namespace coden
