#pragma once

#include <cstdint>

#include <arrow/result.h>

#include "coden/sample/schedule.h"
#include "coden/settings/settings.h"
#include "train/model_files_internal.h"

namespace coden {

/// Check that predicting fits in `run.memory_limit`, on the snapshots of `chosen`. For a
/// model that keeps history return how many snapshots of it to hold: 0 for all, or that
/// many at a time with the rest in a temporary file.
arrow::Result<std::int64_t> PlanPredictMemory(const Settings& settings,
                                              const ModelConfig& config,
                                              std::int64_t num_nodes,
                                              const Schedule& chosen);

}  // namespace coden
