#pragma once

#include <cstdint>
#include <string>

#include <arrow/result.h>

#include "coden/pipeline/settings.h"
#include "coden/store/run_store.h"
#include "train/training_data_internal.h"

namespace coden {

/// Decide how much of the histories training holds, within `run.memory_limit`: 0 for all
/// snapshots, or that many at a time with the rest in a temporary file. An error where
/// not even one fits. Labels and presence of `data` are filled; an embedding has
/// `embedding_channels`.
arrow::Result<std::int64_t> PlanTrainingMemory(const Settings& settings,
                                               const TrainingData& data,
                                               std::int64_t embedding_channels);

/// Where temporary files go: the run's stage, which the next run clears, or the local
/// disk where the run is elsewhere.
std::string ScratchFolder(const RunStore& store);

}  // namespace coden
