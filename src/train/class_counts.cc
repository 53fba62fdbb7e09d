#include "train/class_counts_internal.h"

#include <algorithm>
#include <numeric>

namespace coden {

namespace {

constexpr double kTieBreak = 1e-3;

}  // namespace

std::vector<double> CountClasses(const ModelView& view,
                                 std::span<const std::int64_t> nodes,
                                 std::span<const std::int64_t> times) {
  const TrainingData& data = view.data();
  std::vector<double> counts(static_cast<std::size_t>(view.num_classes()));
  for (const std::int64_t node : nodes) {
    for (const std::int64_t k : times) {
      const std::int64_t pair = node * data.num_predictions() + k;
      if (data.Counts(pair)) ++counts[view.OutputOf(data.labels[pair])];
    }
  }
  return counts;
}

std::vector<float> BalancedWeights(std::span<const double> counts) {
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  const auto seen = static_cast<double>(std::count_if(
      counts.begin(), counts.end(), [](double count) { return count > 0.0; }));
  std::vector<float> weights;
  weights.reserve(counts.size());
  for (const double count : counts)
    weights.push_back(static_cast<float>(count > 0.0 ? all / (seen * count) : 0.0));
  return weights;
}

std::vector<float> TieBreak(std::span<const double> counts) {
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  std::vector<float> scores;
  scores.reserve(counts.size());
  for (const double count : counts)
    scores.push_back(static_cast<float>(kTieBreak * count / all));
  return scores;
}

}  // namespace coden
