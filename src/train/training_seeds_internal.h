#pragma once

#include <vector>

#include <arrow/result.h>

#include "coden/embed/label_embedder.h"
#include "coden/settings/settings.h"
#include "coden/state/committed_run.h"
#include "coden/store/run_store.h"
#include "train/model_files_internal.h"

namespace coden {

/// The labels that travel for a model, those of its training nodes with the folds they
/// had then, in a run that may have grown since. `settings.train` is that of the
/// training, and the labels are what they were.
arrow::Result<std::vector<LabelSeed>> TrainingSeeds(const Settings& settings,
                                                    const RunStore& store,
                                                    const CommittedRun& run,
                                                    const ModelConfig& config);

}  // namespace coden
