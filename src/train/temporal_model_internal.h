#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <torch/torch.h>

#include "coden/train/train_options.h"

namespace coden {

/// What a temporal model must know of the data before it sees any.
struct TemporalShape {
  std::int64_t num_channels = 0;
  std::int64_t num_snapshots = 0;
  std::vector<std::int64_t> prediction_snapshots;  ///< ascending
};

/// The part of a model that looks at time: from a node's embeddings so far to features at
/// every prediction time. Nodes do not see each other here, so any set of nodes is a
/// mini-batch.
class TemporalModel : public torch::nn::Module {
 public:
  /// Map [nodes, channels, snapshots] to [nodes, predictions, channels]. Features at a
  /// prediction time depend on no later snapshot. Called from many threads at once, so it
  /// changes nothing in the model.
  virtual torch::Tensor Forward(const torch::Tensor& history) = 0;
};

/// Make the model that `options.model` names. A new model is a new file with its own
/// Make function, one line here and one in ReadsHistory.
std::shared_ptr<TemporalModel> MakeTemporalModel(const TrainOptions& options,
                                                 const TemporalShape& shape);

std::shared_ptr<TemporalModel> MakeCurrentSnapshot(const TemporalShape& shape);

}  // namespace coden
