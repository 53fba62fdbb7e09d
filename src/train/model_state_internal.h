#pragma once

#include <cstdint>
#include <string>

#include <arrow/result.h>
#include <arrow/status.h>

#include "coden/store/file_record.h"
#include "coden/store/run_store.h"
#include "train/node_states_internal.h"

namespace coden {

/// Where predicting stands: kept with the states in state/model.safetensors.
struct ModelProgress {
  std::string model;        ///< xxh3 of the weights
  int snapshot = -1;        ///< the last one that the states have taken in
  std::int64_t events = 0;  ///< rows of the log up to it
  int prediction = 0;       ///< the last prediction time that was predicted
};

/// Write the states of all nodes and where they stand, without another copy of them.
arrow::Result<FileRecord> StageModelState(RunStore& store, const ModelProgress& progress,
                                          NodeStates& states);

/// Read where predicting stands. A file that is not what `record` says is corruption.
arrow::Result<ModelProgress> LoadModelProgress(const RunStore& store,
                                               const FileRecord& record);

/// Put saved states into those of a run that may have more nodes by now. Anything else is
/// corruption.
arrow::Status LoadModelStates(const RunStore& store, NodeStates& states);

}  // namespace coden
