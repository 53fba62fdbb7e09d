#include "coden/read/labels.h"

#include <algorithm>

#include <arrow/array.h>
#include <arrow/compute/api.h>
#include <arrow/type.h>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/read/parquet_source.h"
#include "read/columns_internal.h"
#include "read/input_schemas_internal.h"
#include "read/label_amounts_internal.h"

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

std::optional<std::string> AmountsWarning(const arrow::DataType& type,
                                          std::int64_t num_classes,
                                          std::int64_t num_rows) {
  constexpr std::int64_t kManyClasses = 50;
  constexpr std::int64_t kRowsOfAClass = 50;
  if (type.id() != arrow::Type::INT64 || num_classes <= kManyClasses ||
      num_classes * kRowsOfAClass <= num_rows) {
    return std::nullopt;
  }
  return "the labels look like amounts: " +
         CountOf(num_classes, "different numbers in ") + CountOf(num_rows, "rows") +
         "; each number is treated as a class of its own, and amounts are not estimated";
}

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
  const OnBreach refuse = Refuse(input.labels);
  ARROW_ASSIGN_OR_RAISE(const auto columns, CheckLabelSchema(*source, input, refuse));
  Labels labels;
  ARROW_ASSIGN_OR_RAISE(labels.nodes, NodeIdMap::Make(columns.node.id_type));
  ARROW_ASSIGN_OR_RAISE(const auto values, NodeIdMap::Make(columns.label.id_type));
  std::vector<std::string> names = {columns.node.name, columns.label.name};
  if (columns.time.usable()) names.push_back(columns.time.name);
  labels.timed = columns.time.usable();
  for (const std::string& name : source->schema()->field_names()) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      labels.other_columns.push_back(name);
    }
  }
  ARROW_ASSIGN_OR_RAISE(const auto reader, source->Scan(names, input.batch_rows));
  OneLabelPerTime once;
  std::vector<NodeId> nodes, classes;
  std::int64_t rows = 0;
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) break;
    const ColumnPlace node_place{columns.node.name, rows, refuse};
    const ColumnPlace label_place{columns.label.name, rows, refuse};
    const ColumnPlace time_place{columns.time.name, rows, refuse};
    ARROW_ASSIGN_OR_RAISE(const auto ids,
                          ReadIds(batch->column(0), columns.node.id_type, node_place));
    ARROW_ASSIGN_OR_RAISE(
        const auto label_values,
        ReadClasses(batch->column(1), columns.label.id_type, label_place));
    std::shared_ptr<arrow::Int64Array> times;
    if (columns.time.usable()) {
      ARROW_ASSIGN_OR_RAISE(times, ReadTimes(batch->column(2), time_place));
    }
    ARROW_RETURN_NOT_OK(labels.nodes->Encode(*ids, &nodes));
    ARROW_RETURN_NOT_OK(values->Encode(*label_values, &classes));
    for (std::int64_t row = 0; row < batch->num_rows(); ++row) {
      const EventTime time = times == nullptr ? Labels::kAlways : times->Value(row);
      ARROW_RETURN_NOT_OK(once.Check(nodes[row], time, row, *labels.nodes, node_place));
      labels.entries.push_back({nodes[row], classes[row], time});
    }
    rows += batch->num_rows();
  }

  ARROW_RETURN_NOT_OK(SortClasses(*values, &labels));
  std::sort(labels.entries.begin(), labels.entries.end(),
            [](const LabelEntry& a, const LabelEntry& b) {
              return std::pair(a.node, a.time) < std::pair(b.node, b.time);
            });
  return labels;
}

arrow::Result<Labels> ReadSplitRows(const InputOptions& input) {
  ARROW_ASSIGN_OR_RAISE(const auto source, ParquetSource::Open(input.split));
  if (source->schema()->GetFieldByName("split") == nullptr) {
    return InputError("'", MaskCredentials(input.split),
                      "', column 'split': there is no such column; give the column that "
                      "says train, validate or test this name");
  }
  // A split is a label that says which part; it has no time.
  InputOptions as_labels = input;
  as_labels.labels = input.split;
  as_labels.label = "split";
  as_labels.time.clear();
  as_labels.label_time.clear();
  return ReadLabels(as_labels);
}

arrow::Status CheckSplitValues(const Labels& split, const std::string& path) {
  const auto wrong = [&](const std::string& what) {
    return InputError("'", MaskCredentials(path),
                      "', column 'split': must be train, validate or test: ", what);
  };
  if (split.classes->type_id() != arrow::Type::STRING)
    return wrong(split.classes->type()->ToString());
  const auto& names = static_cast<const arrow::StringArray&>(*split.classes);
  for (std::int64_t i = 0; i < names.length(); ++i) {
    const std::string_view name = names.GetView(i);
    if (name != "train" && name != "validate" && name != "test")
      return wrong("'" + std::string(name) + "'");
  }
  return arrow::Status::OK();
}

}  // namespace coden
