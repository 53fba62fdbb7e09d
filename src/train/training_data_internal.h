#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "coden/base/types.h"
#include "train/node_history_internal.h"

namespace coden {

/// One prediction time t_k and the snapshot that was taken there.
struct PredictionPoint {
  int prediction = 0;         ///< k, from 1
  EventTime time = 0;         ///< t_k
  std::int64_t snapshot = 0;  ///< index among the snapshots held, not of the run
};

/// Numbers that a model reads beside the history, [nodes, versions, width]: one version
/// for all prediction times, or one for each.
struct NodeFeatureRows {
  std::int64_t width = 0;
  std::int64_t versions = 1;
  std::vector<float> values;
};

/// What a model learns from: the labelled nodes, what is known of them over time and
/// their labels. Knows neither Arrow nor LibTorch.
///
/// All arrays have the node as their slowest dimension, so that a mini-batch of nodes is
/// a gather of whole contiguous blocks.
struct TrainingData {
  std::int64_t num_nodes = 0;
  std::int64_t num_snapshots = 0;
  int num_classes = 0;

  /// What comes with every snapshot, group by group; the channels of a model are those of
  /// all groups in this order. Zeros where a node was not there yet.
  std::vector<std::shared_ptr<const NodeHistory>> channels;
  /// Pairs of a window and an alpha that the last group has label columns of; 0: it has
  /// none. Each is a block of 2 * num_classes channels: the shares of the classes, then
  /// their evidence (ReadLabelRow).
  int label_blocks = 0;
  int start_block = 0;  ///< the one whose shares a model starts from
  NodeFeatureRows features;
  /// In order of time.
  std::vector<PredictionPoint> predictions;
  /// [num_nodes, predictions]: the class valid at t_k, -1 where there is none.
  std::vector<std::int32_t> labels;
  /// [num_nodes, predictions]: 1 where the node had an event by t_k.
  std::vector<std::uint8_t> present;

  std::int64_t num_predictions() const {
    return static_cast<std::int64_t>(predictions.size());
  }
  /// Whether a pair counts: its node has a label and is present then.
  bool Counts(std::int64_t pair) const { return labels[pair] >= 0 && present[pair] != 0; }
  std::int64_t num_channels() const {
    std::int64_t sum = 0;
    for (const auto& group : channels) sum += group->shape().channels;
    return sum;
  }
};

}  // namespace coden
