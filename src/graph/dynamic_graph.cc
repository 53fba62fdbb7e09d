// Adjacency lists of 32-bit neighbours with slack, in pools of consecutive nodes.
//
// One or two neighbours lie in the node's own 16-byte header. A longer list lies in the
// slots of its pool, which serves 256 consecutive nodes. A list that is full moves to the
// unused end of the slots and leaves a hole; where that end is too short, or too many
// slots hold nothing, the pool is compacted: its lists are copied in ascending order of
// nodes, each with new slack, to slots of the right number. So
//   - a traversal of all nodes in ascending order walks each pool nearly in address order
//     whatever has happened to it, and quite in order after a compaction,
//   - slots are at most 1.75 per neighbour plus 64 per pool,
//   - a change costs the search, the move of what follows in its list and, spread over
//     the changes between them, compactions of a few slots; a compaction needs room for
//     one pool twice, never for the graph.

#include "coden/graph/dynamic_graph.h"

#include <algorithm>
#include <cassert>

namespace coden {

namespace {

// Capacity of a list that is placed anew: with room for at least one more, which MakeRoom
// relies on. Less slack moves short lists at every change and costs a third more time.
std::uint32_t WithSlack(std::uint32_t size) { return size + size / 4 + 1; }

// Unused slots behind the lists of a compacted pool.
std::uint64_t SpareSlots(std::uint64_t live) { return 32 + live / 8; }

// Slots that a pool with `live` neighbours may have. Above what a compaction leaves, so
// that one is not followed by the next.
std::uint64_t MostSlots(std::uint64_t live) { return 64 + live + live / 4 * 3; }

// The number of `values`, sorted, that are below `value`. The loop has no branch to
// mispredict: whether a neighbour is before or after is a coin toss.
std::uint32_t LowerBound(std::span<const NodeId> values, NodeId value) {
  const NodeId* base = values.data();
  std::size_t left = values.size();
  while (left > 1) {
    const std::size_t half = left / 2;
    base += base[half - 1] < value ? half : 0;
    left -= half;
  }
  if (left == 1 && *base < value) ++base;
  return static_cast<std::uint32_t>(base - values.data());
}

}  // namespace

void DynamicGraph::Grow(NodeId num_nodes) {
  if (num_nodes <= this->num_nodes()) return;
  const auto count = static_cast<std::size_t>(num_nodes);
  // Nodes mostly come one by one; doubling would set aside too much for the last of them.
  if (count > lists_.capacity()) lists_.reserve(count + count / 8);
  lists_.resize(count);
  pools_.resize(((count - 1) >> kNodesPerPoolLog2) + 1);
}

DynamicGraph::ArcPlace DynamicGraph::FindArc(NodeId src, NodeId dst) const {
  const auto neighbours = out_neighbours(src);
  const std::uint32_t index = LowerBound(neighbours, dst);
  return {src, dst, index, index < neighbours.size() && neighbours[index] == dst};
}

void DynamicGraph::InsertArc(NodeId src, NodeId dst) {
  const ArcPlace place = FindArc(src, dst);
  assert(!place.present);
  Toggle(place);
}

void DynamicGraph::EraseArc(NodeId src, NodeId dst) {
  const ArcPlace place = FindArc(src, dst);
  assert(place.present);
  Toggle(place);
}

void DynamicGraph::Toggle(const ArcPlace& place) {
  List& list = lists_[place.src];
  if (!place.present) {
    if (list.size == list.capacity) MakeRoom(place.src);
    NodeId* const begin = Begin(place.src);
    std::copy_backward(begin + place.index, begin + list.size, begin + list.size + 1);
    begin[place.index] = place.dst;
    ++list.size;
    ++num_arcs_;
    if (list.capacity > kNear) ++pools_[place.src >> kNodesPerPoolLog2].live;
    return;
  }
  NodeId* const begin = Begin(place.src);
  std::copy(begin + place.index + 1, begin + list.size, begin + place.index);
  --list.size;
  --num_arcs_;
  if (list.capacity == kNear) return;
  Pool& pool = pools_[place.src >> kNodesPerPoolLog2];
  --pool.live;
  if (pool.slots.size() > MostSlots(pool.live)) Compact(place.src);
}

std::vector<EdgeChange> DynamicGraph::Edges(bool directed) const {
  std::vector<EdgeChange> edges;
  for (NodeId node = 0; node < num_nodes(); ++node) {
    for (const NodeId neighbour : out_neighbours(node))
      if (directed || node <= neighbour) edges.emplace_back(node, neighbour, true);
  }
  return edges;
}

// Give the list of `node` room for another neighbour, which it has not.
void DynamicGraph::MakeRoom(NodeId node) {
  Pool& pool = pools_[node >> kNodesPerPoolLog2];
  List& list = lists_[node];
  const std::uint32_t capacity = WithSlack(list.size + 1);
  if (pool.used + capacity > pool.slots.size()) Compact(node, /*more=*/1);
  if (list.size < list.capacity) return;
  const NodeId* const from = Begin(node);
  std::copy(from, from + list.size, pool.slots.data() + pool.used);
  if (list.capacity == kNear) pool.live += list.size;
  list.offset = pool.used;
  list.capacity = capacity;
  pool.used += capacity;
}

// Place the lists of the node's pool anew, that of `node` with room for `more`.
void DynamicGraph::Compact(NodeId node, std::uint32_t more) {
  const int number = node >> kNodesPerPoolLog2;
  Pool& pool = pools_[number];
  const std::size_t first = static_cast<std::size_t>(number) << kNodesPerPoolLog2;
  const std::size_t last =
      std::min(first + (std::size_t{1} << kNodesPerPoolLog2), lists_.size());
  const auto size_of = [&](std::size_t other) {
    return lists_[other].size + (other == static_cast<std::size_t>(node) ? more : 0);
  };
  std::uint64_t live = 0;
  std::uint64_t slots = 0;
  for (std::size_t other = first; other < last; ++other) {
    if (size_of(other) <= kNear) continue;
    live += lists_[other].size;
    slots += WithSlack(size_of(other));
  }
  std::vector<NodeId> placed(slots + SpareSlots(live));
  std::uint64_t used = 0;
  for (std::size_t other = first; other < last; ++other) {
    List& list = lists_[other];
    const NodeId* const from = Begin(static_cast<NodeId>(other));
    if (size_of(other) <= kNear) {
      if (list.capacity > kNear) std::copy(from, from + list.size, list.near);
      list.capacity = kNear;
      continue;
    }
    std::copy(from, from + list.size, placed.data() + used);
    list.offset = used;
    list.capacity = WithSlack(size_of(other));
    used += list.capacity;
  }
  pool = {std::move(placed), used, live};
}

std::int64_t DynamicGraph::MemoryBytes() const {
  std::size_t bytes = lists_.capacity() * sizeof(List) + pools_.capacity() * sizeof(Pool);
  for (const Pool& pool : pools_) bytes += pool.slots.capacity() * sizeof(NodeId);
  return static_cast<std::int64_t>(bytes);
}

}  // namespace coden
