#pragma once

#include <cstdint>

#include <arrow/util/logging.h>

#include "base/random_internal.h"
#include "train/training_data_internal.h"

namespace coden {

/// Make a task whose answer lies in the past: embeddings are noise, and the class of a
/// node at a prediction time is the sign of the sum of its channel 0 over all snapshots
/// so far. The current snapshot alone is right a little more often than a coin.
inline TrainingData HistoryTask(std::int64_t num_nodes, std::int64_t num_snapshots,
                                std::int64_t num_channels, std::int64_t num_predictions,
                                std::uint64_t seed) {
  TrainingData data;
  data.num_nodes = num_nodes;
  data.num_snapshots = num_snapshots;
  data.num_classes = 2;
  for (std::int64_t k = 1; k <= num_predictions; ++k) {
    const std::int64_t snapshot = k * num_snapshots / num_predictions - 1;
    data.predictions.push_back({static_cast<int>(k), 10 * k, snapshot});
  }
  SplitMix64 random(seed);
  std::shared_ptr<NodeHistory> history =
      NodeHistory::Make({num_nodes, num_channels, num_snapshots}).ValueOrDie();
  for (std::int64_t s = 0; s < num_snapshots; ++s) {
    for (std::int64_t node = 0; node < num_nodes; ++node) {
      for (std::int64_t channel = 0; channel < num_channels; ++channel) {
        const double uniform = static_cast<double>(random.Next() >> 11) * 0x1p-53;
        history->Row(node)[channel] = static_cast<float>(2.0 * uniform - 1.0);
      }
    }
    ARROW_CHECK_OK(history->EndSnapshot());
  }
  std::vector<float> channel(static_cast<std::size_t>(num_channels * num_snapshots));
  for (std::int64_t node = 0; node < num_nodes; ++node) {
    ARROW_CHECK_OK(history->Read(node, num_snapshots, channel.data()));
    for (const PredictionPoint& point : data.predictions) {
      double sum = 0.0;
      for (std::int64_t s = 0; s <= point.snapshot; ++s) sum += channel[s];
      data.labels.push_back(sum > 0.0);
      data.present.push_back(1);
    }
  }
  data.channels = {std::move(history)};
  return data;
}

}  // namespace coden
