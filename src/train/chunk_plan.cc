#include "train/chunk_plan_internal.h"

namespace coden {

std::vector<DealtBatch> DealBatches(Nodes nodes, std::size_t batch,
                                    std::size_t chunk_nodes, RankShare share) {
  const auto rank = static_cast<std::size_t>(share.rank);
  const auto size = static_cast<std::size_t>(share.size);
  std::vector<DealtBatch> dealt;
  for (std::size_t begin = 0; begin < nodes.size(); begin += batch) {
    const Nodes all = nodes.subspan(begin, std::min(batch, nodes.size() - begin));
    const std::size_t num_chunks = (all.size() + chunk_nodes - 1) / chunk_nodes;
    const std::size_t first = num_chunks * rank / size;
    const std::size_t end = num_chunks * (rank + 1) / size;
    const std::size_t first_node = std::min(first * chunk_nodes, all.size());
    const std::size_t end_node = std::min(end * chunk_nodes, all.size());
    dealt.push_back({all.subspan(first_node, end_node - first_node), first});
  }
  return dealt;
}

ChunkPlan::ChunkPlan(const ModelView& view, Nodes nodes, std::size_t batch,
                     std::int64_t num_snapshots, int num_threads, RankShare share) {
  const std::size_t chunk_nodes = ChunkNodes(view.num_channels(), num_snapshots);
  std::vector<Nodes> chunks;
  for (const DealtBatch& dealt : DealBatches(nodes, batch, chunk_nodes, share)) {
    for (std::size_t at = 0; at < dealt.nodes.size(); at += chunk_nodes) {
      chunks.push_back(
          dealt.nodes.subspan(at, std::min(chunk_nodes, dealt.nodes.size() - at)));
    }
    batches_.push_back({chunks.size(), dealt.first_chunk});
  }
  loader_ =
      std::make_unique<ChunkLoader>(view, num_snapshots, std::move(chunks),
                                    static_cast<std::size_t>(num_threads + kChunksAhead));
}

}  // namespace coden
