#pragma once

#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/sample/schedule.h"
#include "coden/state/run_inputs.h"
#include "coden/store/manifest.h"

namespace coden {

/// What the first pass over the log finds out.
struct SchedulePassResult {
  Schedule schedule;               ///< of the rows that were read: all, or the added ones
  RunProgress progress;            ///< with everything but the embedding's part
  std::vector<SampledNode> nodes;  ///< by node
  std::vector<FileRecord> state;   ///< the history and what goes with it, staged
  std::vector<StageFigure> figures;
  std::vector<std::string> warnings;  ///< what is probably not what was meant
  std::vector<std::string> notes;
  InputCounts counts;

  /// Say all warnings and notes; returns them for the manifest.
  std::vector<std::string> SayNotes(Progress& to) const;
};

/// First pass: read -> partition -> sample. Numbers every node of the log in
/// `inputs.nodes`. With an earlier run, which must be embedded to the end of its
/// schedule, only the rows that were added are read, and the schedule goes on. The
/// history goes into the stage of `store`; without a store there is none.
arrow::Result<SchedulePassResult> RunSchedulePass(const Settings& settings,
                                                  RunInputs& inputs,
                                                  const RunContext& context,
                                                  RunStore* store = nullptr,
                                                  const EarlierRun* earlier = nullptr);

}  // namespace coden
