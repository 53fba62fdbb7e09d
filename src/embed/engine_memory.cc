// What an engine leaves for another one that goes on from the same point with the same
// bits.
//
// The bits of an update depend on the graph, the features, the rows' order, each column's
// numbers, precision and bound, and on what pushes have left. Neither the cut into blocks
// nor the order of nodes without arcs matters, so they are not kept.

#include <cassert>

#include "embed/engine_state_internal.h"

namespace coden {

EngineMemory EmbeddingEngine::Memory() const {
  EngineMemory memory;
  memory.pushed = state_->left;
  memory.bounds = ErrorBounds();
  for (const auto& [block, lane] : state_->places)
    memory.in_double.push_back(state_->blocks[block].precision() == Precision::kDouble);
  return memory;
}

std::vector<NodeId> EmbeddingEngine::ConnectedNodes() const {
  std::vector<NodeId> nodes;
  nodes.reserve(state_->order.num_connected());
  for (Row row = 0; row < state_->order.num_connected(); ++row)
    nodes.push_back(state_->order.node_at(row));
  return nodes;
}

void EmbeddingEngine::CopyNumbers(int column, std::int64_t first_row,
                                  std::span<double> out) const {
  const auto [block, lane] = state_->places[column];
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = state_->blocks[block].Value(static_cast<Row>(first_row + i), lane);
}

void EmbeddingEngine::Restore(const SnapshotGraph& graph,
                              std::span<const NodeId> connected,
                              const EngineMemory& memory) {
  State& state = *state_;
  assert(state.order.num_connected() == 0 && graph.num_nodes() <= num_nodes());
  for (const NodeId node : connected) state.Connect(node);
  state.row_changes.Clear();
  state.degrees.assign(connected.size(), 0);
  for (std::size_t row = 0; row < connected.size(); ++row) {
    const auto neighbours = graph.out_neighbours(connected[row]);
    state.degrees[row] = static_cast<std::int32_t>(neighbours.size());
    if (!graph.directed()) continue;
    for (const NodeId neighbour : neighbours)
      state.symmetry.Add(connected[row], neighbour);
  }
  std::vector<int> moving;
  for (int column = 0; column < state.num_columns; ++column) {
    if (memory.in_double[column]) moving.push_back(column);
  }
  if (!moving.empty()) state.MoveToDouble(moving);
  for (int column = 0; column < state.num_columns; ++column) {
    const auto [block, lane] = state.places[column];
    state.blocks[block].bounds()[lane] = memory.bounds[column];
  }
  state.left = memory.pushed;
}

void EmbeddingEngine::RestoreNumbers(int column, std::int64_t first_row,
                                     std::span<const double> numbers) {
  const auto [block, lane] = state_->places[column];
  for (std::size_t i = 0; i < numbers.size(); ++i)
    state_->blocks[block].SetValue(static_cast<Row>(first_row + i), lane, numbers[i]);
}

}  // namespace coden
