// coden-r: the state-space model with A = -1, B = 1 and one state a channel, which is a
// gated recurrent unit without its products of states.
//
// Returns, for every node, channel and prediction time, the state M, which starts at zero
// and takes in each snapshot's embedding h by
//
//     M <- z M + (1 - z) h,   z = exp(-Delta),   Delta = softplus(s),   so z =
//     sigmoid(-s)
//
// s is a parameter of the channel, or linear in h (`train.gate = input`), which is the
// gated recurrence of the paper's lemma.
//
// Method: with a gate per channel it is a convolution with K[j] = (1 - z) z^j, and trains
// as one (snapshot_kernel.cc). A gate that depends on h has no kernel: it runs snapshot
// by snapshot, and the gradient keeps every state.
//
// Encoding: z^j is exp(-j Delta) and 1 - z is -expm1(-Delta), exact for short steps.
//
// Start: Delta log-uniform in [1, 5], so that a state is mostly the last snapshot.
//
// Gu et al.: Combining Recurrent, Convolutional, and Continuous-time Models with Linear
// State Space Layers, NeurIPS 2021 (lemma 3.1: gates as step sizes).

#include "train/snapshot_kernel_internal.h"

namespace coden {

namespace {

constexpr double kShortestStep = 1.0;
constexpr double kLongestStep = 5.0;

torch::Tensor MixIn(const torch::Tensor& state, const torch::Tensor& rows,
                    const torch::Tensor& gate) {
  const torch::Tensor keep = torch::sigmoid(-gate);
  return keep * state + (1.0 - keep) * rows;
}

class ChannelGate : public TemporalModel {
 public:
  explicit ChannelGate(std::int64_t num_channels) {
    gate_ =
        register_parameter("gate", DrawSteps(num_channels, kShortestStep, kLongestStep));
  }

  torch::Tensor Prepare(SnapshotList at) const override {
    const torch::Tensor delta = torch::softplus(gate_).unsqueeze(1);
    const torch::Tensor lags = torch::arange(at.back() + 1, gate_.options());
    return -torch::expm1(-delta) * torch::exp(-delta * lags);
  }

  torch::Tensor Forward(const torch::Tensor& history, SnapshotList at,
                        const torch::Tensor& kernel) const override {
    return ConvolveSnapshots(history, kernel, at);
  }

  double RateScale() const override { return kKernelRateScale; }

  torch::Tensor StartState(std::int64_t num_nodes) const override {
    return torch::zeros({num_nodes, gate_.size(0)});
  }

  torch::Tensor Step(torch::Tensor& state, const torch::Tensor& rows) const override {
    state = MixIn(state, rows, gate_);
    return state;
  }

 private:
  torch::Tensor gate_;  // s, [channels]
};

class InputGate : public TemporalModel {
 public:
  explicit InputGate(std::int64_t num_channels) {
    gate_ = register_module("gate", torch::nn::Linear(num_channels, num_channels));
    torch::NoGradGuard no_gradients;
    gate_->bias.copy_(DrawSteps(num_channels, kShortestStep, kLongestStep));
  }

  torch::Tensor Forward(const torch::Tensor& history, SnapshotList at,
                        const torch::Tensor&) const override {
    torch::Tensor state = StartState(history.size(0));
    std::vector<torch::Tensor> features;
    features.reserve(at.size());
    for (std::int64_t snapshot = 0; features.size() < at.size(); ++snapshot) {
      state = Next(state, history.select(2, snapshot));
      if (snapshot == at[features.size()]) features.push_back(state);
    }
    return torch::stack(features, /*dim=*/1);
  }

  torch::Tensor StartState(std::int64_t num_nodes) const override {
    return torch::zeros({num_nodes, gate_->bias.size(0)});
  }

  torch::Tensor Step(torch::Tensor& state, const torch::Tensor& rows) const override {
    state = Next(state, rows);
    return state;
  }

 private:
  torch::Tensor Next(const torch::Tensor& state, const torch::Tensor& rows) const {
    return MixIn(state, rows, torch::linear(rows, gate_->weight, gate_->bias));
  }

  torch::nn::Linear gate_{nullptr};
};

}  // namespace

std::shared_ptr<TemporalModel> MakeGatedAverage(std::int64_t num_channels,
                                                GateKind gate) {
  if (gate == GateKind::kInput) return std::make_shared<InputGate>(num_channels);
  return std::make_shared<ChannelGate>(num_channels);
}

}  // namespace coden
