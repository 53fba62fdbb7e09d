#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "train/model_view_internal.h"

namespace coden {

/// By output of a model that sees `view`, the pairs of `nodes` and prediction `times`
/// that have a label and are present.
std::vector<double> CountClasses(const ModelView& view,
                                 std::span<const std::int64_t> nodes,
                                 std::span<const std::int64_t> times);

/// Weights of the classes in the loss that let all of them weigh the same: N / (classes
/// seen * N of it); 0 for a class without a pair.
std::vector<float> BalancedWeights(std::span<const double> counts);

/// A score of each class that grows with its share, so little that it only decides
/// between classes that are equally likely.
std::vector<float> TieBreak(std::span<const double> counts);

}  // namespace coden
