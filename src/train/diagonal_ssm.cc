// coden: a diagonal state-space model in every feature channel, over a node's snapshots.
//
// Returns, for every node, channel f and prediction time, y = sum_i C M + D h, where the
// states M start at zero and take in each snapshot's embedding h by M <- Abar M + Bbar h.
//
//   H, F, S, K   embeddings; channels; snapshots; prediction times
//   a            A = -exp(a) < 0, the rate at which a state forgets
//   p            Delta = softplus(p) > 0, the length of a step between snapshots
//   B, C, D      input and output weight of a state; skip from h to y
//   Abar, Bbar   zero-order hold: exp(Delta A), expm1(Delta A) / A * B
//
// Method: nothing in the recurrence depends on h or on the node, so unrolled it is a
// convolution over snapshots with the kernel K[f,j] = sum_i C Abar^j Bbar, which training
// uses (snapshot_kernel.cc). No [nodes, F, states] tensor exists; Step keeps one and is
// meant for streaming.
//
// Encoding: Abar^j is exp(j Delta A), so no lag depends on another; expm1 keeps Bbar
// exact when a step is so short that exp(Delta A) rounds to 1; D is added to lag 0.
//
// Start: a = log 1, log 2, ... (states from slow to fast, S4D-real), B = 1, C = 0, D = 1,
// Delta log-uniform in [0.001, 0.5]. So the model starts as coden-s and takes from the
// past what helps.
//
// Gu, Gupta, Goel, Re: On the Parameterization and Initialization of Diagonal State Space
// Models, NeurIPS 2022. Gu, Dao: Mamba, 2023.

#include "train/diagonal_ssm_internal.h"

namespace coden {

namespace {

constexpr double kShortestStep = 1e-3;
constexpr double kLongestStep = 0.5;

}  // namespace

DiagonalSsm::DiagonalSsm(std::int64_t num_channels, std::int64_t num_states) {
  const auto rates = torch::arange(1, num_states + 1, torch::kFloat32);
  log_rate_ = register_parameter("log_rate", torch::log(rates).repeat({num_channels, 1}));
  input_ = register_parameter("input", torch::ones({num_channels, num_states}));
  output_ = register_parameter("output", torch::zeros({num_channels, num_states}));
  step_ =
      register_parameter("step", DrawSteps(num_channels, kShortestStep, kLongestStep));
  skip_ = register_parameter("skip", torch::ones({num_channels}));
}

DiagonalSsm::Discrete DiagonalSsm::Discretise() const {
  const auto rate = -torch::exp(log_rate_);
  const auto log_decay = torch::softplus(step_).unsqueeze(1) * rate;
  return {log_decay, torch::expm1(log_decay) / rate * input_};
}

torch::Tensor DiagonalSsm::Kernel(std::int64_t num_lags) const {
  const Discrete discrete = Discretise();
  const auto lags = torch::arange(num_lags, log_rate_.options());
  const auto decays = torch::exp(discrete.log_decay.unsqueeze(2) * lags);
  const auto weights = (output_ * discrete.gain).unsqueeze(1);
  const auto kernel = torch::bmm(weights, decays).squeeze(1);
  return torch::cat(
      {kernel.narrow(1, 0, 1) + skip_.unsqueeze(1), kernel.narrow(1, 1, num_lags - 1)},
      /*dim=*/1);
}

torch::Tensor DiagonalSsm::Prepare(SnapshotList at) const {
  return Kernel(at.back() + 1);
}

torch::Tensor DiagonalSsm::Forward(const torch::Tensor& history, SnapshotList at,
                                   const torch::Tensor& kernel) const {
  return ConvolveSnapshots(history, kernel, at);
}

torch::Tensor DiagonalSsm::StartState(std::int64_t num_nodes) const {
  return torch::zeros({num_nodes, log_rate_.size(0), log_rate_.size(1)});
}

torch::Tensor DiagonalSsm::Step(torch::Tensor& state, const torch::Tensor& rows) const {
  const Discrete discrete = Discretise();
  state = torch::exp(discrete.log_decay) * state + discrete.gain * rows.unsqueeze(2);
  return (output_ * state).sum(2) + skip_ * rows;
}

}  // namespace coden
