#pragma once

#include <numeric>

#include "train/trainer_internal.h"

// A training that takes a moment.

namespace coden {

inline SilentProgress silent;

inline TrainOptions SmallOptions() {
  TrainOptions options;
  options.states = 4;
  options.hidden = 32;
  options.epochs = 40;
  options.learning_rate = 1e-2;
  options.batch = 64;
  options.dropout = 0.1;
  return options;
}

inline std::vector<Part> SplitOf(const TrainingData& data, const TrainOptions& options,
                                 std::uint64_t seed) {
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(data.num_nodes));
  std::iota(keys.begin(), keys.end(), std::uint64_t{0});
  return SplitNodes(keys, options.split, seed);
}

inline arrow::Result<TrainedModel> TrainOn(
    const TrainingData& data, const TrainOptions& options, std::uint64_t seed,
    int threads = 1, arrow::StopToken stop = arrow::StopToken::Unstoppable()) {
  const auto split = SplitOf(data, options, seed);
  const RunContext context{&silent, stop};
  return TrainModel({data, split, options, seed, threads}, context);
}

}  // namespace coden
