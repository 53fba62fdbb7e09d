#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <torch/torch.h>

#include "coden/settings/train_options.h"
#include "train/classifier_internal.h"
#include "train/temporal_model_internal.h"
#include "train/trained_model_internal.h"

namespace coden {

/// What a network reads.
struct NetworkShape {
  std::vector<std::int64_t> channels;  ///< of each group, at every snapshot
  std::int64_t features = 0;           ///< once per node
  int num_classes = 0;
  /// The first of `num_classes` channels that hold the shares of the classes among the
  /// labels that reach a node: their logarithms are added to the scores, so that a
  /// network whose last layer is zero is label propagation. -1: nothing is added.
  std::int64_t start_channel = -1;

  std::int64_t num_channels() const;
};

/// A whole model: the temporal part, fixed averages beside it, the node's features beside
/// these, and the classifier on top.
class Network : public torch::nn::Module {
 public:
  Network(const NetworkShape& shape, const TrainOptions& options);

  /// What all chunks of a step share (TemporalModel::Prepare).
  torch::Tensor Prepare(SnapshotList at) const { return temporal_->Prepare(at); }

  /// Map the `history` of some nodes [nodes, channels, snapshots] to the scores of those
  /// pairs that `pairs` picks from the flattened [nodes, times]. `features` is [nodes,
  /// versions, features], or undefined where there are none. May be called from many
  /// threads; `random` is for dropout.
  torch::Tensor Forward(const torch::Tensor& history, SnapshotList at,
                        const torch::Tensor& prepared, const torch::Tensor& features,
                        const torch::Tensor& pairs, SplitMix64& random);

  /// What the temporal part alone makes of a history: [nodes, times, channels].
  torch::Tensor Represent(const torch::Tensor& history, SnapshotList at,
                          const torch::Tensor& prepared) const {
    return temporal_->Forward(history, at, prepared);
  }

  /// Streaming form, for one snapshot's rows [nodes, channels]: bring the states forward,
  /// then, for the moment after the last of them, score all nodes. `states` starts as
  /// StartStates.
  std::vector<torch::Tensor> StartStates(std::int64_t num_nodes) const;
  /// Returns the temporal features, which Score takes, together with the same rows.
  torch::Tensor Step(std::vector<torch::Tensor>& states, const torch::Tensor& rows) const;
  torch::Tensor Score(const torch::Tensor& stepped, const torch::Tensor& rows,
                      const torch::Tensor& features);

  /// For a network that starts from shares: let it be label propagation, with
  /// `preference` of each class added.
  void StartFromShares(const std::vector<float>& preference);
  const NetworkShape& shape() const { return shape_; }

  /// Make AdamW for the parameters, with the rates of the first epoch. Weights of linear
  /// layers decay; biases, norms and the temporal parameters, whose zero means nothing,
  /// do not.
  torch::optim::AdamW MakeOptimizer(const TrainOptions& options) const;

  std::vector<torch::Tensor> TemporalParameters() const {
    return temporal_->parameters();
  }
  const Classifier& classifier() const { return *classifier_; }

  /// The values of all parameters, with their names.
  std::vector<NamedTensor> Weights() const;
  /// Put them back; false where a name or a shape is not that of this network.
  [[nodiscard]] bool SetWeights(std::span<const NamedTensor> weights);

 private:
  NetworkShape shape_;
  std::vector<double> poles_;
  std::shared_ptr<TemporalModel> temporal_;
  std::shared_ptr<Classifier> classifier_;
};

}  // namespace coden
