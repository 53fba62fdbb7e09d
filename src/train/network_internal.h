#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <torch/torch.h>

#include "coden/train/train_options.h"
#include "train/classifier_internal.h"
#include "train/temporal_model_internal.h"
#include "train/trainer_internal.h"

namespace coden {

/// A whole model: the temporal part and the classifier on top of it.
class Network : public torch::nn::Module {
 public:
  Network(const TrainingData& data, const TrainOptions& options);

  /// Map the `history` of some nodes [nodes, channels, snapshots] to the scores of those
  /// pairs that `pairs` picks from the flattened [nodes, predictions]. May be called from
  /// many threads; `random` is for dropout.
  torch::Tensor Forward(const torch::Tensor& history, const torch::Tensor& pairs,
                        SplitMix64& random);

  /// Make AdamW for the parameters. Weights of linear layers decay; biases, the norm and
  /// the temporal parameters, whose zero means nothing, do not.
  torch::optim::AdamW MakeOptimizer(const TrainOptions& options) const;

  std::vector<torch::Tensor> CopyWeights() const;
  void RestoreWeights(const std::vector<torch::Tensor>& weights);
  std::vector<NamedTensor> ExportWeights() const;

 private:
  std::shared_ptr<TemporalModel> temporal_;
  std::shared_ptr<Classifier> classifier_;
  std::int64_t num_channels_;
};

}  // namespace coden
