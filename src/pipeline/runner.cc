#include "coden/pipeline/runner.h"

#include <vector>

namespace coden {

arrow::Status Run(arrow::RecordBatchReader& source,
                  std::span<const std::unique_ptr<Operator>> stages, const Emit& sink,
                  const RunContext& context) {
  SchemaPtr schema = source.schema();
  for (const auto& stage : stages) {
    ARROW_ASSIGN_OR_RAISE(schema, stage->Bind(schema));
  }

  // emits[i] is the entrance of stage i; the last one is the sink.
  std::vector<Emit> emits(stages.size() + 1);
  emits[stages.size()] = sink;
  for (std::size_t i = stages.size(); i-- > 0;) {
    emits[i] = [stage = stages[i].get(), &next = emits[i + 1]](BatchPtr batch) {
      return stage->Push(std::move(batch), next);
    };
  }

  std::int64_t rows = 0;
  while (true) {
    ARROW_RETURN_NOT_OK(context.stop.Poll());
    BatchPtr batch;
    ARROW_RETURN_NOT_OK(source.ReadNext(&batch));
    if (batch == nullptr) break;
    rows += batch->num_rows();
    ARROW_RETURN_NOT_OK(emits[0](std::move(batch)));
    context.progress->Advance(rows);
  }
  for (std::size_t i = 0; i < stages.size(); ++i) {
    ARROW_RETURN_NOT_OK(stages[i]->Finish(emits[i + 1]));
  }
  return arrow::Status::OK();
}

}  // namespace coden
