#pragma once

#include <arrow/status.h>

#include "coden/base/progress.h"
#include "coden/state/run_inputs.h"

namespace coden {

/// Read the log once, so that every node of it has its number in `inputs.nodes`.
arrow::Status NumberNodes(const Settings& settings, RunInputs& inputs,
                          const RunContext& context);

}  // namespace coden
