#include "train/classifier_internal.h"

#include <string>

namespace coden {

Classifier::Classifier(const TrainOptions& options, std::int64_t num_channels,
                       int num_classes)
    : dropout_(options.dropout) {
  norm_ = register_module(
      "norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({num_channels})));
  std::int64_t width = num_channels;
  for (int layer = 0; layer < options.layers; ++layer) {
    const bool last = layer + 1 == options.layers;
    const std::int64_t next_width = last ? num_classes : options.hidden;
    linear_.push_back(register_module("linear" + std::to_string(layer),
                                      torch::nn::Linear(width, next_width)));
    width = next_width;
  }
}

torch::Tensor Classifier::Forward(const torch::Tensor& features, at::Generator& random) {
  torch::Tensor rows = norm_->forward(features);
  for (std::size_t layer = 0; layer + 1 < linear_.size(); ++layer) {
    rows = torch::relu(linear_[layer]->forward(rows));
    if (!is_training() || dropout_ == 0.0) continue;
    const double kept = 1.0 - dropout_;
    rows = rows * torch::empty_like(rows).bernoulli_(kept, random).mul_(1.0 / kept);
  }
  return linear_.back()->forward(rows);
}

}  // namespace coden
