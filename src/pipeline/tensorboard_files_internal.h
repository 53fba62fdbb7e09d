#pragma once

#include <arrow/status.h>

#include "coden/store/manifest.h"

namespace coden {

/// Write what metrics.jsonl and metrics.parquet hold as event files for TensorBoard, one
/// folder per training run below tensorboard/, in the place of those that are there.
///
/// Tags `train/...` and `validate/...` count epochs, of all lessons one after another;
/// `test/...` count prediction times. Nothing happens where nothing was trained.
arrow::Status WriteTensorboardFiles(RunStore& store, const Manifest& manifest);

}  // namespace coden
