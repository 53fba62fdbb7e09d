#pragma once

#include <memory>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "coden/settings/snapshot_options.h"

namespace coden {

/// Put rows into the columns of a snapshot file with `schema`, which SnapshotSchema made
/// for `options`. `numbers` are the embeddings, row by row; where the file has float16,
/// they are numbers that it can hold.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> ArrangeRows(
    const SnapshotOptions& options, const std::shared_ptr<arrow::Schema>& schema,
    const std::shared_ptr<arrow::Array>& ids,
    const std::shared_ptr<arrow::FloatArray>& numbers);

}  // namespace coden
