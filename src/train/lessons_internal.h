#pragma once

#include <cstdint>
#include <vector>

#include "coden/settings/train_options.h"

namespace coden {

/// One model of a protocol: the prediction times whose pairs it learns and validates on,
/// and those it predicts. Indices from 0, ascending.
struct Lesson {
  std::vector<std::int64_t> learn;
  std::vector<std::int64_t> predict;

  /// The last prediction time that the lesson looks at.
  std::int64_t last() const;
};

/// The lessons of `protocol` in order of time. With kRolling nobody predicts the first
/// prediction time, and there must be two.
std::vector<Lesson> MakeLessons(Protocol protocol, std::int64_t num_predictions);

/// Whether lesson `number` begins with the weights of the one before. It does not where
/// a class has become known in between, `classes` being those known by lesson: its model
/// has other outputs.
bool StartsWarm(const TrainOptions& options,
                const std::vector<std::vector<std::int32_t>>& classes, int number);

}  // namespace coden
