#pragma once

#include <cstdint>
#include <map>

#include <arrow/result.h>

#include "coden/sample/schedule.h"
#include "coden/store/run_store.h"
#include "coden/train/predict.h"
#include "train/model_files_internal.h"
#include "train/model_state_internal.h"

namespace coden {

/// Which model predicts what, from where on.
struct ForecastPlan {
  SavedModel model;
  ModelProgress progress;     ///< of what was predicted before, or of the training
  Schedule chosen;            ///< snapshots that the model reads, to the last prediction
  std::int64_t num_done = 0;  ///< of them, those that saved states have taken in
  std::map<int, PredictedTime> times;  ///< to be predicted, by prediction
};

/// Open the committed model and what was predicted with it, and compare with the
/// schedule. Files that are not what was written are corruption.
arrow::Result<ForecastPlan> PlanForecast(const RunStore& store, const PredictTask& task);

}  // namespace coden
