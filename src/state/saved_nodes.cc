#include "coden/state/saved_nodes.h"

#include <algorithm>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>

#include "coden/base/error.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"

namespace coden {

std::shared_ptr<arrow::Schema> NodesSchema(
    const std::shared_ptr<arrow::DataType>& id_type) {
  return arrow::schema({
      arrow::field("node", id_type, /*nullable=*/false),
      arrow::field("first_event", arrow::int64()),
      arrow::field("arrival", arrow::int32()),
      arrow::field("since", arrow::int32()),
      arrow::field("largest", arrow::float32(), /*nullable=*/false),
  });
}

arrow::Result<FileRecord> StageNodes(RunStore& store, const NodeIdMap& nodes,
                                     const std::vector<SampledNode>& known) {
  ARROW_ASSIGN_OR_RAISE(const auto ids, nodes.Ids(0, nodes.size()));
  arrow::Int64Builder first_event;
  arrow::Int32Builder arrival, since;
  arrow::FloatBuilder largest;
  for (NodeId node = 0; node < nodes.size(); ++node) {
    const SampledNode saved =
        node < static_cast<NodeId>(known.size()) ? known[node] : SampledNode{};
    ARROW_RETURN_NOT_OK(saved.first_event == SampledNode::kNever
                            ? first_event.AppendNull()
                            : first_event.Append(saved.first_event));
    ARROW_RETURN_NOT_OK(saved.arrival < 0 ? arrival.AppendNull()
                                          : arrival.Append(saved.arrival));
    ARROW_RETURN_NOT_OK(saved.seen() ? since.Append(saved.since) : since.AppendNull());
    ARROW_RETURN_NOT_OK(largest.Append(saved.largest));
  }
  arrow::ArrayVector columns = {ids};
  for (arrow::ArrayBuilder* builder : std::initializer_list<arrow::ArrayBuilder*>{
           &first_event, &arrival, &since, &largest}) {
    ARROW_ASSIGN_OR_RAISE(auto column, builder->Finish());
    columns.push_back(std::move(column));
  }
  return StageParquetFile(
      store, RunLayout::kNodes,
      *arrow::RecordBatch::Make(NodesSchema(nodes.id_type()), nodes.size(), columns));
}

namespace {

arrow::Status NotTheNodes(const RunStore& store) {
  return CorruptionError("'", store.Show(RunLayout::kNodes),
                         "' is not the list of nodes of this run");
}

arrow::Result<std::vector<SampledNode>> FromTable(const RunStore& store,
                                                  const arrow::Table& table,
                                                  NodeIdMap& nodes) {
  if (!table.schema()->Equals(*NodesSchema(nodes.id_type()), /*check_metadata=*/false))
    return NotTheNodes(store);
  ARROW_ASSIGN_OR_RAISE(const auto batch, table.CombineChunksToBatch());
  std::vector<NodeId> numbers;
  ARROW_RETURN_NOT_OK(nodes.Encode(*batch->column(0), &numbers));
  if (nodes.size() != batch->num_rows()) {
    return CorruptionError("'", store.Show(RunLayout::kNodes), "' has a node twice");
  }
  const auto& first_event = static_cast<const arrow::Int64Array&>(*batch->column(1));
  const auto& arrival = static_cast<const arrow::Int32Array&>(*batch->column(2));
  const auto& since = static_cast<const arrow::Int32Array&>(*batch->column(3));
  const auto& largest = static_cast<const arrow::FloatArray&>(*batch->column(4));
  std::vector<SampledNode> saved(static_cast<std::size_t>(batch->num_rows()));
  for (std::int64_t row = 0; row < batch->num_rows(); ++row) {
    SampledNode& node = saved[row];
    if (first_event.IsValid(row)) node.first_event = first_event.Value(row);
    if (arrival.IsValid(row)) node.arrival = arrival.Value(row);
    if (since.IsValid(row)) node.since = since.Value(row);
    // Arrivals are counted on, and a node that was not seen has null.
    if ((arrival.IsValid(row) &&
         (node.arrival < 0 || node.arrival >= batch->num_rows())) ||
        (since.IsValid(row) && node.since < 0)) {
      return NotTheNodes(store);
    }
    node.largest = largest.Value(row);
  }
  return saved;
}

}  // namespace

arrow::Result<std::vector<SampledNode>> LoadNodes(const RunStore& store,
                                                  NodeIdMap& nodes) {
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, RunLayout::kNodes));
  const auto ids = table->schema()->GetFieldByName("node");
  if (ids != nullptr && !ids->type()->Equals(*nodes.id_type())) {
    return HistoryError("the history of the run has changed: node ids were ",
                        ids->type()->ToString(), " and are ", nodes.id_type()->ToString(),
                        "; give them back as they were, or rebuild with --force");
  }
  return FromTable(store, *table, nodes);
}

arrow::Result<SavedNodes> OpenNodes(const RunStore& store) {
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, RunLayout::kNodes));
  const auto ids = table->schema()->GetFieldByName("node");
  const bool known = ids != nullptr && (ids->type()->Equals(arrow::int64()) ||
                                        ids->type()->Equals(arrow::utf8()));
  if (!known) return NotTheNodes(store);
  SavedNodes nodes;
  ARROW_ASSIGN_OR_RAISE(nodes.ids, NodeIdMap::Make(ids->type()));
  ARROW_ASSIGN_OR_RAISE(nodes.known, FromTable(store, *table, *nodes.ids));
  return nodes;
}

std::shared_ptr<const NodeTimes> TimesOf(const std::vector<SampledNode>& known,
                                         NodeId num_nodes) {
  auto times = std::make_shared<NodeTimes>();
  times->since.assign(num_nodes, -1);
  times->arrivals.assign(num_nodes, -1);
  const std::size_t count = std::min(known.size(), static_cast<std::size_t>(num_nodes));
  for (std::size_t node = 0; node < count; ++node) {
    times->since[node] = known[node].since;
    times->arrivals[node] = known[node].arrival;
  }
  return times;
}

}  // namespace coden
