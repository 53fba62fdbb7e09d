#pragma once

#include <arrow/status.h>

#include "coden/settings/settings.h"
#include "coden/store/run_store.h"
#include "train/training_input_internal.h"

namespace coden {

/// Give `input` the feature vectors of its nodes, every column with mean 0 and deviation
/// 1 over the nodes that are present at the first prediction time: what comes later is
/// not known then. Feature updates are in force from their time on.
arrow::Status FillFeatures(const Settings& settings, const RunStore& store,
                           TrainingInput* input);

}  // namespace coden
