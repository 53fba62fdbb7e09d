#pragma once

#include <cstdint>

#include <torch/torch.h>

#include "coden/train/train_options.h"
#include "pipeline/random_internal.h"

namespace coden {

/// The head of every model: LayerNorm, then `layers` linear layers with ReLU and dropout
/// between them, from features to one score per class.
class Classifier : public torch::nn::Module {
 public:
  Classifier(const TrainOptions& options, std::int64_t num_channels, int num_classes);

  /// Map [rows, channels] to [rows, classes], the logarithms of odds. In training mode,
  /// `random` says which hidden units are dropped. May be called from many threads.
  torch::Tensor Forward(const torch::Tensor& features, SplitMix64& random);

 private:
  torch::nn::LayerNorm norm_{nullptr};
  std::vector<torch::nn::Linear> linear_;
  double dropout_;
};

}  // namespace coden
