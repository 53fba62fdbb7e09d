#pragma once

#include <torch/torch.h>

#include "train/network_internal.h"
#include "train/trained_model_internal.h"

namespace coden {

/// Keep what `optimizer` remembers of the parameters of `network` in `memory`.
void SaveAdam(const torch::optim::AdamW& optimizer, const Network& network,
              TrainerMemory& memory);

/// Put it back into a new optimizer of the same network.
void RestoreAdam(const TrainerMemory& memory, const Network& network,
                 torch::optim::AdamW& optimizer);

}  // namespace coden
