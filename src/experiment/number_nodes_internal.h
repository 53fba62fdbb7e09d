#pragma once

#include <arrow/status.h>

#include "coden/pipeline/progress.h"
#include "coden/pipeline/run_inputs.h"

namespace coden {

/// Read the log once, so that every node of it has its number in `inputs.nodes`.
arrow::Status NumberNodes(const Settings& settings, RunInputs& inputs,
                          const RunContext& context);

}  // namespace coden
