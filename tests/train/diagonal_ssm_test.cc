#include "train/diagonal_ssm_internal.h"

#include <cmath>

#include <gtest/gtest.h>

namespace coden {
namespace {

constexpr std::int64_t kNumNodes = 3;
constexpr std::int64_t kNumChannels = 5;
constexpr std::int64_t kNumStates = 4;
constexpr std::int64_t kNumSnapshots = 7;
const std::vector<std::int64_t> kAt = {0, 3, 4, 6};

// A model in double precision whose parameters are all away from their starting values.
std::shared_ptr<DiagonalSsm> MakeModel() {
  torch::manual_seed(7);
  auto model = std::make_shared<DiagonalSsm>(kNumChannels, kNumStates);
  model->to(torch::kFloat64);
  torch::NoGradGuard no_gradients;
  for (torch::Tensor& parameter : model->parameters()) {
    parameter.add_(torch::randn_like(parameter), /*alpha=*/0.3);
  }
  return model;
}

torch::Tensor MakeHistory() {
  torch::manual_seed(8);
  return torch::randn({kNumNodes, kNumChannels, kNumSnapshots}, torch::kFloat64);
}

// Y = (L o Q K^T) V over one channel's snapshots: L[t,s] = [s <= t], queries C Abar^t,
// keys Bbar Abar^-s, values H.
TEST(DiagonalSsm, IsCausalLinearAttentionOverSnapshots) {
  const auto model = MakeModel();
  const torch::Tensor history = MakeHistory();
  const torch::Tensor features = model->Forward(history, kAt, model->Prepare(kAt));
  const auto parameters = model->named_parameters();
  const torch::Tensor rate = -torch::exp(parameters["log_rate"]);
  const torch::Tensor log_decay = torch::softplus(parameters["step"]).unsqueeze(1) * rate;
  const torch::Tensor gain = torch::expm1(log_decay) / rate * parameters["input"];
  const torch::Tensor times = torch::arange(kNumSnapshots, torch::kFloat64).unsqueeze(1);
  for (std::int64_t channel = 0; channel < kNumChannels; ++channel) {
    const torch::Tensor query =
        parameters["output"][channel] * torch::exp(times * log_decay[channel]);
    const torch::Tensor key = gain[channel] * torch::exp(-times * log_decay[channel]);
    const torch::Tensor attention = torch::tril(query.mm(key.t()));
    const torch::Tensor value = history.select(/*dim=*/1, channel).t();
    const torch::Tensor y = attention.mm(value) + parameters["skip"][channel] * value;
    for (std::size_t k = 0; k < kAt.size(); ++k) {
      const torch::Tensor found =
          features.select(1, static_cast<std::int64_t>(k)).select(1, channel);
      EXPECT_TRUE(torch::allclose(found, y[kAt[k]], 1e-9, 1e-9));
    }
  }
}

// With a step so short that exp(Delta A) rounds to 1 in float, Bbar is Delta B, not 0.
TEST(DiagonalSsm, AVeryShortStepStillTakesInItsInput) {
  DiagonalSsm model(/*num_channels=*/1, /*num_states=*/1);
  torch::NoGradGuard no_gradients;
  auto parameters = model.named_parameters();
  parameters["step"].fill_(std::log(1e-9));
  parameters["output"].fill_(1.0);
  parameters["skip"].fill_(0.0);
  EXPECT_NEAR(model.Kernel(2)[0][1].item<double>(), 1e-9, 1e-12);
}

TEST(DiagonalSsm, StartsAsDocumented) {
  torch::manual_seed(1);
  DiagonalSsm model(/*num_channels=*/1000, /*num_states=*/3);
  const auto parameters = model.named_parameters();
  const torch::Tensor delta = torch::softplus(parameters["step"]);
  EXPECT_GE(delta.min().item<double>(), 0.9999e-3);
  EXPECT_LE(delta.max().item<double>(), 0.50001);
  EXPECT_NEAR(delta.log().mean().item<double>(), std::log(std::sqrt(0.5e-3)), 0.15);
  EXPECT_EQ(parameters["output"].abs().max().item<double>(), 0.0);
  EXPECT_NEAR(parameters["log_rate"][0][2].item<double>(), std::log(3.0), 1e-6);
}

}  // namespace
}  // namespace coden
