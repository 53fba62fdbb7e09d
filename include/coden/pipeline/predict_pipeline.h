#pragma once

#include <functional>
#include <vector>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/settings/settings.h"
#include "coden/store/manifest.h"
#include "coden/train/predict.h"

namespace coden {

/// The predicting stage. It is handed in, as the training stage is (pipeline.h).
using PredictStage = std::function<arrow::Result<PredictSummary>(
    const Settings&, RunStore&, const PredictTask&, const RunContext&)>;

struct PredictRequest {
  bool force = false;    ///< forget what was predicted since the training
  PredictStage predict;  ///< none in a build without training
};

struct PredictOutcome {
  Manifest manifest;
  std::vector<PredictedTime> times;  ///< that were predicted by this call
};

/// Bring the snapshots of a trained run up to date, let its model predict the prediction
/// times that have come since, and publish both. What the model is follows from the run:
/// `train.*` of the settings has no effect. Labels are read only where the model reads
/// label columns, and must then be those of the training.
arrow::Result<PredictOutcome> PredictPipeline(const Settings& settings,
                                              const PredictRequest& request,
                                              const RunContext& context);

}  // namespace coden
