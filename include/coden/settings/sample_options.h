#pragma once

namespace coden {

/// How the shift of the embeddings is bounded between two snapshots (docs/sampling.md).
enum class ShiftBound {
  kRelative,  ///< closed form with x_max, relative to the feature mass present
  kPaper,     ///< closed form with x_max plus 2nε per event, absolute
  kStrict,    ///< with the embedding of x_max in place of x_max: a true bound
};

struct SampleOptions {
  ShiftBound bound = ShiftBound::kRelative;
  double lambda = 0.1;
  int max_per_interval = 0;
};

}  // namespace coden
