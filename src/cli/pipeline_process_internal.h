#pragma once

#include "coden/experiment/experiment.h"

namespace coden {

/// Run this program once more, for one goal, and wait for it. What it says of its
/// progress is passed on; its error becomes ours, with its exit code. It does not outlive
/// us.
arrow::Result<ProcessUsage> RunPipelineProcess(const Settings& settings, Goal goal,
                                               const RunContext& context);

}  // namespace coden
