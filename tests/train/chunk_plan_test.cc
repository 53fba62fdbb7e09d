#include "train/chunk_plan_internal.h"

#include <numeric>

#include <gtest/gtest.h>

namespace coden {
namespace {

TEST(DealBatches, RanksTogetherHaveEveryChunkOnceAndInOrder) {
  std::vector<std::int64_t> nodes(1000);
  std::iota(nodes.begin(), nodes.end(), 0);
  constexpr std::size_t kBatch = 300;  // 300, 300, 300, 100
  constexpr std::size_t kChunk = 64;   // 5 chunks in a batch, 2 in the last
  for (const int size : {1, 2, 3, 7}) {
    SCOPED_TRACE(size);
    std::vector<std::vector<std::int64_t>> batches(4);
    for (int rank = 0; rank < size; ++rank) {
      const auto dealt = DealBatches(nodes, kBatch, kChunk, {rank, size});
      ASSERT_EQ(dealt.size(), batches.size());
      for (std::size_t b = 0; b < dealt.size(); ++b) {
        // Ranks before this one have whole chunks, up to where this one begins.
        if (!dealt[b].nodes.empty()) {
          EXPECT_EQ(dealt[b].first_chunk * kChunk, batches[b].size());
        }
        batches[b].insert(batches[b].end(), dealt[b].nodes.begin(), dealt[b].nodes.end());
        EXPECT_LE(dealt[b].nodes.size(), (5 / size + 1) * kChunk);
      }
    }
    std::vector<std::int64_t> all;
    for (const auto& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
    EXPECT_EQ(all, nodes);
  }
}

TEST(DealBatches, MoreRanksThanChunksLeaveSomeWithout) {
  const std::vector<std::int64_t> nodes = {4, 7};
  std::size_t num_nodes = 0;
  for (int rank = 0; rank < 3; ++rank) {
    const auto dealt = DealBatches(nodes, 8, 8, {rank, 3});
    ASSERT_EQ(dealt.size(), 1u) << "every rank takes part in every step";
    num_nodes += dealt[0].nodes.size();
  }
  EXPECT_EQ(num_nodes, nodes.size());
}

}  // namespace
}  // namespace coden
