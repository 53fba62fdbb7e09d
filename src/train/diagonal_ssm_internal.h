#pragma once

#include <cstdint>

#include "train/snapshot_kernel_internal.h"

namespace coden {

/// coden: a diagonal state-space model in every channel (diagonal_ssm.cc).
class DiagonalSsm : public TemporalModel {
 public:
  DiagonalSsm(std::int64_t num_channels, std::int64_t num_states);

  torch::Tensor Prepare(SnapshotList at) const override;
  torch::Tensor Forward(const torch::Tensor& history, SnapshotList at,
                        const torch::Tensor& kernel) const override;

  double RateScale() const override { return kKernelRateScale; }

  /// Return [channels, num_lags]: what a snapshot adds to the features, by how many
  /// snapshots ago it was taken. The skip is part of lag 0.
  torch::Tensor Kernel(std::int64_t num_lags) const;

  /// The state is [nodes, channels, states].
  torch::Tensor StartState(std::int64_t num_nodes) const override;
  torch::Tensor Step(torch::Tensor& state, const torch::Tensor& rows) const override;

 private:
  struct Discrete {
    torch::Tensor log_decay;  ///< log of Abar
    torch::Tensor gain;       ///< Bbar
  };
  Discrete Discretise() const;

  torch::Tensor log_rate_;  // a, [channels, states]
  torch::Tensor input_;     // B, [channels, states]
  torch::Tensor output_;    // C, [channels, states]
  torch::Tensor step_;      // p, [channels]
  torch::Tensor skip_;      // D, [channels]
};

}  // namespace coden
