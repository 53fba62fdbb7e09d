#pragma once

#include <cstdint>

#include <arrow/status.h>

#include "coden/pipeline/passes.h"
#include "coden/pipeline/settings.h"

namespace coden {

/// What a run will need, known after the first pass and before the second.
struct ResourceEstimate {
  std::int64_t memory_bytes = 0;  ///< peak of the embedding
  std::int64_t disk_bytes = 0;    ///< all snapshot files, at most
};

/// `num_labelled` bounds the rows of a snapshot with `snapshot.nodes = labelled`.
ResourceEstimate EstimateResources(const Settings& settings, const RunInputs& inputs,
                                   const Schedule& schedule, std::int64_t num_labelled);

/// `run.memory_limit`, or what the machine has where that is 0.
std::int64_t MemoryLimit(const Settings& settings);

/// Refuse a run that needs more memory than `run.memory_limit` (or, where that is 0, than
/// the machine has) or more disk than is free below `run.directory`.
arrow::Status CheckResources(const Settings& settings, const ResourceEstimate& estimate);

}  // namespace coden
