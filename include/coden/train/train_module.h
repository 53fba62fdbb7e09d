#pragma once

#include <arrow/result.h>

#include "coden/train/predict.h"
#include "coden/train/rank_group.h"
#include "coden/train/train.h"

namespace coden {

/// The entrances of training. They are in a library of their own, because loading
/// LibTorch takes longer than most commands do.
struct TrainModule {
  decltype(&Train) train;
  decltype(&Predict) predict;
  decltype(&JoinRanks) join_ranks;
};

/// The name under which the library exports its TrainModule, and its file.
inline constexpr char kTrainModuleSymbol[] = "coden_train_module";
inline constexpr char kTrainModuleFile[] = "coden_train.so";

}  // namespace coden
