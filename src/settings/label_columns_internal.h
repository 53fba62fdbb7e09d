#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "coden/settings/settings.h"

namespace coden {

/// The label columns of a model, said in full.
struct LabelColumnShape {
  int folds = 0;  ///< 0: there are none
  std::vector<double> alphas;
  std::vector<EventTime> windows;  ///< 0: edges do not expire

  int num_blocks() const { return static_cast<int>(alphas.size() * windows.size()); }
  /// The block of a window and an alpha from which a model starts: the first alpha on the
  /// whole graph or, where that is not among the windows, in the first of them.
  int start_block() const {
    const auto whole = std::find(windows.begin(), windows.end(), EventTime{0});
    const auto window = whole == windows.end() ? 0 : whole - windows.begin();
    return static_cast<int>(window) * static_cast<int>(alphas.size());
  }

  /// Channels that they add to every snapshot: share and evidence of every class.
  std::int64_t NumChannels(int num_classes) const {
    if (folds == 0) return 0;
    return std::int64_t{2} * num_blocks() * num_classes;
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
