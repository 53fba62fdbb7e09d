#pragma once

#include <string>
#include <vector>

#include <arrow/result.h>

#include "train/trained_model_internal.h"

namespace coden {

/// Write what training has come to, run by run, as one safetensors file: numbers as
/// tensors, the rest as JSON in its metadata.
std::string CheckpointToBytes(const std::vector<TrainerMemory>& runs);

/// Read it back; anything else is corruption of the file `shown`.
arrow::Result<std::vector<TrainerMemory>> CheckpointFromBytes(const std::string& bytes,
                                                              const std::string& shown);

}  // namespace coden
