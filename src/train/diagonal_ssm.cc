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
// convolution over snapshots with the kernel K[f,j] = sum_i C Abar^j Bbar. Training lays
// the kernel out as a lower-triangular matrix per channel, one row per prediction time
// (row k holds K[f, s_k - s] at s <= s_k), and multiplies all channels in one batched
// product [F, nodes, S] x [F, S, K]. No [nodes, F, states] tensor exists; Step keeps one
// and is meant for streaming.
//
// Encoding: Abar^j is exp(j Delta A), so no lag depends on another; expm1 keeps Bbar
// exact when a step is so short that exp(Delta A) rounds to 1; D is added to lag 0.
//
// Start: a = log 1, log 2, ... (states from slow to fast, S4D-real), B = 1, C ~ N(0,1)/4,
// D = 1, Delta log-uniform in [0.001, 0.5].
//
// Gu, Gupta, Goel, Re: On the Parameterization and Initialization of Diagonal State Space
// Models, NeurIPS 2022. Gu, Dao: Mamba, 2023.

#include "train/diagonal_ssm_internal.h"

#include <cmath>
#include <utility>

namespace coden {

namespace {

constexpr double kShortestStep = 1e-3;
constexpr double kLongestStep = 0.5;

// Inverse of softplus.
torch::Tensor StepParameter(const torch::Tensor& delta) {
  return torch::log(torch::expm1(delta));
}

}  // namespace

DiagonalSsm::DiagonalSsm(const TemporalShape& shape, std::int64_t num_states)
    : shape_(shape) {
  const std::int64_t num_channels = shape.num_channels;
  const auto rates = torch::arange(1, num_states + 1, torch::kFloat32);
  log_rate_ = register_parameter("log_rate", torch::log(rates).repeat({num_channels, 1}));
  input_ = register_parameter("input", torch::ones({num_channels, num_states}));
  output_ = register_parameter("output", torch::randn({num_channels, num_states}) * 0.25);
  const double log_range = std::log(kLongestStep / kShortestStep);
  const auto delta = kShortestStep * torch::exp(torch::rand({num_channels}) * log_range);
  step_ = register_parameter("step", StepParameter(delta));
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

torch::Tensor DiagonalSsm::Forward(const torch::Tensor& history) {
  const std::int64_t num_snapshots = shape_.num_snapshots;
  // Latest lag last, then zeros: a window of this is one row of the triangular matrix.
  const auto windows = torch::constant_pad_nd(Kernel(num_snapshots).flip(1),
                                              /*pad=*/{0, num_snapshots});
  std::vector<torch::Tensor> rows;
  for (const std::int64_t snapshot : shape_.prediction_snapshots) {
    rows.push_back(windows.narrow(1, num_snapshots - 1 - snapshot, num_snapshots));
  }
  const auto triangle = torch::stack(rows, /*dim=*/1);
  const auto features = torch::bmm(history.transpose(0, 1), triangle.transpose(1, 2));
  // [F, nodes, K] -> [nodes, K, F], as a plain matrix transposition.
  const std::int64_t num_nodes = history.size(0);
  return features.view({shape_.num_channels, -1})
      .t()
      .contiguous()
      .view({num_nodes, -1, shape_.num_channels});
}

torch::Tensor DiagonalSsm::Step(torch::Tensor& state, const torch::Tensor& rows) const {
  const Discrete discrete = Discretise();
  state = torch::exp(discrete.log_decay) * state + discrete.gain * rows.unsqueeze(2);
  return (output_ * state).sum(2) + skip_ * rows;
}

}  // namespace coden
