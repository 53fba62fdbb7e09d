#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <torch/torch.h>

#include "base/random_internal.h"
#include "coden/settings/train_options.h"

namespace coden {

/// The head of every model: a LayerNorm for each group of inputs, then `layers` linear
/// layers with ReLU and dropout between them, from features to one score per class.
///
/// Embeddings, label columns and features differ in scale by orders of magnitude. One
/// norm over all of them would be that of the largest.
class Classifier : public torch::nn::Module {
 public:
  /// A row is the inputs of all groups, one behind the other.
  Classifier(const TrainOptions& options, std::span<const std::int64_t> group_widths,
             int num_classes);

  /// Map [rows, inputs] to [rows, classes], the logarithms of odds. In training mode,
  /// `random` says which hidden units are dropped. May be called from many threads.
  torch::Tensor Forward(const torch::Tensor& rows, SplitMix64& random);

  /// Let the scores be `bias`, whatever the inputs are.
  void ClearLastLayer(const torch::Tensor& bias);

  /// The weights of the linear layers.
  std::vector<torch::Tensor> LinearWeights() const;

 private:
  std::vector<std::int64_t> group_widths_;
  std::vector<torch::nn::LayerNorm> norms_;
  std::vector<torch::nn::Linear> linear_;
  double dropout_;
};

}  // namespace coden
