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

Classifier::Classifier(const TrainOptions& options,
                       std::span<const std::int64_t> group_widths, int num_classes)
    : group_widths_(group_widths.begin(), group_widths.end()), dropout_(options.dropout) {
  std::int64_t width = 0;
  for (const std::int64_t group : group_widths_) {
    norms_.push_back(
        register_module("norm" + std::to_string(norms_.size()),
                        torch::nn::LayerNorm(torch::nn::LayerNormOptions({group}))));
    width += group;
  }
  for (int layer = 0; layer < options.layers; ++layer) {
    const bool last = layer + 1 == options.layers;
    const std::int64_t next_width = last ? num_classes : options.hidden;
    linear_.push_back(register_module("linear" + std::to_string(layer),
                                      torch::nn::Linear(width, next_width)));
    width = next_width;
  }
}

torch::Tensor Classifier::Forward(const torch::Tensor& inputs, SplitMix64& random) {
  std::vector<torch::Tensor> groups = inputs.split_with_sizes(group_widths_, /*dim=*/1);
  for (std::size_t i = 0; i < groups.size(); ++i)
    groups[i] = norms_[i]->forward(groups[i]);
  torch::Tensor rows = groups.size() == 1 ? groups.front() : torch::cat(groups, 1);
  for (std::size_t layer = 0; layer + 1 < linear_.size(); ++layer) {
    rows = torch::relu(linear_[layer]->forward(rows));
    if (!is_training() || dropout_ == 0.0) continue;
    rows = rows * DropoutMask(rows, 1.0 - dropout_, random);
  }
  return linear_.back()->forward(rows);
}

void Classifier::ClearLastLayer(const torch::Tensor& bias) {
  torch::NoGradGuard no_gradients;
  linear_.back()->weight.zero_();
  linear_.back()->bias.copy_(bias);
}

std::vector<torch::Tensor> Classifier::LinearWeights() const {
  std::vector<torch::Tensor> weights;
  weights.reserve(linear_.size());
  for (const torch::nn::Linear& linear : linear_) weights.push_back(linear->weight);
  return weights;
}

}  // namespace coden
