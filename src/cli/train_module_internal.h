#pragma once

#include <arrow/result.h>

#include "coden/train/train_module.h"

namespace coden {

/// Whether the library with the training stage is beside this program.
bool HasTrainModule();

/// Load it, and LibTorch with it; once, however often it is called. An error says what
/// cannot be loaded.
arrow::Result<const TrainModule*> LoadTrainModule();

}  // namespace coden
