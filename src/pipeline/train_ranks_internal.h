#pragma once

#include <string>

#include <arrow/result.h>
#include <arrow/status.h>

#include "coden/pipeline/pipeline.h"
#include "coden/state/fingerprint.h"
#include "coden/store/manifest.h"
#include "coden/store/run_store.h"

namespace coden {

/// Rank 0 has the run's lock and has decided to train on what manifest `number` says:
/// tell the other ranks, with what is saved of an interrupted training.
arrow::Status CallRanks(RankGroup& ranks, const RunStore& store, int number,
                        const Fingerprints& prints, const std::string& saved);

/// Tell them that there is nothing to do.
arrow::Status DismissRanks(RankGroup& ranks);

/// What every other rank does in the place of RunPipeline: wait for rank 0, check that it
/// has the same run and inputs before it, and train with it. Writes nothing.
arrow::Result<Manifest> AssistTraining(const Settings& settings,
                                       const RunRequest& request,
                                       const RunContext& context);

}  // namespace coden
