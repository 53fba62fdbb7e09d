#include <algorithm>
#include <memory>

#include <arrow/array.h>
#include <arrow/scalar.h>

#include "coden/read/labels.h"
#include "read/columns_internal.h"
#include "read/label_amounts_internal.h"
#include "read/validation_internal.h"

namespace coden {

namespace {

constexpr char kSplitValue[] = "a split must be train, validate or test";

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
  std::unique_ptr<NodeIdMap> classes;
  if (columns.label.usable()) {
    ARROW_ASSIGN_OR_RAISE(classes, NodeIdMap::Make(columns.label.id_type));
  }
  const bool looks_up = labelled != nullptr && inputs.log_is_known &&
                        inputs.nodes->id_type()->Equals(*columns.node.id_type);
  OneLabelPerTime once;
  IdMatch match;
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
      ARROW_ASSIGN_OR_RAISE(const auto values, ReadClasses(array, columns.label.id_type,
                                                           place(columns.label)));
      ARROW_RETURN_NOT_OK(EncodeUsable(values, list.broken(), *classes, &found));
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
      if (!looks_up) continue;
      const bool in_log = found[row] != kNoNode && found[row] < inputs.num_log_nodes;
      match.Add(rows[row], /*num_rows=*/1, in_log, *labelled);
    }
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(list.ForEachBatch(source, scan.names(), input.batch_rows,
                                        /*begin_row=*/0, columns.num_rows, inputs.context,
                                        visit));
  if (classes != nullptr) {
    if (const auto warning =
            AmountsWarning(*classes->id_type(), classes->size(), columns.num_rows))
      list.Remark(input.label, *warning, classes->size(), /*first_row=*/-1);
  }
  return looks_up ? JudgeMatch(match, "labels", inputs, list) : arrow::Status::OK();
}

arrow::Status ValidateSplit(const ParquetSource&, CheckedInputs& inputs,
                            ProblemList& list) {
  ARROW_ASSIGN_OR_RAISE(const Labels split, ReadSplitRows(inputs.settings.input));
  for (NodeId part = 0; part < split.classes->length(); ++part) {
    ARROW_ASSIGN_OR_RAISE(const auto value, split.classes->GetScalar(part));
    const std::string name = value->ToString();
    if (name != "train" && name != "validate" && name != "test")
      ARROW_RETURN_NOT_OK(list.on_breach()({"split", -1, kSplitValue, "'" + name + "'"}));
  }
  if (!inputs.log_is_known || !inputs.nodes->id_type()->Equals(*split.nodes->id_type())) {
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const auto ids, split.nodes->Ids(0, split.nodes->size()));
  std::vector<NodeId> found;
  ARROW_RETURN_NOT_OK(inputs.nodes->Find(*ids, &found));
  std::vector<bool> in_log;
  in_log.reserve(found.size());
  for (const NodeId node : found)
    in_log.push_back(node != kNoNode && node < inputs.num_log_nodes);
  return JudgeMatch(MatchLabels(split, in_log), "split", inputs, list);
}

}  // namespace coden
