// coden-a: a node looks back at its own snapshots, those most that answer its current
// one.
//
// Returns, for every node and prediction time t, y = V sum_s w_ts h_s + D h_t, where h
// are the node's embeddings, w_ts the softmax over its snapshots s <= t of q_t.k_s /
// sqrt(N), q = Q h and k = K h.
//
//   Q, K   [N, F]   V   [F, F]   D   [F]   N = `train.states`
//
// A snapshot whose row is zero is from before the node was there, and has no weight;
// snapshot t itself always has some.
//
// Method: products are taken in the order that leaves no [snapshots, N] or [snapshots, F]
// tensor behind: q_t.k_s is (K^T q_t).h_s, and V comes after the sum. The cost is that of
// two passes over the history for each prediction time, instead of N + F.
//
// Start: Q, K ~ N(0, 1/F); V = 0, so that the model starts as coden-s.
//
// Vaswani et al.: Attention Is All You Need, NeurIPS 2017.

#include "train/temporal_model_internal.h"

#include <cmath>
#include <limits>
#include <vector>

namespace coden {

namespace {

class OwnAttention : public TemporalModel {
 public:
  OwnAttention(std::int64_t num_channels, std::int64_t num_states)
      : score_scale_(1.0 / std::sqrt(static_cast<double>(num_states))) {
    const double scale = 1.0 / std::sqrt(static_cast<double>(num_channels));
    query_ =
        register_parameter("query", torch::randn({num_states, num_channels}) * scale);
    key_ = register_parameter("key", torch::randn({num_states, num_channels}) * scale);
    value_ = register_parameter("value", torch::zeros({num_channels, num_channels}));
    skip_ = register_parameter("skip", torch::ones({num_channels}));
  }

  torch::Tensor Forward(const torch::Tensor& history, SnapshotList at,
                        const torch::Tensor&) const override {
    const std::int64_t num_used = at.back() + 1;
    const torch::Tensor seen = history.narrow(2, 0, num_used);
    const torch::Tensor times =
        torch::tensor(at::ArrayRef<std::int64_t>(at.data(), at.size()), torch::kInt64)
            .unsqueeze(1);
    const torch::Tensor snapshots = torch::arange(num_used, torch::kInt64).unsqueeze(0);
    const torch::Tensor now = seen.index_select(2, times.squeeze(1)).transpose(1, 2);
    const torch::Tensor absent = seen.abs().amax(/*dim=*/1, /*keepdim=*/true).eq(0.0);
    const torch::Tensor hidden =
        (snapshots > times).unsqueeze(0) | (absent & (snapshots != times).unsqueeze(0));
    const torch::Tensor questions =
        torch::matmul(torch::matmul(now, query_.t()), key_) * score_scale_;
    const torch::Tensor weights =
        torch::softmax(torch::bmm(questions, seen)
                           .masked_fill(hidden, -std::numeric_limits<float>::infinity()),
                       /*dim=*/2);
    const torch::Tensor found = torch::bmm(weights, seen.transpose(1, 2));
    return torch::matmul(found, value_.t()) + skip_ * now;
  }

  // What it looks back at is all there was, so the state grows with every snapshot.
  torch::Tensor StartState(std::int64_t num_nodes) const override {
    return torch::empty({num_nodes, skip_.size(0), 0});
  }

  torch::Tensor Step(torch::Tensor& state, const torch::Tensor& rows) const override {
    state = torch::cat({state, rows.unsqueeze(2)}, /*dim=*/2);
    const std::int64_t last = state.size(2) - 1;
    return Forward(state, SnapshotList(&last, 1), {}).squeeze(1);
  }

 private:
  double score_scale_;
  torch::Tensor query_;  // Q, [states, channels]
  torch::Tensor key_;    // K, [states, channels]
  torch::Tensor value_;  // V, [channels, channels]
  torch::Tensor skip_;   // D, [channels]
};

}  // namespace

std::shared_ptr<TemporalModel> MakeOwnAttention(std::int64_t num_channels,
                                                std::int64_t num_states) {
  return std::make_shared<OwnAttention>(num_channels, num_states);
}

}  // namespace coden
