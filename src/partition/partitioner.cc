#include "coden/partition/partitioner.h"

#include <arrow/type.h>

namespace coden {

arrow::Result<SchemaPtr> Partitioner::Bind(const SchemaPtr& input) { return input; }

void Partitioner::AppendMarks(EventBatchBuilder* events) {
  for (const auto& mark : marks_)
    events->Append({kNoNode, kNoNode, mark.time, mark.kind});
  marks_.clear();
}

arrow::Status Partitioner::Push(BatchPtr batch, const Emit& emit) {
  const EventView input(*batch);
  EventBatchBuilder output;
  for (std::int64_t row = 0; row < input.size(); ++row) {
    const EdgeEvent event = input[row];
    ARROW_ASSIGN_OR_RAISE(const bool used, clock_.Next(event.time, &marks_));
    AppendMarks(&output);
    if (used) output.Append(event);
  }
  return emit(output.Finish());
}

arrow::Status Partitioner::Finish(const Emit& emit) {
  ARROW_RETURN_NOT_OK(clock_.Finish(&marks_));
  EventBatchBuilder output;
  AppendMarks(&output);
  return emit(output.Finish());
}

}  // namespace coden
