#pragma once

#include <memory>
#include <span>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "coden/pipeline/operator.h"
#include "coden/pipeline/progress.h"

namespace coden {

/// Seconds of wall time that were spent in each part of a pass.
struct PassTimes {
  double source = 0.0;         ///< waiting for the reader
  std::vector<double> stages;  ///< each stage itself, without the ones after it
};

/// Bind `stages` left to right, then drive every batch of `source` through them and hand
/// what the last one emits to `sink`.
///
/// Progress advances by the rows of `source`. Before each batch the stop token is polled,
/// so an interrupt ends the run between two batches.
arrow::Result<PassTimes> Run(arrow::RecordBatchReader& source,
                             std::span<Operator* const> stages, const Emit& sink,
                             const RunContext& context);

}  // namespace coden
