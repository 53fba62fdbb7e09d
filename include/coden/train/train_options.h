#pragma once

#include <cstdint>

namespace coden {

enum class ModelKind {
  kCoden,   ///< a diagonal state-space model per feature channel, over the snapshots
  kCodenS,  ///< no temporal part: the current snapshot alone
};

/// Shares of the labelled nodes that train, validate and test.
struct SplitShares {
  double train = 0.7;
  double validate = 0.1;
  double test = 0.2;
};

struct TrainOptions {
  ModelKind model = ModelKind::kCoden;
  int states = 16;
  int hidden = 512;
  int layers = 2;
  int epochs = 100;
  double learning_rate = 1e-3;
  int batch = 1024;
  double dropout = 0.5;
  double weight_decay = 0.0;
  int patience = 20;
  SplitShares split;
  int runs = 1;
};

}  // namespace coden
