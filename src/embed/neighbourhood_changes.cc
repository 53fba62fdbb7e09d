#include "coden/embed/neighbourhood_changes.h"

namespace coden {

void NeighbourhoodChanges::Clear() {
  for (const Change& change : changes_) recorded_[change.node] = false;
  changes_.clear();
}

void NeighbourhoodChanges::BeforeChange(const DynamicGraph& graph, NodeId node) {
  if (node >= static_cast<NodeId>(recorded_.size())) recorded_.resize(graph.num_nodes());
  if (recorded_[node]) return;
  recorded_[node] = true;
  const auto neighbours = graph.out_neighbours(node);
  changes_.push_back({node, {neighbours.begin(), neighbours.end()}});
}

}  // namespace coden
