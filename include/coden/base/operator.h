#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type_fwd.h>

namespace coden {

using BatchPtr = std::shared_ptr<arrow::RecordBatch>;
using SchemaPtr = std::shared_ptr<arrow::Schema>;

/// Hand a batch to the next stage.
using Emit = std::function<arrow::Status(BatchPtr)>;

/// One stage between the Parquet reader and the report.
///
/// Lifecycle: Bind once, Push per batch in log order, Finish once. Bind comes from the
/// caller of the runner, Push and Finish from one thread, which need not be the same; a
/// stage may use TBB inside a call but owns no thread after it returns. After a non-OK
/// status the stage is only destroyed.
class Operator {
 public:
  virtual ~Operator() = default;

  /// Name the stage as the pipeline file and the progress lines do.
  virtual std::string_view name() const = 0;

  /// Check the input schema and return the output schema, before any data is read.
  virtual arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) = 0;

  /// Consume one batch; emit zero or more. Output never depends on where batches are cut.
  virtual arrow::Status Push(BatchPtr batch, const Emit& emit) = 0;

  /// End of stream: emit what is still held back, such as the last open interval.
  virtual arrow::Status Finish(const Emit& emit) = 0;
};

}  // namespace coden
