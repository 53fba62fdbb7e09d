#include "coden/state/saved_nodes.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>

#include "coden/pipeline/error.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"

namespace coden {

std::shared_ptr<arrow::Schema> NodesSchema(
    const std::shared_ptr<arrow::DataType>& id_type) {
  return arrow::schema({
      arrow::field("node", id_type, /*nullable=*/false),
      arrow::field("first_event", arrow::int64()),
      arrow::field("seen", arrow::boolean(), /*nullable=*/false),
      arrow::field("largest", arrow::float32(), /*nullable=*/false),
      arrow::field("features_since", arrow::int32()),
  });
}

arrow::Result<FileRecord> StageNodes(RunStore& store, const NodeIdMap& nodes,
                                     const std::vector<SavedNode>& saved) {
  ARROW_ASSIGN_OR_RAISE(const auto ids, nodes.Ids(0, nodes.size()));
  arrow::Int64Builder first_event;
  arrow::BooleanBuilder seen;
  arrow::FloatBuilder largest;
  arrow::Int32Builder since;
  for (NodeId node = 0; node < nodes.size(); ++node) {
    const SavedNode known =
        node < static_cast<NodeId>(saved.size()) ? saved[node] : SavedNode{};
    ARROW_RETURN_NOT_OK(known.sampled.first_event == LazySampler::kNever
                            ? first_event.AppendNull()
                            : first_event.Append(known.sampled.first_event));
    ARROW_RETURN_NOT_OK(seen.Append(known.sampled.seen));
    ARROW_RETURN_NOT_OK(largest.Append(known.sampled.largest));
    ARROW_RETURN_NOT_OK(known.features_since < 0 ? since.AppendNull()
                                                 : since.Append(known.features_since));
  }
  arrow::ArrayVector columns = {ids};
  for (arrow::ArrayBuilder* builder : std::initializer_list<arrow::ArrayBuilder*>{
           &first_event, &seen, &largest, &since}) {
    ARROW_ASSIGN_OR_RAISE(auto column, builder->Finish());
    columns.push_back(std::move(column));
  }
  return StageParquetFile(
      store, RunLayout::kNodes,
      *arrow::RecordBatch::Make(NodesSchema(nodes.id_type()), nodes.size(), columns));
}

arrow::Result<std::vector<SavedNode>> LoadNodes(const RunStore& store, NodeIdMap& nodes) {
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, RunLayout::kNodes));
  const auto ids = table->schema()->GetFieldByName("node");
  if (ids != nullptr && !ids->type()->Equals(*nodes.id_type())) {
    return HistoryError("the history of the run has changed: node ids were ",
                        ids->type()->ToString(), " and are ", nodes.id_type()->ToString(),
                        "; give them back as they were, or rebuild with --force");
  }
  if (!table->schema()->Equals(*NodesSchema(nodes.id_type()), /*check_metadata=*/false)) {
    return CorruptionError("'", store.Show(RunLayout::kNodes),
                           "' is not the list of nodes of this run");
  }
  ARROW_ASSIGN_OR_RAISE(const auto batch, table->CombineChunksToBatch());
  std::vector<NodeId> numbers;
  ARROW_RETURN_NOT_OK(nodes.Encode(*batch->column(0), &numbers));
  if (nodes.size() != batch->num_rows()) {
    return CorruptionError("'", store.Show(RunLayout::kNodes), "' has a node twice");
  }
  const auto& first_event = static_cast<const arrow::Int64Array&>(*batch->column(1));
  const auto& seen = static_cast<const arrow::BooleanArray&>(*batch->column(2));
  const auto& largest = static_cast<const arrow::FloatArray&>(*batch->column(3));
  const auto& since = static_cast<const arrow::Int32Array&>(*batch->column(4));
  std::vector<SavedNode> saved;
  for (std::int64_t row = 0; row < batch->num_rows(); ++row) {
    SavedNode node;
    node.sampled.seen = seen.Value(row);
    node.sampled.largest = largest.Value(row);
    if (first_event.IsValid(row)) node.sampled.first_event = first_event.Value(row);
    if (since.IsValid(row)) node.features_since = since.Value(row);
    saved.push_back(node);
  }
  return saved;
}

}  // namespace coden
