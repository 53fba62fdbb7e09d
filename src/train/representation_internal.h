#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/settings/train_options.h"
#include "train/trained_model_internal.h"
#include "train/training_data_internal.h"

// Like trainer_internal.h: no LibTorch type appears here.

namespace coden {

/// What a trained model knows of the nodes: the features its temporal part gives at a
/// prediction time, by the weights that predict it.
class Representation {
 public:
  /// `data` and `model` must outlive the object.
  Representation(const TrainingData& data, const TrainOptions& options, int threads,
                 const TrainedModel& model, const RunContext& context);
  ~Representation();

  /// [nodes, channels] at prediction time `k`; empty where no model predicts it.
  arrow::Result<std::vector<float>> At(std::int64_t k);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace coden
