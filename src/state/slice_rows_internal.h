#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "coden/base/operator.h"
#include "coden/state/saved_slice.h"
#include "store/hashing_file_internal.h"

namespace coden {

/// The stage that ends the pass of a slice: keep the embeddings of every row as an Arrow
/// stream, batch by batch. Every pass over the log emits the same rows in the same order,
/// cut into the same batches, so only the first slice keeps which rows they are.
class SliceRowsWriter : public Operator {
 public:
  /// The file goes into the store's stage. `store` must outlive the stage.
  SliceRowsWriter(RunStore& store, bool with_nodes)
      : store_(store), with_nodes_(with_nodes) {}

  std::string_view name() const override { return "slice"; }
  arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) override;
  arrow::Status Push(BatchPtr batch, const Emit& emit) override;
  arrow::Status Finish(const Emit& emit) override;

  /// The file, once the stage has finished.
  const FileRecord& file() const { return file_; }

 private:
  RunStore& store_;
  bool with_nodes_;
  FileRecord file_;
  std::shared_ptr<HashingFile> output_;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> writer_;
};

/// Read the rows of slices that lie side by side, the first column first, as the whole
/// rows that a pass over all columns would have emitted. A file that is not what was
/// written is an error at its end at the latest.
arrow::Result<std::unique_ptr<arrow::RecordBatchReader>> ReadSlices(
    const RunStore& store, const std::vector<SavedSlice>& slices);

}  // namespace coden
