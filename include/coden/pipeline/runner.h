#pragma once

#include <memory>
#include <span>

#include <arrow/record_batch.h>
#include <arrow/status.h>

#include "coden/pipeline/operator.h"
#include "coden/pipeline/progress.h"

namespace coden {

/// Bind `stages` left to right, then drive every batch of `source` through them and hand
/// what the last one emits to `sink`.
///
/// Progress advances by the rows of `source`. Before each batch the stop token is polled,
/// so an interrupt ends the run between two batches.
arrow::Status Run(arrow::RecordBatchReader& source,
                  std::span<const std::unique_ptr<Operator>> stages, const Emit& sink,
                  const RunContext& context);

}  // namespace coden
