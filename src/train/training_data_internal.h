#pragma once

#include <cstdint>
#include <vector>

#include "coden/graph/types.h"

namespace coden {

/// One prediction time t_k and the snapshot that was taken there.
struct PredictionPoint {
  int prediction = 0;         ///< k, from 1
  EventTime time = 0;         ///< t_k
  std::int64_t snapshot = 0;  ///< index among the snapshots held, not of the run
};

/// What a model learns from: the labelled nodes, their embeddings over time and their
/// labels. Knows neither Arrow nor LibTorch.
///
/// All arrays have the node as their slowest dimension, so that a mini-batch of nodes is
/// a gather of whole contiguous blocks.
struct TrainingData {
  std::int64_t num_nodes = 0;
  std::int64_t num_channels = 0;
  std::int64_t num_snapshots = 0;
  int num_classes = 0;

  /// [num_nodes, num_channels, num_snapshots]: embedding rows of length 1 (L2), or zeros
  /// where the node was not there yet. Time is the fastest dimension, so that the
  /// convolution over snapshots reads it in place.
  std::vector<float> history;
  /// In order of time.
  std::vector<PredictionPoint> predictions;
  /// [num_nodes, predictions]: the class valid at t_k, -1 where there is none.
  std::vector<std::int32_t> labels;
  /// [num_nodes, predictions]: 1 where the node had an event by t_k.
  std::vector<std::uint8_t> present;

  std::int64_t num_predictions() const {
    return static_cast<std::int64_t>(predictions.size());
  }
};

}  // namespace coden
