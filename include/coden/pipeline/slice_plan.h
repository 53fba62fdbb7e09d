#pragma once

#include <arrow/result.h>

#include "coden/pipeline/cost_model.h"
#include "coden/pipeline/progress.h"
#include "coden/pipeline/settings.h"

namespace coden {

/// The size of the run that `settings` describe: from the schedule that its directory
/// holds for these settings and inputs, otherwise from a first pass over the log.
arrow::Result<CostSize> SizeOfRun(const Settings& settings, const RunContext& context);

}  // namespace coden
