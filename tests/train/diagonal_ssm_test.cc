#include "train/diagonal_ssm_internal.h"

#include <cmath>

#include <gtest/gtest.h>

namespace coden {
namespace {

constexpr std::int64_t kNumNodes = 3;
constexpr std::int64_t kNumChannels = 5;
constexpr std::int64_t kNumStates = 4;
const TemporalShape kShape = {kNumChannels, /*num_snapshots=*/7, {0, 3, 4, 6}};

// A model in double precision whose parameters are all away from their starting values.
std::shared_ptr<DiagonalSsm> MakeModel() {
  torch::manual_seed(7);
  auto model = std::make_shared<DiagonalSsm>(kShape, kNumStates);
  model->to(torch::kFloat64);
  torch::NoGradGuard no_gradients;
  for (torch::Tensor& parameter : model->parameters()) {
    parameter.add_(torch::randn_like(parameter), /*alpha=*/0.3);
  }
  return model;
}

torch::Tensor MakeHistory() {
  torch::manual_seed(8);
  return torch::randn({kNumNodes, kNumChannels, kShape.num_snapshots}, torch::kFloat64);
}

// The recurrence as it is defined, one number at a time: features of one node and
// channel after every snapshot.
std::vector<double> WrittenOut(const DiagonalSsm& model, std::int64_t channel,
                               const std::vector<double>& inputs) {
  const auto parameters = model.named_parameters();
  const auto at = [&](const char* name, std::int64_t state) {
    return parameters[name][channel][state].item<double>();
  };
  const double delta = std::log1p(std::exp(parameters["step"][channel].item<double>()));
  const double skip = parameters["skip"][channel].item<double>();
  std::vector<double> memory(kNumStates, 0.0);
  std::vector<double> features;
  for (const double input : inputs) {
    double y = skip * input;
    for (std::int64_t i = 0; i < kNumStates; ++i) {
      const double a = -std::exp(at("log_rate", i));
      const double decay = std::exp(delta * a);
      const double gain = (decay - 1.0) / a * at("input", i);
      memory[i] = decay * memory[i] + gain * input;
      y += at("output", i) * memory[i];
    }
    features.push_back(y);
  }
  return features;
}

TEST(DiagonalSsm, KernelGivesTheWrittenOutRecurrence) {
  const auto model = MakeModel();
  const torch::Tensor history = MakeHistory();
  const torch::Tensor features = model->Forward(history);
  ASSERT_EQ(features.sizes().vec(), (std::vector<std::int64_t>{kNumNodes, 4, 5}));
  for (std::int64_t node = 0; node < kNumNodes; ++node) {
    for (std::int64_t channel = 0; channel < kNumChannels; ++channel) {
      std::vector<double> inputs;
      for (std::int64_t s = 0; s < kShape.num_snapshots; ++s) {
        inputs.push_back(history[node][channel][s].item<double>());
      }
      const std::vector<double> expected = WrittenOut(*model, channel, inputs);
      for (std::size_t k = 0; k < kShape.prediction_snapshots.size(); ++k) {
        EXPECT_NEAR(features[node][static_cast<std::int64_t>(k)][channel].item<double>(),
                    expected[kShape.prediction_snapshots[k]], 1e-12);
      }
    }
  }
}

TEST(DiagonalSsm, StreamingStepGivesTheSameFeatures) {
  const auto model = MakeModel();
  const torch::Tensor history = MakeHistory();
  const torch::Tensor features = model->Forward(history);
  torch::Tensor state =
      torch::zeros({kNumNodes, kNumChannels, kNumStates}, torch::kFloat64);
  std::int64_t k = 0;
  for (std::int64_t s = 0; s < kShape.num_snapshots; ++s) {
    const torch::Tensor now = model->Step(state, history.select(/*dim=*/2, s));
    if (kShape.prediction_snapshots[k] != s) continue;
    EXPECT_TRUE(torch::allclose(now, features.select(/*dim=*/1, k), 1e-12, 1e-12));
    ++k;
  }
  EXPECT_EQ(k, 4);
}

// Y = (L o Q K^T) V over one channel's snapshots: L[t,s] = [s <= t], queries C Abar^t,
// keys Bbar Abar^-s, values H.
TEST(DiagonalSsm, IsCausalLinearAttentionOverSnapshots) {
  const auto model = MakeModel();
  const torch::Tensor history = MakeHistory();
  const torch::Tensor features = model->Forward(history);
  const auto parameters = model->named_parameters();
  const torch::Tensor rate = -torch::exp(parameters["log_rate"]);
  const torch::Tensor log_decay = torch::softplus(parameters["step"]).unsqueeze(1) * rate;
  const torch::Tensor gain = torch::expm1(log_decay) / rate * parameters["input"];
  const torch::Tensor times =
      torch::arange(kShape.num_snapshots, torch::kFloat64).unsqueeze(1);
  for (std::int64_t channel = 0; channel < kNumChannels; ++channel) {
    const torch::Tensor query =
        parameters["output"][channel] * torch::exp(times * log_decay[channel]);
    const torch::Tensor key = gain[channel] * torch::exp(-times * log_decay[channel]);
    const torch::Tensor attention = torch::tril(query.mm(key.t()));
    const torch::Tensor value = history.select(/*dim=*/1, channel).t();
    const torch::Tensor y = attention.mm(value) + parameters["skip"][channel] * value;
    for (std::size_t k = 0; k < kShape.prediction_snapshots.size(); ++k) {
      const torch::Tensor found =
          features.select(1, static_cast<std::int64_t>(k)).select(1, channel);
      EXPECT_TRUE(torch::allclose(found, y[kShape.prediction_snapshots[k]], 1e-9, 1e-9));
    }
  }
}

TEST(DiagonalSsm, GradientsAgreeWithFiniteDifferences) {
  constexpr double kStep = 1e-6;
  const auto model = MakeModel();
  const torch::Tensor history = MakeHistory();
  const torch::Tensor weights =
      torch::randn({kNumNodes, 4, kNumChannels}, torch::kFloat64);
  const auto loss = [&] { return (model->Forward(history) * weights).sum(); };
  loss().backward();
  torch::NoGradGuard no_gradients;
  EXPECT_EQ(model->named_parameters().size(), 5u);
  for (const auto& parameter : model->named_parameters()) {
    SCOPED_TRACE(parameter.key());
    double* values = parameter.value().data_ptr<double>();
    const torch::Tensor gradient = parameter.value().grad().flatten();
    for (std::int64_t i = 0; i < parameter.value().numel(); ++i) {
      const double value = values[i];
      values[i] = value + kStep;
      const double above = loss().item<double>();
      values[i] = value - kStep;
      const double below = loss().item<double>();
      values[i] = value;
      EXPECT_NEAR(gradient[i].item<double>(), (above - below) / (2.0 * kStep), 1e-7);
    }
  }
}

TEST(DiagonalSsm, FeaturesDoNotSeeLaterSnapshots) {
  const auto model = MakeModel();
  const torch::Tensor history = MakeHistory();
  torch::Tensor changed = history.clone();
  changed.narrow(/*dim=*/2, 4, 3).fill_(100.0);
  const torch::Tensor before = model->Forward(history);
  const torch::Tensor after = model->Forward(changed);
  EXPECT_TRUE(torch::equal(before.narrow(1, 0, 2), after.narrow(1, 0, 2)));
  EXPECT_FALSE(torch::equal(before.narrow(1, 2, 1), after.narrow(1, 2, 1)));
}

// With a step so short that exp(Delta A) rounds to 1 in float, Bbar is Delta B, not 0.
TEST(DiagonalSsm, AVeryShortStepStillTakesInItsInput) {
  DiagonalSsm model({1, 2, {1}}, /*num_states=*/1);
  torch::NoGradGuard no_gradients;
  auto parameters = model.named_parameters();
  parameters["step"].fill_(std::log(1e-9));
  parameters["output"].fill_(1.0);
  parameters["skip"].fill_(0.0);
  EXPECT_NEAR(model.Kernel(2)[0][1].item<double>(), 1e-9, 1e-12);
}

TEST(DiagonalSsm, StartsAsDocumented) {
  torch::manual_seed(1);
  DiagonalSsm model({1000, 2, {1}}, /*num_states=*/3);
  const auto parameters = model.named_parameters();
  const torch::Tensor delta = torch::softplus(parameters["step"]);
  EXPECT_GE(delta.min().item<double>(), 0.9999e-3);
  EXPECT_LE(delta.max().item<double>(), 0.50001);
  EXPECT_NEAR(delta.log().mean().item<double>(), std::log(std::sqrt(0.5e-3)), 0.15);
  EXPECT_NEAR(parameters["output"].std().item<double>(), 0.25, 0.01);
  EXPECT_NEAR(parameters["log_rate"][0][2].item<double>(), std::log(3.0), 1e-6);
}

}  // namespace
}  // namespace coden
