#include "train/chunk_plan_internal.h"

namespace coden {

namespace {

constexpr std::int64_t kMostNodes = 128;
// 64 MB.
constexpr std::int64_t kMostNumbers = 1 << 24;

}  // namespace

std::size_t ChunkNodes(std::int64_t num_channels, std::int64_t num_snapshots) {
  const std::int64_t numbers = std::max<std::int64_t>(num_channels * num_snapshots, 1);
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(kMostNumbers / numbers, 1, kMostNodes));
}

ChunkPlan::ChunkPlan(const TrainingData& data, Nodes nodes, std::size_t batch,
                     std::int64_t num_snapshots, int num_threads) {
  const std::size_t chunk_nodes = ChunkNodes(data.num_channels(), data.num_snapshots);
  std::vector<Nodes> chunks;
  for (std::size_t begin = 0; begin < nodes.size(); begin += batch) {
    const std::size_t end = std::min(begin + batch, nodes.size());
    for (std::size_t at = begin; at < end; at += chunk_nodes)
      chunks.push_back(nodes.subspan(at, std::min(chunk_nodes, end - at)));
    batch_ends_.push_back(chunks.size());
  }
  loader_ =
      std::make_unique<ChunkLoader>(data, num_snapshots, std::move(chunks),
                                    static_cast<std::size_t>(num_threads + kChunksAhead));
}

}  // namespace coden
