#include "sample/neighbourhood_changes_internal.h"

#include <algorithm>

namespace coden {

namespace {

constexpr std::size_t kBlockSlots = 1 << 14;

}  // namespace

void NeighbourhoodChanges::Clear() {
  for (const Change& change : changes_) recorded_[change.node] = false;
  changes_.clear();
  // One block serves the small updates that come often; a large one gives back the rest.
  if (blocks_.size() > 1) blocks_.resize(1);
  used_ = 0;
}

void NeighbourhoodChanges::BeforeChange(const DynamicGraph& graph, NodeId node) {
  if (node >= static_cast<NodeId>(recorded_.size())) recorded_.resize(graph.num_nodes());
  if (recorded_[node]) return;
  recorded_[node] = true;
  changes_.push_back({node, Keep(graph.out_neighbours(node))});
}

std::span<const NodeId> NeighbourhoodChanges::Keep(std::span<const NodeId> neighbours) {
  if (neighbours.empty()) return {};
  if (blocks_.empty() || neighbours.size() > blocks_.back().size - used_) {
    const std::size_t size = std::max(kBlockSlots, neighbours.size());
    blocks_.push_back({std::make_unique_for_overwrite<NodeId[]>(size), size});
    used_ = 0;
  }
  NodeId* const kept = blocks_.back().slots.get() + used_;
  std::ranges::copy(neighbours, kept);
  used_ += neighbours.size();
  return {kept, neighbours.size()};
}

}  // namespace coden
