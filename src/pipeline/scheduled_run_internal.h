#pragma once

#include <arrow/result.h>

#include "coden/plan/resources.h"
#include "coden/sample/schedule.h"
#include "coden/settings/settings.h"
#include "coden/state/run_inputs.h"
#include "coden/state/run_progress.h"
#include "coden/store/manifest.h"
#include "coden/store/run_store.h"

namespace coden {

/// A run whose schedule is committed, with the snapshots that it has: where the second
/// pass goes on.
struct ScheduledRun {
  RunInputs inputs;
  Schedule schedule;
  RunProgress progress;  ///< the first `num_snapshots` of the schedule are done
};

/// Whether the log of a run is looked at when it is opened.
enum class LogUse {
  kNone,    ///< it stays closed: the history is enough
  kOpen,    ///< it must have the rows that were used
  kVerify,  ///< these are read and compared
};

/// Go to where the last commit left the run; refuse inputs that contradict it. `embed` is
/// the part of its manifest.
arrow::Result<ScheduledRun> OpenScheduledRun(const Settings& settings,
                                             const RunStore& store,
                                             const PartRecord& embed, LogUse log);

/// What the snapshots after the first `num_done` need, for the columns of `inputs`, and,
/// where `then_trains`, the training after them: what `coden plan` says and what a run is
/// held to.
arrow::Result<ResourceEstimate> EstimateRest(const Settings& settings,
                                             const RunInputs& inputs,
                                             const Schedule& schedule, int num_done,
                                             bool then_trains = false);

}  // namespace coden
