#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <arrow/result.h>

#include "coden/train/train_options.h"
#include "train/trainer_internal.h"
#include "train/training_input_internal.h"

namespace coden {

/// Return the weights in the safetensors format: length of the header (8 bytes, little
/// endian), header (JSON), then the numbers of all tensors one after another.
/// https://huggingface.co/docs/safetensors
std::string ToSafetensors(std::span<const NamedTensor> weights);

/// Return config.json: everything besides the weights that is needed to run the model.
/// `run` is the training run that the weights are from.
std::string ModelConfig(const TrainingInput& input, const TrainOptions& options,
                        const TrainedModel& model, int run, std::uint64_t seed);

}  // namespace coden
