#include <algorithm>
#include <memory>

#include <arrow/array.h>

#include "read/columns_internal.h"
#include "read/validation_internal.h"

namespace coden {

namespace {

constexpr char kNoFeatureRow[] = "nodes of the log without a feature row are given zeros";

// The map for ids of `id_type`: the shared one, or one of its own for a file whose ids
// are of another kind.
arrow::Result<NodeIdMap*> MapFor(CheckedInputs& inputs,
                                 const std::shared_ptr<arrow::DataType>& id_type,
                                 std::unique_ptr<NodeIdMap>* own) {
  if (inputs.nodes == nullptr) {
    ARROW_ASSIGN_OR_RAISE(inputs.nodes, NodeIdMap::Make(id_type));
  }
  if (inputs.nodes->id_type()->Equals(*id_type)) return inputs.nodes.get();
  ARROW_ASSIGN_OR_RAISE(*own, NodeIdMap::Make(id_type));
  return own->get();
}

std::shared_ptr<arrow::DataType> KnownIdType(const CheckedInputs& inputs) {
  return inputs.nodes == nullptr ? nullptr : inputs.nodes->id_type();
}

// The nodes of the log have the first numbers.
void CountMatches(const std::vector<NodeId>& rows, const NodeIdMap& nodes,
                  const CheckedInputs& inputs, IdMatch* match) {
  for (const NodeId node : rows) {
    if (node != kNoNode)
      match->Add(node, /*num_rows=*/1, node < inputs.num_log_nodes, nodes);
  }
}

// Return whether all nodes of the file are in the shared map.
template <typename CheckNodes>
arrow::Result<bool> CheckVectorFile(const ParquetSource& source, FeatureFile kind,
                                    const CheckNodes& check_nodes, CheckedInputs& inputs,
                                    ProblemList& list) {
  const InputOptions& input = inputs.settings.input;
  ARROW_ASSIGN_OR_RAISE(
      const auto columns,
      CheckFeatureSchema(source, input, kind, KnownIdType(inputs), list.on_breach()));
  if (columns.time.usable() && inputs.log_time != nullptr) {
    ARROW_RETURN_NOT_OK(CheckTimeUnit(columns.time, *inputs.log_time, list.on_breach()));
  }
  ScanColumns scan;
  for (const auto& column : {columns.node, columns.vector, columns.time}) {
    scan.Add(column);
  }
  std::unique_ptr<NodeIdMap> own;
  NodeIdMap* nodes = nullptr;
  if (columns.node.usable()) {
    ARROW_ASSIGN_OR_RAISE(nodes, MapFor(inputs, columns.node.id_type, &own));
  }
  RisingTimes order;
  std::vector<NodeId> rows;
  const auto visit = [&](const arrow::RecordBatch& batch,
                         std::int64_t first_row) -> arrow::Status {
    const auto place = [&](const InputColumn& column) {
      return ColumnPlace{column.name, first_row, list.on_breach()};
    };
    if (const auto array = scan.Get(batch, columns.node)) {
      ARROW_ASSIGN_OR_RAISE(const auto ids,
                            ReadIds(array, columns.node.id_type, place(columns.node)));
      ARROW_RETURN_NOT_OK(EncodeUsable(ids, list.broken(), *nodes, &rows));
      ARROW_RETURN_NOT_OK(check_nodes(rows, *nodes, place(columns.node)));
    }
    if (const auto array = scan.Get(batch, columns.vector)) {
      ARROW_RETURN_NOT_OK(
          ReadVectors(*array, &inputs.width, place(columns.vector)).status());
    }
    if (const auto array = scan.Get(batch, columns.time)) {
      ARROW_ASSIGN_OR_RAISE(const auto times, ReadTimes(array, place(columns.time)));
      ARROW_RETURN_NOT_OK(order.Check(*times, place(columns.time)));
    }
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(list.ForEachBatch(
      source, scan.names(), std::min<std::int64_t>(input.batch_rows, kVectorBatchRows),
      /*begin_row=*/0, columns.num_rows, inputs.context, visit));
  return nodes != nullptr && own == nullptr;
}

}  // namespace

arrow::Status ValidateFeatures(const ParquetSource& source, CheckedInputs& inputs,
                               ProblemList& list) {
  OneRowPerNode once;
  IdMatch match;
  const auto check_nodes = [&](const std::vector<NodeId>& rows, const NodeIdMap& nodes,
                               const ColumnPlace& place) {
    CountMatches(rows, nodes, inputs, &match);
    return once.Check(rows, nodes, place);
  };
  ARROW_ASSIGN_OR_RAISE(
      inputs.features_are_known,
      CheckVectorFile(source, FeatureFile::kFeatures, check_nodes, inputs, list));
  inputs.width.of_features = inputs.width.width >= 0;
  if (!inputs.features_are_known || !inputs.log_is_known) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(JudgeMatch(match, "features", inputs, list));
  std::int64_t without = 0;
  for (NodeId node = 0; node < inputs.num_log_nodes; ++node) without += !once.Has(node);
  list.Remark(inputs.settings.input.node, kNoFeatureRow, without, /*first_row=*/-1);
  return arrow::Status::OK();
}

arrow::Status ValidateUpdates(const ParquetSource& source, CheckedInputs& inputs,
                              ProblemList& list) {
  const InputOptions& input = inputs.settings.input;
  if (input.random_features > 0) inputs.width = {input.random_features, true};
  IdMatch match;
  const auto check_nodes = [&](const std::vector<NodeId>& rows, const NodeIdMap& nodes,
                               const ColumnPlace&) {
    CountMatches(rows, nodes, inputs, &match);
    return arrow::Status::OK();
  };
  ARROW_ASSIGN_OR_RAISE(const bool known, CheckVectorFile(source, FeatureFile::kUpdates,
                                                          check_nodes, inputs, list));
  return known && inputs.log_is_known ? JudgeMatch(match, "feature updates", inputs, list)
                                      : arrow::Status::OK();
}

}  // namespace coden
