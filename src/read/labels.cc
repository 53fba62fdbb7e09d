#include "coden/read/labels.h"

#include <algorithm>

#include <arrow/array.h>
#include <arrow/compute/api.h>
#include <arrow/type.h>

#include "coden/pipeline/error.h"
#include "coden/read/parquet_source.h"
#include "read/columns_internal.h"

namespace coden {

namespace {

// Replace the order of first appearance by the order of the class values.
arrow::Status SortClasses(const NodeIdMap& values, Labels* labels) {
  ARROW_ASSIGN_OR_RAISE(const auto found, values.Ids(0, values.size()));
  ARROW_ASSIGN_OR_RAISE(const auto order, arrow::compute::SortIndices(*found));
  ARROW_ASSIGN_OR_RAISE(labels->classes, arrow::compute::Take(*found, *order));
  std::vector<std::int32_t> rank(values.size());
  const auto& positions = static_cast<const arrow::UInt64Array&>(*order);
  for (std::int32_t i = 0; i < values.size(); ++i) rank[positions.Value(i)] = i;
  for (LabelEntry& entry : labels->entries) entry.label = rank[entry.label];
  return arrow::Status::OK();
}

}  // namespace

std::vector<std::int32_t> Labels::At(EventTime time) const {
  std::vector<std::int32_t> labels(nodes->size(), -1);
  for (const LabelEntry& entry : entries) {
    if (entry.time <= time) labels[entry.node] = entry.label;
  }
  return labels;
}

arrow::Result<Labels> ReadLabels(const InputOptions& input) {
  if (input.labels.empty())
    return UsageError("training needs labels: set `input.labels`");
  ARROW_ASSIGN_OR_RAISE(const auto source, ParquetSource::Open(input.labels));
  ARROW_ASSIGN_OR_RAISE(const auto node_field, source->Column(input.node, "input.node"));
  ARROW_ASSIGN_OR_RAISE(const auto label_field,
                        source->Column(input.label, "input.label"));
  const auto time_field = source->schema()->GetFieldByName(input.time);
  if (time_field != nullptr && !IsTimeType(*time_field->type())) {
    return InputError("'", input.labels, "', column '", input.time,
                      "': a time must be a whole number or a timestamp: ",
                      time_field->type()->ToString());
  }
  ARROW_ASSIGN_OR_RAISE(const auto id_type, NodeIdMap::IdType(*node_field->type()));
  const auto class_type = NodeIdMap::IdType(*label_field->type());
  if (!class_type.ok()) {
    return InputError("'", input.labels, "', column '", input.label,
                      "': a label must be a whole number or a string: ",
                      label_field->type()->ToString());
  }

  Labels labels;
  ARROW_ASSIGN_OR_RAISE(labels.nodes, NodeIdMap::Make(id_type));
  ARROW_ASSIGN_OR_RAISE(const auto values, NodeIdMap::Make(*class_type));

  std::vector<std::string> columns = {input.node, input.label};
  if (time_field != nullptr) columns.push_back(input.time);
  ARROW_ASSIGN_OR_RAISE(const auto reader, source->Scan(columns, input.batch_rows));
  std::vector<NodeId> nodes, classes;
  std::int64_t rows = 0;
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) break;
    ARROW_ASSIGN_OR_RAISE(const auto ids, ReadIds(batch->column(0), id_type,
                                                  {input.labels, input.node, rows}));
    ARROW_ASSIGN_OR_RAISE(
        const auto label_values,
        ReadIds(batch->column(1), *class_type, {input.labels, input.label, rows}));
    std::shared_ptr<arrow::Int64Array> times;
    if (time_field != nullptr) {
      ARROW_ASSIGN_OR_RAISE(
          times, ReadTimes(batch->column(2), {input.labels, input.time, rows}));
    }
    ARROW_RETURN_NOT_OK(labels.nodes->Encode(*ids, &nodes));
    ARROW_RETURN_NOT_OK(values->Encode(*label_values, &classes));
    for (std::int64_t row = 0; row < batch->num_rows(); ++row) {
      labels.entries.push_back({nodes[row], classes[row],
                                times == nullptr ? Labels::kAlways : times->Value(row)});
    }
    rows += batch->num_rows();
  }
  if (rows == 0)
    return InputError("'", input.labels, "' has no rows: nothing to train on");

  ARROW_RETURN_NOT_OK(SortClasses(*values, &labels));
  std::stable_sort(labels.entries.begin(), labels.entries.end(),
                   [](const LabelEntry& a, const LabelEntry& b) {
                     return std::pair(a.node, a.time) < std::pair(b.node, b.time);
                   });
  for (std::size_t i = 1; i < labels.entries.size(); ++i) {
    const LabelEntry& entry = labels.entries[i];
    if (entry.node == labels.entries[i - 1].node &&
        entry.time == labels.entries[i - 1].time) {
      return InputError("'", input.labels, "': node ", labels.nodes->Show(entry.node),
                        " has two labels for one time",
                        "; keep one row per node and time");
    }
  }
  return labels;
}

}  // namespace coden
