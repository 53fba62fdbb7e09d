#include "train/classifier_internal.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace coden {

namespace {

// Return a tensor like `rows` that is 1/kept with probability `kept`, otherwise 0. Four
// units share one random number: 16 bits each decide well enough.
torch::Tensor DropoutMask(const torch::Tensor& rows, double kept, SplitMix64& random) {
  const auto threshold = static_cast<std::uint64_t>(std::lround(kept * 0x1p16));
  const auto scale = static_cast<float>(1.0 / kept);
  torch::Tensor mask = torch::empty(rows.sizes());
  float* values = mask.data_ptr<float>();
  const std::int64_t size = mask.numel();
  for (std::int64_t i = 0; i < size; i += 4) {
    std::uint64_t bits = random.Next();
    for (std::int64_t unit = i; unit < std::min(i + 4, size); ++unit, bits >>= 16) {
      values[unit] = (bits & 0xffff) < threshold ? scale : 0.0f;
    }
  }
  return mask;
}

}  // namespace

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

torch::Tensor Classifier::Forward(const torch::Tensor& features, SplitMix64& random) {
  torch::Tensor rows = norm_->forward(features);
  for (std::size_t layer = 0; layer + 1 < linear_.size(); ++layer) {
    rows = torch::relu(linear_[layer]->forward(rows));
    if (!is_training() || dropout_ == 0.0) continue;
    rows = rows * DropoutMask(rows, 1.0 - dropout_, random);
  }
  return linear_.back()->forward(rows);
}

}  // namespace coden
