#include <algorithm>
#include <memory>

#include <arrow/array.h>

#include "coden/read/labels.h"
#include "read/columns_internal.h"
#include "read/validation_internal.h"

namespace coden {

namespace {

constexpr char kNoKnownLabel[] =
    "no label belongs to a node of the log or the features; check that they name the "
    "same "
    "nodes";
constexpr char kUnknownLabel[] =
    "labels of nodes that are in neither the log nor the features are left out";

}  // namespace

arrow::Status ValidateLabels(const ParquetSource& source, CheckedInputs& inputs,
                             ProblemList& list) {
  const InputOptions& input = inputs.settings.input;
  ARROW_ASSIGN_OR_RAISE(const auto columns,
                        CheckLabelSchema(source, input, list.on_breach()));
  if (columns.node.usable() && inputs.nodes != nullptr) {
    ARROW_RETURN_NOT_OK(
        CheckIdKind(columns.node, *inputs.nodes->id_type(), list.on_breach()));
  }
  if (columns.time.usable() && inputs.log_time != nullptr) {
    ARROW_RETURN_NOT_OK(CheckTimeUnit(columns.time, *inputs.log_time, list.on_breach()));
  }
  ScanColumns scan;
  for (const auto& column : {columns.node, columns.label, columns.time}) {
    scan.Add(column);
  }
  std::unique_ptr<NodeIdMap> labelled;
  if (columns.node.usable()) {
    ARROW_ASSIGN_OR_RAISE(labelled, NodeIdMap::Make(columns.node.id_type));
  }
  // A label is unknown only where every node of the log and the features is known.
  const bool looks_up = labelled != nullptr && inputs.log_is_known &&
                        (input.features.empty() || inputs.features_are_known) &&
                        inputs.nodes->id_type()->Equals(*columns.node.id_type);
  OneLabelPerTime once;
  std::int64_t unknown = 0;
  std::int64_t first_unknown = -1;
  std::vector<NodeId> rows, found;
  const auto visit = [&](const arrow::RecordBatch& batch,
                         std::int64_t first_row) -> arrow::Status {
    const auto place = [&](const InputColumn& column) {
      return ColumnPlace{column.name, first_row, list.on_breach()};
    };
    std::shared_ptr<arrow::Array> ids;
    if (const auto array = scan.Get(batch, columns.node)) {
      ARROW_ASSIGN_OR_RAISE(ids,
                            ReadIds(array, columns.node.id_type, place(columns.node)));
      ARROW_RETURN_NOT_OK(EncodeUsable(ids, list.broken(), *labelled, &rows));
    }
    if (const auto array = scan.Get(batch, columns.label)) {
      ARROW_RETURN_NOT_OK(
          ReadIds(array, columns.label.id_type, place(columns.label)).status());
    }
    std::shared_ptr<arrow::Int64Array> times;
    if (const auto array = scan.Get(batch, columns.time)) {
      ARROW_ASSIGN_OR_RAISE(times, ReadTimes(array, place(columns.time)));
    }
    if (ids == nullptr) return arrow::Status::OK();
    if (looks_up) ARROW_RETURN_NOT_OK(inputs.nodes->Find(*ids, &found));
    for (std::int64_t row = 0; row < batch.num_rows(); ++row) {
      if (list.broken()[row]) continue;
      const EventTime time = times == nullptr ? Labels::kAlways : times->Value(row);
      ARROW_RETURN_NOT_OK(
          once.Check(rows[row], time, row, *labelled, place(columns.node)));
      if (!looks_up || found[row] != kNoNode) continue;
      if (unknown++ == 0) first_unknown = first_row + row;
    }
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(list.ForEachBatch(source, scan.names(), input.batch_rows,
                                        /*begin_row=*/0, columns.num_rows, inputs.context,
                                        visit));
  if (unknown > 0 && unknown == columns.num_rows) {
    return list.on_breach()({input.node, first_unknown, kNoKnownLabel, {}});
  }
  list.Remark(input.node, kUnknownLabel, unknown, first_unknown);
  return arrow::Status::OK();
}

}  // namespace coden
