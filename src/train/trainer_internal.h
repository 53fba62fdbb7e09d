#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/pipeline/progress.h"
#include "coden/train/train_options.h"
#include "train/node_split_internal.h"
#include "train/training_data_internal.h"

// The face of the LibTorch part of the folder: no LibTorch type appears in it, so that
// the files which read and write Arrow do not pay for its headers.

namespace coden {

/// Nodes per task. Fixed, because the gradient is a sum over chunks and its rounding must
/// not depend on the number of threads; small, so that a chunk's tensors stay in cache
/// and the allocator reuses them.
inline constexpr std::size_t kChunkNodes = 128;

struct EpochRecord {
  int epoch = 0;  ///< from 1
  double loss = 0.0;
  double validate_micro_f1 = 0.0;
  double seconds = 0.0;
};

/// What a model says of every pair of a node and a prediction time that has a label;
/// [nodes, predictions], and -1, 0, 0 where there is no label.
struct PairScores {
  std::vector<std::int32_t> predicted;
  std::vector<float> probability;  ///< of the predicted class
  std::vector<float> loss;         ///< cross-entropy
};

struct NamedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

struct TrainedModel {
  std::vector<EpochRecord> epochs;
  int best_epoch = 0;
  double validate_micro_f1 = 0.0;
  PairScores scores;
  std::vector<NamedTensor> weights;
};

/// Whether `model` looks at snapshots other than those of the prediction times.
bool ReadsHistory(ModelKind model);

/// Train one model over all prediction times, then let the weights of the best epoch
/// predict every labelled pair.
///
/// The loss is the cross-entropy over pairs of a training node and a prediction time at
/// which it has a label and is present. `on_epoch` is called after each epoch. The result
/// depends on `data`, `split`, `options` and `seed` alone, not on `threads` (0: all
/// cores). Throws what LibTorch throws.
arrow::Result<TrainedModel> TrainModel(
    const TrainingData& data, std::span<const Part> split, const TrainOptions& options,
    std::uint64_t seed, int threads, const RunContext& context,
    const std::function<void(const EpochRecord&)>& on_epoch);

}  // namespace coden
