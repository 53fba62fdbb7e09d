#pragma once

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/plan/cost_model.h"
#include "coden/settings/settings.h"

namespace coden {

/// The size of the run that `settings` describe: from the schedule that its directory
/// holds for these settings and inputs, otherwise from a first pass over the log.
arrow::Result<CostSize> SizeOfRun(const Settings& settings, const RunContext& context);

}  // namespace coden
