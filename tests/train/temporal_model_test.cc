#include "train/temporal_model_internal.h"

#include <cmath>
#include <functional>
#include <string>

#include <gtest/gtest.h>

namespace coden {
namespace {

constexpr std::int64_t kNumNodes = 3;
constexpr std::int64_t kNumChannels = 5;
constexpr int kNumStates = 4;
constexpr std::int64_t kNumSnapshots = 7;
const std::vector<std::int64_t> kAt = {0, 3, 4, 6};

using Row = std::vector<double>;  // channels
using Rows = std::vector<Row>;    // snapshots
using Parameters = torch::OrderedDict<std::string, torch::Tensor>;

double Get(const torch::Tensor& tensor, std::int64_t i) {
  return tensor[i].item<double>();
}
double Get(const torch::Tensor& tensor, std::int64_t i, std::int64_t j) {
  return tensor[i][j].item<double>();
}

// Every model as it is defined, one number at a time: the features of one node after each
// snapshot.
Rows CurrentSnapshot(const Parameters&, const Rows& inputs) { return inputs; }

Rows DiagonalSsm(const Parameters& p, const Rows& inputs) {
  Rows features(inputs.size(), Row(kNumChannels));
  for (std::int64_t f = 0; f < kNumChannels; ++f) {
    const double delta = std::log1p(std::exp(Get(p["step"], f)));
    Row memory(kNumStates, 0.0);
    for (std::size_t t = 0; t < inputs.size(); ++t) {
      double y = Get(p["skip"], f) * inputs[t][f];
      for (int i = 0; i < kNumStates; ++i) {
        const double a = -std::exp(Get(p["log_rate"], f, i));
        const double decay = std::exp(delta * a);
        const double gain = (decay - 1.0) / a * Get(p["input"], f, i);
        memory[i] = decay * memory[i] + gain * inputs[t][f];
        y += Get(p["output"], f, i) * memory[i];
      }
      features[t][f] = y;
    }
  }
  return features;
}

Rows GatedAverage(const Rows& inputs,
                  const std::function<double(const Row&, std::int64_t)>& gate) {
  Rows features;
  Row memory(kNumChannels, 0.0);
  for (const Row& input : inputs) {
    for (std::int64_t f = 0; f < kNumChannels; ++f) {
      const double z = std::exp(-std::log1p(std::exp(gate(input, f))));
      memory[f] = z * memory[f] + (1.0 - z) * input[f];
    }
    features.push_back(memory);
  }
  return features;
}

Rows ChannelGate(const Parameters& p, const Rows& inputs) {
  return GatedAverage(inputs,
                      [&](const Row&, std::int64_t f) { return Get(p["gate"], f); });
}

Rows InputGate(const Parameters& p, const Rows& inputs) {
  return GatedAverage(inputs, [&](const Row& input, std::int64_t f) {
    double sum = Get(p["gate.bias"], f);
    for (std::int64_t g = 0; g < kNumChannels; ++g)
      sum += Get(p["gate.weight"], f, g) * input[g];
    return sum;
  });
}

Row Product(const torch::Tensor& matrix, const Row& vector) {
  Row product(matrix.size(0), 0.0);
  for (std::int64_t i = 0; i < matrix.size(0); ++i)
    for (std::int64_t j = 0; j < matrix.size(1); ++j)
      product[i] += Get(matrix, i, j) * vector[j];
  return product;
}

Rows OwnAttention(const Parameters& p, const Rows& inputs) {
  Rows features;
  for (std::size_t t = 0; t < inputs.size(); ++t) {
    const Row query = Product(p["query"], inputs[t]);
    Row sum(kNumChannels, 0.0);
    double total = 0.0;
    for (std::size_t s = 0; s <= t; ++s) {
      double square = 0.0;
      for (const double value : inputs[s]) square += value * value;
      if (square == 0.0 && s != t) continue;
      const Row key = Product(p["key"], inputs[s]);
      double score = 0.0;
      for (int i = 0; i < kNumStates; ++i) score += query[i] * key[i];
      const double weight = std::exp(score / std::sqrt(kNumStates));
      total += weight;
      for (std::int64_t f = 0; f < kNumChannels; ++f) sum[f] += weight * inputs[s][f];
    }
    for (double& value : sum) value /= total;
    Row feature = Product(p["value"], sum);
    for (std::int64_t f = 0; f < kNumChannels; ++f)
      feature[f] += Get(p["skip"], f) * inputs[t][f];
    features.push_back(feature);
  }
  return features;
}

struct Kind {
  const char* name;
  ModelKind model;
  GateKind gate;
  Rows (*written_out)(const Parameters&, const Rows&);
};

class TemporalModelTest : public ::testing::TestWithParam<Kind> {
 protected:
  // A model in double precision whose parameters are all away from their start.
  static std::shared_ptr<TemporalModel> MakeModel() {
    torch::manual_seed(7);
    TrainOptions options;
    options.model = GetParam().model;
    options.gate = GetParam().gate;
    options.states = kNumStates;
    auto model = MakeTemporalModel(options, kNumChannels);
    model->to(torch::kFloat64);
    torch::NoGradGuard no_gradients;
    for (torch::Tensor& parameter : model->parameters())
      parameter.add_(torch::randn_like(parameter), /*alpha=*/0.3);
    return model;
  }

  // Node 1 comes with snapshot 2.
  static torch::Tensor MakeHistory() {
    torch::manual_seed(8);
    torch::Tensor history =
        torch::randn({kNumNodes, kNumChannels, kNumSnapshots}, torch::kFloat64);
    history[1].narrow(1, 0, 2).zero_();
    return history;
  }

  static torch::Tensor Forward(const TemporalModel& model, const torch::Tensor& history) {
    return model.Forward(history, kAt, model.Prepare(kAt));
  }
};

TEST_P(TemporalModelTest, IsWhatIsWrittenOut) {
  const auto model = MakeModel();
  const torch::Tensor history = MakeHistory();
  const torch::Tensor features = Forward(*model, history);
  ASSERT_EQ(features.sizes().vec(),
            (std::vector<std::int64_t>{kNumNodes, 4, kNumChannels}));
  for (std::int64_t node = 0; node < kNumNodes; ++node) {
    Rows inputs(kNumSnapshots, Row(kNumChannels));
    for (std::int64_t s = 0; s < kNumSnapshots; ++s)
      for (std::int64_t f = 0; f < kNumChannels; ++f)
        inputs[s][f] = history[node][f][s].item<double>();
    const Rows expected = GetParam().written_out(model->named_parameters(), inputs);
    for (std::size_t k = 0; k < kAt.size(); ++k)
      for (std::int64_t f = 0; f < kNumChannels; ++f)
        EXPECT_NEAR(features[node][static_cast<std::int64_t>(k)][f].item<double>(),
                    expected[kAt[k]][f], 1e-12);
  }
}

TEST_P(TemporalModelTest, StepsGiveTheSameFeatures) {
  const auto model = MakeModel();
  const torch::Tensor history = MakeHistory();
  const torch::Tensor features = Forward(*model, history);
  torch::Tensor state = model->StartState(kNumNodes);
  std::int64_t k = 0;
  for (std::int64_t s = 0; s < kNumSnapshots; ++s) {
    const torch::Tensor now = model->Step(state, history.select(/*dim=*/2, s));
    if (kAt[k] != s) continue;
    EXPECT_TRUE(torch::allclose(now, features.select(/*dim=*/1, k), 1e-12, 1e-12));
    ++k;
  }
  EXPECT_EQ(k, 4);
}

TEST_P(TemporalModelTest, FeaturesDoNotSeeLaterSnapshots) {
  const auto model = MakeModel();
  const torch::Tensor history = MakeHistory();
  torch::Tensor changed = history.clone();
  changed.narrow(/*dim=*/2, 4, 3).fill_(100.0);
  const torch::Tensor before = Forward(*model, history);
  const torch::Tensor after = Forward(*model, changed);
  EXPECT_TRUE(torch::equal(before.narrow(1, 0, 2), after.narrow(1, 0, 2)));
  EXPECT_FALSE(torch::equal(before.narrow(1, 2, 1), after.narrow(1, 2, 1)));
}

// Some times give what all times give at them.
TEST_P(TemporalModelTest, AnyTimesCanBeAskedFor) {
  const auto model = MakeModel();
  const torch::Tensor history = MakeHistory();
  const std::vector<std::int64_t> some = {3, 4};
  const torch::Tensor all = Forward(*model, history);
  const torch::Tensor found = model->Forward(history, some, model->Prepare(some));
  EXPECT_TRUE(torch::allclose(found, all.narrow(1, 1, 2), 1e-13, 1e-13));
}

TEST_P(TemporalModelTest, GradientsAgreeWithFiniteDifferences) {
  constexpr double kStep = 1e-6;
  const auto model = MakeModel();
  if (model->parameters().empty()) return;
  const torch::Tensor history = MakeHistory();
  const torch::Tensor weights =
      torch::randn({kNumNodes, 4, kNumChannels}, torch::kFloat64);
  const auto loss = [&] { return (Forward(*model, history) * weights).sum(); };
  loss().backward();
  torch::NoGradGuard no_gradients;
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

INSTANTIATE_TEST_SUITE_P(
    Models, TemporalModelTest,
    ::testing::Values(
        Kind{"coden", ModelKind::kCoden, GateKind::kChannel, DiagonalSsm},
        Kind{"coden_s", ModelKind::kCodenS, GateKind::kChannel, CurrentSnapshot},
        Kind{"coden_r", ModelKind::kCodenR, GateKind::kChannel, ChannelGate},
        Kind{"coden_r_input", ModelKind::kCodenR, GateKind::kInput, InputGate},
        Kind{"coden_a", ModelKind::kCodenA, GateKind::kChannel, OwnAttention}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace coden
