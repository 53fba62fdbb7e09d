#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include <arrow/result.h>

#include "coden/base/progress.h"
#include "coden/settings/train_options.h"
#include "coden/train/rank_group.h"
#include "train/node_split_internal.h"
#include "train/trained_model_internal.h"
#include "train/training_data_internal.h"

// The face of the LibTorch part of the folder: no LibTorch type appears in it.

namespace coden {

struct TrainTask {
  const TrainingData& data;
  std::span<const Part> split;
  const TrainOptions& options;
  std::uint64_t seed = 0;
  int threads = 0;  ///< 0: all cores. The result does not depend on it.
  /// Go on from here; a default one starts.
  TrainerMemory memory = {};
  /// Called after each epoch; the second argument gives all that training has come to.
  std::function<arrow::Status(const EpochRecord&,
                              const std::function<TrainerMemory()>& memory)>
      on_epoch = {};
  /// Those that learn the same task together; null: this process does alone. The result
  /// does not depend on how many there are. Scores are rank 0's.
  RankGroup* ranks = nullptr;
};

/// Learn the lessons of the protocol one after another, and let the weights of the best
/// epoch of each predict every labelled pair of the times that are the lesson's to
/// predict.
///
/// The loss is the cross-entropy over pairs of a training node and a prediction time at
/// which it has a label and is present. The result depends on data, split, options and
/// seed alone. Throws what LibTorch throws.
arrow::Result<TrainedModel> TrainModel(TrainTask task, const RunContext& context);

}  // namespace coden
