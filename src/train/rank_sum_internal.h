#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "coden/train/rank_group.h"

namespace coden {

/// What a chunk gives to a step of the optimizer.
struct ChunkSum {
  double loss = 0.0;
  double weight = 0.0;
  std::span<const float> gradient;  ///< empty where no pair of the chunk counts
};

/// What a step has over all its chunks.
struct StepSum {
  double loss = 0.0;
  double weight = 0.0;
  std::vector<float> gradient;
};

/// Add up the chunks of a step, with gradients of `length` numbers: those of rank 0, then
/// those of rank 1 and so on, each in their order. `chunks` are those of this rank, and
/// all ranks get the sum. Without `ranks` they are all there are.
arrow::Result<StepSum> SumChunks(RankGroup* ranks, std::span<const ChunkSum> chunks,
                                 std::size_t length);

/// Add up counts over all ranks.
arrow::Status SumCounts(RankGroup* ranks, std::span<std::int64_t> counts);

}  // namespace coden
