#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <torch/torch.h>

#include "coden/settings/train_options.h"

namespace coden {

/// The snapshots of some prediction times, ascending.
using SnapshotList = std::span<const std::int64_t>;

/// The part of a model that looks at time: from what a node's snapshots have told so far
/// to features at every prediction time. Nodes do not see each other here, so any set of
/// nodes is a mini-batch.
class TemporalModel : public torch::nn::Module {
 public:
  /// What Forward needs of the parameters and nothing else, so that it is computed, and
  /// its gradient taken, once for all chunks of nodes: the kernel of a model that is one.
  /// Undefined where Forward uses the parameters themselves.
  virtual torch::Tensor Prepare(SnapshotList) const { return {}; }

  /// Map [nodes, channels, snapshots] to [nodes, times, channels], the features at the
  /// snapshots `at`; `prepared` is what Prepare returns for them. Features at a time
  /// depend on no later snapshot. Called from many threads at once.
  virtual torch::Tensor Forward(const torch::Tensor& history, SnapshotList at,
                                const torch::Tensor& prepared) const = 0;

  /// How much faster its parameters learn than the classifier's, whose inputs are
  /// normalised.
  virtual double RateScale() const { return 1.0; }

  /// Streaming form of Forward: take one more snapshot's rows [nodes, channels] into
  /// `state` and return the features of that moment. StartState is the state before any
  /// snapshot; its first dimension is the node.
  virtual torch::Tensor StartState(std::int64_t num_nodes) const = 0;
  virtual torch::Tensor Step(torch::Tensor& state, const torch::Tensor& rows) const = 0;
};

/// Make the model that `options.model` names; starting values are drawn from LibTorch's
/// default generator. A new model is a new file with its own Make function, and one line
/// here.
std::shared_ptr<TemporalModel> MakeTemporalModel(const TrainOptions& options,
                                                 std::int64_t num_channels);

/// coden-s (current_snapshot.cc), coden-r (gated_average.cc), coden-a (own_attention.cc).
std::shared_ptr<TemporalModel> MakeCurrentSnapshot();
std::shared_ptr<TemporalModel> MakeGatedAverage(std::int64_t num_channels, GateKind gate);
std::shared_ptr<TemporalModel> MakeOwnAttention(std::int64_t num_channels,
                                                std::int64_t num_states);

}  // namespace coden
