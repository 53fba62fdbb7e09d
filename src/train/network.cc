#include "train/network_internal.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "train/snapshot_kernel_internal.h"

namespace coden {

namespace {

// Added to shares before the logarithm: a class that nothing reaches is unlikely, not
// impossible.
constexpr double kShareFloor = 0.02;

// The groups of the classifier's inputs: channels after the temporal part, then once more
// for every average, then features.
std::vector<std::int64_t> GroupWidths(const NetworkShape& shape, std::size_t averages) {
  std::vector<std::int64_t> widths;
  for (std::size_t copy = 0; copy < 1 + averages; ++copy)
    widths.insert(widths.end(), shape.channels.begin(), shape.channels.end());
  if (shape.features > 0) widths.push_back(shape.features);
  return widths;
}

// Exponential averages with every pole, at the snapshots `at`: [nodes, times, poles *
// channels]. They learn nothing, and are the same kernel in every channel, so all of them
// are one product.
torch::Tensor Averages(const torch::Tensor& history, SnapshotList at,
                       const std::vector<double>& poles) {
  const std::int64_t num_used = at.back() + 1;
  const torch::Tensor pole = torch::tensor(poles, torch::kFloat32).unsqueeze(1);
  const torch::Tensor lags = torch::arange(num_used, torch::kFloat32);
  const torch::Tensor kernel = (1.0 - pole) * torch::pow(pole, lags);
  // [poles, snapshots, times] -> [snapshots, times * poles]
  const torch::Tensor matrix =
      KernelMatrix(kernel, at).permute({1, 2, 0}).reshape({num_used, -1});
  const torch::Tensor sums = torch::matmul(history.narrow(2, 0, num_used), matrix);
  return sums.transpose(1, 2).reshape(
      {history.size(0), static_cast<std::int64_t>(at.size()), -1});
}

}  // namespace

std::int64_t NetworkShape::num_channels() const {
  return std::accumulate(channels.begin(), channels.end(), std::int64_t{0});
}

Network::Network(const NetworkShape& shape, const TrainOptions& options)
    : shape_(shape), poles_(options.averages) {
  // A model may read features alone.
  if (shape.num_channels() == 0) {
    poles_.clear();
    temporal_ = register_module("temporal", MakeCurrentSnapshot());
  } else {
    temporal_ =
        register_module("temporal", MakeTemporalModel(options, shape.num_channels()));
  }
  classifier_ = register_module(
      "classifier", std::make_shared<Classifier>(
                        options, GroupWidths(shape, poles_.size()), shape.num_classes));
}

torch::Tensor Network::Forward(const torch::Tensor& history, SnapshotList at,
                               const torch::Tensor& prepared,
                               const torch::Tensor& features, const torch::Tensor& pairs,
                               SplitMix64& random) {
  const auto pick = [&](const torch::Tensor& rows) {
    return rows.reshape({-1, rows.size(2)}).index_select(0, pairs);
  };
  std::vector<torch::Tensor> inputs;
  if (shape_.num_channels() > 0)
    inputs.push_back(pick(temporal_->Forward(history, at, prepared)));
  if (!poles_.empty()) inputs.push_back(pick(Averages(history, at, poles_)));
  if (shape_.features > 0) {
    inputs.push_back(
        pick(features.expand({-1, static_cast<std::int64_t>(at.size()), -1})));
  }
  const torch::Tensor scores = classifier_->Forward(
      inputs.size() == 1 ? inputs.front() : torch::cat(inputs, 1), random);
  if (shape_.start_channel < 0) return scores;
  const torch::Tensor times =
      torch::tensor(at::ArrayRef<std::int64_t>(at.data(), at.size()), torch::kInt64);
  const torch::Tensor shares =
      history.narrow(1, shape_.start_channel, shape_.num_classes).index_select(2, times);
  return scores + torch::log(pick(shares.transpose(1, 2)) + kShareFloor);
}

std::vector<torch::Tensor> Network::StartStates(std::int64_t num_nodes) const {
  std::vector<torch::Tensor> states = {temporal_->StartState(num_nodes)};
  for (std::size_t i = 0; i < poles_.size(); ++i)
    states.push_back(torch::zeros({num_nodes, shape_.num_channels()}));
  return states;
}

torch::Tensor Network::Step(std::vector<torch::Tensor>& states,
                            const torch::Tensor& rows) const {
  std::vector<torch::Tensor> features = {temporal_->Step(states.front(), rows)};
  for (std::size_t i = 0; i < poles_.size(); ++i) {
    states[i + 1] = poles_[i] * states[i + 1] + (1.0 - poles_[i]) * rows;
    features.push_back(states[i + 1]);
  }
  return torch::cat(features, 1);
}

torch::Tensor Network::Score(const torch::Tensor& stepped, const torch::Tensor& rows,
                             const torch::Tensor& features) {
  SplitMix64 random(0);
  if (shape_.num_channels() == 0) return classifier_->Forward(features, random);
  const torch::Tensor scores = classifier_->Forward(
      shape_.features == 0 ? stepped : torch::cat({stepped, features}, 1), random);
  if (shape_.start_channel < 0) return scores;
  return scores + torch::log(rows.narrow(1, shape_.start_channel, shape_.num_classes) +
                             kShareFloor);
}

void Network::StartFromShares(const std::vector<float>& preference) {
  classifier_->ClearLastLayer(torch::tensor(preference));
}

torch::optim::AdamW Network::MakeOptimizer(const TrainOptions& options) const {
  const std::vector<torch::Tensor> linear = classifier_->LinearWeights();
  std::vector<torch::Tensor> other;
  for (const torch::Tensor& parameter : classifier_->parameters()) {
    const auto same = [&](const torch::Tensor& weight) {
      return weight.is_same(parameter);
    };
    if (std::none_of(linear.begin(), linear.end(), same)) other.push_back(parameter);
  }
  std::vector<torch::optim::OptimizerParamGroup> groups;
  const auto add = [&](const std::vector<torch::Tensor>& parameters, double scale,
                       double weight_decay) {
    if (parameters.empty()) return;
    auto rule = torch::optim::AdamWOptions(options.learning_rate * scale)
                    .weight_decay(weight_decay);
    groups.emplace_back(parameters,
                        std::make_unique<torch::optim::AdamWOptions>(std::move(rule)));
  };
  add(linear, 1.0, options.weight_decay);
  add(other, 1.0, 0.0);
  add(temporal_->parameters(), temporal_->RateScale(), 0.0);
  return torch::optim::AdamW(std::move(groups));
}

std::vector<NamedTensor> Network::Weights() const {
  std::vector<NamedTensor> weights;
  for (const auto& parameter : named_parameters()) {
    const torch::Tensor values = parameter.value().detach().contiguous();
    const float* first = values.const_data_ptr<float>();
    weights.push_back({parameter.key(), values.sizes().vec(),
                       std::vector<float>(first, first + values.numel())});
  }
  return weights;
}

bool Network::SetWeights(std::span<const NamedTensor> weights) {
  std::map<std::string, const NamedTensor*> by_name;
  for (const NamedTensor& tensor : weights) by_name.emplace(tensor.name, &tensor);
  torch::NoGradGuard no_gradients;
  for (auto& parameter : named_parameters()) {
    const auto found = by_name.find(parameter.key());
    if (found == by_name.end()) return false;
    const NamedTensor& tensor = *found->second;
    if (parameter.value().sizes().vec() != tensor.shape) return false;
    // from_blob takes no const pointer; the values are only read.
    parameter.value().copy_(
        torch::from_blob(const_cast<float*>(tensor.values.data()), tensor.shape));
  }
  return true;
}

}  // namespace coden
