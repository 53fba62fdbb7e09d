#include "coden/partition/partitioner.h"

#include <utility>

#include <arrow/type.h>

namespace coden {

arrow::Result<SchemaPtr> Partitioner::Bind(const SchemaPtr& input) { return input; }

arrow::Status Partitioner::EmitMarks(const Emit& emit) {
  if (marks_.empty()) return arrow::Status::OK();
  EventBatchBuilder events;
  for (const auto& mark : marks_) {
    events.Append({kNoNode, kNoNode, mark.time, mark.kind});
  }
  marks_.clear();
  return emit(events.Finish());
}

// Events go on as slices of the batch they came in, cut where punctuation belongs.
arrow::Status Partitioner::Push(BatchPtr batch, const Emit& emit) {
  const EventView input(*batch);
  std::int64_t begin = 0;
  const auto emit_until = [&](std::int64_t end) {
    const std::int64_t first = std::exchange(begin, end);
    return first == end ? arrow::Status::OK() : emit(batch->Slice(first, end - first));
  };
  for (std::int64_t row = 0; row < input.size(); ++row) {
    ARROW_ASSIGN_OR_RAISE(const bool used, clock_.Next(input.time(row), &marks_));
    if (used && marks_.empty()) continue;
    ARROW_RETURN_NOT_OK(emit_until(row));
    ARROW_RETURN_NOT_OK(EmitMarks(emit));
    if (!used) begin = row + 1;
  }
  return emit_until(input.size());
}

arrow::Status Partitioner::Finish(const Emit& emit) {
  ARROW_RETURN_NOT_OK(clock_.Finish(&marks_));
  return EmitMarks(emit);
}

}  // namespace coden
