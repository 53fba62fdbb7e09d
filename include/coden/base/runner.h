#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "coden/base/operator.h"
#include "coden/base/progress.h"

namespace coden {

/// Seconds that each part of a pass was at work. Waiting for another thread of the pass
/// is not work; parts that work at the same time can add up to more than the clock shows.
struct PassTimes {
  double source = 0.0;         ///< waiting for the reader
  std::vector<double> stages;  ///< each stage itself, without the ones after it
};

/// Which stages of a pass work at the same time. Without either the caller's thread does
/// everything, one batch after another.
///
/// Stages on different threads must not share what either of them changes.
struct PassThreads {
  /// The source and the stages before this one run ahead on a thread of their own.
  std::optional<std::size_t> read_ahead_of = {};
  /// This stage and those after it follow on a thread of their own.
  std::optional<std::size_t> write_behind_from = {};
};

/// Bind `stages` left to right, then drive every batch of `source` through them and hand
/// what the last one emits to `sink`.
///
/// Each stage sees the same calls in the same order whatever `threads` says, and is
/// called from one thread. What waits between two threads is bounded. The first error of
/// any stage ends all of them and is returned once every thread has ended. Progress
/// advances by the rows of `source` that the caller's thread has dealt with. Before each
/// batch the stop token is polled, so an interrupt ends the run between two batches.
arrow::Result<PassTimes> Run(arrow::RecordBatchReader& source,
                             std::span<Operator* const> stages, const Emit& sink,
                             const RunContext& context, const PassThreads& threads = {});

}  // namespace coden
