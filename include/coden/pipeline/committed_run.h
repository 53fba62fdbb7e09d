#pragma once

#include <span>

#include <arrow/result.h>

#include "coden/pipeline/operator.h"
#include "coden/pipeline/progress.h"
#include "coden/pipeline/run_inputs.h"
#include "coden/sample/schedule.h"

namespace coden {

/// The inputs of a run whose snapshots are committed, open again: for those who follow
/// the graph once more without making snapshots.
struct CommittedRun {
  RunInputs inputs;
  RunProgress progress;
  Schedule schedule;

  /// Nodes have the numbers they had.
  static arrow::Result<CommittedRun> Open(const Settings& settings,
                                          const RunStore& store);

  /// Drive the rows that the schedule uses through `stages`, as events: all of them, or
  /// those after the first `num_events`.
  arrow::Status Replay(const Settings& settings, std::span<Operator* const> stages,
                       const RunContext& context, std::int64_t num_events = 0);
};

}  // namespace coden
