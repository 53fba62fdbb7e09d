#pragma once

#include <cstdint>
#include <vector>

#include "train/temporal_model_internal.h"

namespace coden {

/// coden: a diagonal state-space model in every feature channel (diagonal_ssm.cc).
class DiagonalSsm : public TemporalModel {
 public:
  /// Draw the starting values from LibTorch's default generator.
  DiagonalSsm(const TemporalShape& shape, std::int64_t num_states);

  torch::Tensor Forward(const torch::Tensor& history) override;

  /// Return [channels, num_lags]: what an embedding adds to the features, by how many
  /// snapshots ago it was taken. The skip is part of lag 0.
  torch::Tensor Kernel(std::int64_t num_lags) const;

  /// Streaming form of Forward: take one more snapshot's rows [nodes, channels] into
  /// `state` [nodes, channels, states], which starts as zeros, and return the features.
  torch::Tensor Step(torch::Tensor& state, const torch::Tensor& rows) const;

 private:
  struct Discrete {
    torch::Tensor log_decay;  ///< log of Abar
    torch::Tensor gain;       ///< Bbar
  };
  Discrete Discretise() const;

  TemporalShape shape_;
  torch::Tensor log_rate_;  // a, [channels, states]
  torch::Tensor input_;     // B, [channels, states]
  torch::Tensor output_;    // C, [channels, states]
  torch::Tensor step_;      // p, [channels]
  torch::Tensor skip_;      // D, [channels]
};

}  // namespace coden
