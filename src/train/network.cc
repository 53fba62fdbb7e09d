#include "train/network_internal.h"

#include <utility>

namespace coden {

Network::Network(const TrainingData& data, const TrainOptions& options)
    : num_channels_(data.num_channels) {
  TemporalShape shape{data.num_channels, data.num_snapshots, {}};
  for (const PredictionPoint& point : data.predictions) {
    shape.prediction_snapshots.push_back(point.snapshot);
  }
  temporal_ = register_module("temporal", MakeTemporalModel(options, shape));
  classifier_ = register_module(
      "classifier",
      std::make_shared<Classifier>(options, data.num_channels, data.num_classes));
}

torch::Tensor Network::Forward(const torch::Tensor& history, const torch::Tensor& pairs,
                               SplitMix64& random) {
  const torch::Tensor features = temporal_->Forward(history).reshape({-1, num_channels_});
  return classifier_->Forward(features.index_select(0, pairs), random);
}

torch::optim::AdamW Network::MakeOptimizer(const TrainOptions& options) const {
  std::vector<torch::Tensor> decaying;
  std::vector<torch::Tensor> other = temporal_->parameters();
  for (const torch::Tensor& parameter : classifier_->parameters()) {
    (parameter.dim() >= 2 ? decaying : other).push_back(parameter);
  }
  const auto group = [&](std::vector<torch::Tensor> parameters, double weight_decay) {
    return torch::optim::OptimizerParamGroup(
        std::move(parameters), std::make_unique<torch::optim::AdamWOptions>(
                                   torch::optim::AdamWOptions(options.learning_rate)
                                       .weight_decay(weight_decay)));
  };
  return torch::optim::AdamW(std::vector<torch::optim::OptimizerParamGroup>{
      group(std::move(decaying), options.weight_decay), group(std::move(other), 0.0)});
}

std::vector<torch::Tensor> Network::CopyWeights() const {
  std::vector<torch::Tensor> weights;
  for (const torch::Tensor& parameter : parameters()) {
    weights.push_back(parameter.detach().clone());
  }
  return weights;
}

void Network::RestoreWeights(const std::vector<torch::Tensor>& weights) {
  torch::NoGradGuard no_gradients;
  std::vector<torch::Tensor> own = parameters();
  for (std::size_t i = 0; i < weights.size(); ++i) own[i].copy_(weights[i]);
}

std::vector<NamedTensor> Network::ExportWeights() const {
  std::vector<NamedTensor> weights;
  for (const auto& parameter : named_parameters()) {
    const torch::Tensor values = parameter.value().detach().contiguous();
    const float* first = values.const_data_ptr<float>();
    weights.push_back({parameter.key(), values.sizes().vec(),
                       std::vector<float>(first, first + values.numel())});
  }
  return weights;
}

}  // namespace coden
