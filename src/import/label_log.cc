#include "import/label_log_internal.h"

#include <utility>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

namespace coden::importing {

arrow::Result<LabelLog> LabelLog::Make(
    const std::shared_ptr<arrow::DataType>& id_type,
    const std::shared_ptr<arrow::DataType>& label_type) {
  LabelLog log;
  ARROW_ASSIGN_OR_RAISE(log.nodes_, NodeIdMap::Make(id_type));
  ARROW_ASSIGN_OR_RAISE(log.labels_, NodeIdMap::Make(label_type));
  return log;
}

arrow::Result<BatchPtr> LabelLog::Push(const arrow::Array& nodes,
                                       const arrow::Array& labels,
                                       const arrow::Array& times) {
  std::vector<NodeId> node_rows, label_rows;
  ARROW_RETURN_NOT_OK(nodes_->Encode(nodes, &node_rows));
  ARROW_RETURN_NOT_OK(labels_->Encode(labels, &label_rows));
  states_.resize(nodes_->size());
  const auto& time_rows = static_cast<const arrow::Int64Array&>(times);
  for (std::size_t row = 0; row < node_rows.size(); ++row) {
    const EventTime time = time_rows.Value(static_cast<std::int64_t>(row));
    if (time != time_) Settle();
    time_ = time;
    State& state = states_[node_rows[row]];
    if (state.waiting == kNoNode) {
      touched_.push_back(node_rows[row]);
    } else if (state.waiting == label_rows[row]) {
      ++num_repeated_;
    } else {
      ++num_replaced_;
    }
    state.waiting = label_rows[row];
  }
  return TakeRows();
}

arrow::Result<BatchPtr> LabelLog::Finish() {
  Settle();
  return TakeRows();
}

void LabelLog::Settle() {
  for (const NodeId node : touched_) {
    State& state = states_[node];
    if (state.waiting == state.label) {
      ++num_repeated_;
    } else {
      row_nodes_.push_back(node);
      row_labels_.push_back(state.waiting);
      row_times_.push_back(time_);
    }
    state = {state.waiting, kNoNode};
  }
  touched_.clear();
}

arrow::Result<BatchPtr> LabelLog::TakeRows() {
  ARROW_ASSIGN_OR_RAISE(auto nodes, nodes_->Take(row_nodes_));
  ARROW_ASSIGN_OR_RAISE(auto labels, labels_->Take(row_labels_));
  const auto num_rows = static_cast<std::int64_t>(row_times_.size());
  auto times = std::make_shared<arrow::Int64Array>(
      num_rows, arrow::Buffer::FromVector(std::exchange(row_times_, {})));
  row_nodes_.clear();
  row_labels_.clear();
  const auto schema = arrow::schema({arrow::field("node", nodes->type(), false),
                                     arrow::field("label", labels->type(), false),
                                     arrow::field("time", arrow::int64(), false)});
  return arrow::RecordBatch::Make(schema, num_rows, {nodes, labels, times});
}

arrow::Result<bool> LabelLog::AllZero() const {
  if (labels_->size() == 0) return true;
  if (labels_->size() > 1 || labels_->id_type()->id() != arrow::Type::INT64) return false;
  ARROW_ASSIGN_OR_RAISE(const auto only, labels_->Ids(0, 1));
  return static_cast<const arrow::Int64Array&>(*only).Value(0) == 0;
}

}  // namespace coden::importing
