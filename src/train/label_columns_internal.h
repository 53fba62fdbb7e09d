#pragma once

#include <cstdint>
#include <vector>

#include "coden/pipeline/settings.h"

namespace coden {

/// The label columns of a model, said in full.
struct LabelColumnShape {
  int folds = 0;  ///< 0: there are none
  std::vector<double> alphas;
  std::vector<EventTime> windows;  ///< 0: edges do not expire

  /// Channels that they add to every snapshot: share and evidence of every class.
  std::int64_t NumChannels(int num_classes) const {
    if (folds == 0) return 0;
    return static_cast<std::int64_t>(alphas.size() * windows.size()) * 2 * num_classes;
  }
};

/// What `settings` ask for, where a list that is empty follows from the embedding.
inline LabelColumnShape ResolveLabelColumns(const Settings& settings) {
  const TrainOptions& train = settings.train;
  LabelColumnShape shape{train.label_columns, train.label_alphas, train.label_windows};
  if (shape.alphas.empty()) shape.alphas = {settings.embed.alpha};
  if (shape.windows.empty()) shape.windows = {settings.graph.window};
  return shape;
}

}  // namespace coden
