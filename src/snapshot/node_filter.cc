#include "coden/snapshot/node_filter.h"

#include <vector>

#include <arrow/builder.h>
#include <arrow/compute/api.h>
#include <arrow/type.h>

namespace coden {

arrow::Result<SchemaPtr> NodeFilter::Bind(const SchemaPtr& input) {
  node_column_ = input->GetFieldIndex("node");
  return input;
}

arrow::Status NodeFilter::Push(BatchPtr batch, const Emit& emit) {
  std::vector<NodeId> found;
  ARROW_RETURN_NOT_OK(keep_.Find(*batch->column(node_column_), &found));
  arrow::BooleanBuilder mask;
  for (const NodeId node : found) ARROW_RETURN_NOT_OK(mask.Append(node != kNoNode));
  ARROW_ASSIGN_OR_RAISE(const auto kept, mask.Finish());
  ARROW_ASSIGN_OR_RAISE(const auto filtered, arrow::compute::Filter(batch, kept));
  return emit(filtered.record_batch());
}

}  // namespace coden
