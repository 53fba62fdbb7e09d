#include "coden/graph/dynamic_graph.h"

#include <algorithm>
#include <cassert>

namespace coden {

void DynamicGraph::Grow(NodeId num_nodes) {
  if (num_nodes > this->num_nodes()) out_.resize(num_nodes);
}

bool DynamicGraph::HasArc(NodeId src, NodeId dst) const {
  return std::binary_search(out_[src].begin(), out_[src].end(), dst);
}

void DynamicGraph::InsertArc(NodeId src, NodeId dst) {
  auto& neighbours = out_[src];
  const auto place = std::lower_bound(neighbours.begin(), neighbours.end(), dst);
  assert(place == neighbours.end() || *place != dst);
  neighbours.insert(place, dst);
  ++num_arcs_;
}

void DynamicGraph::EraseArc(NodeId src, NodeId dst) {
  auto& neighbours = out_[src];
  const auto place = std::lower_bound(neighbours.begin(), neighbours.end(), dst);
  assert(place != neighbours.end() && *place == dst);
  neighbours.erase(place);
  --num_arcs_;
}

}  // namespace coden
