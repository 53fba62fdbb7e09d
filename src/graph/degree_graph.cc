// A set of arcs by open addressing with linear probing, eight bytes a slot, at most three
// of four slots taken. A key's home is the top of its mixed bits, so a larger table has
// the keys in the same order and is filled from front to back. An erased key leaves no
// mark: those behind it move up (Knuth, TAOCP 6.4, algorithm R), so searches stay short
// under any number of toggles.

#include "coden/graph/degree_graph.h"

#include <tbb/parallel_sort.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace coden {

namespace {

constexpr int kFirstSlotsLog2 = 10;

}  // namespace

std::int64_t DegreeGraph::GrowthBytes(std::int64_t arcs, std::int64_t more) {
  const auto slots = [](std::int64_t keys) {
    return std::bit_ceil(static_cast<std::uint64_t>(4 * keys + 2) / 3);
  };
  const std::uint64_t next = slots(arcs + more);
  return next == slots(arcs) ? 0
                             : static_cast<std::int64_t>(next * sizeof(Keys::value_type));
}

void DegreeGraph::Grow(NodeId num_nodes) {
  if (num_nodes > this->num_nodes()) degrees_.resize(num_nodes);
}

void DegreeGraph::Toggle(const ArcPlace& place) {
  degrees_[place.src] += place.present ? -1 : 1;
  if (place.slot == kNoSlot) return;
  if (place.present) {
    Erase(place.slot);
  } else {
    Insert(Key(place.src, place.dst), place.slot);
  }
}

std::vector<EdgeChange> DegreeGraph::Edges(bool /*directed*/) const {
  std::vector<EdgeChange> edges;
  edges.reserve(num_keys_);
  for (const std::uint64_t key : keys_) {
    if (key == kEmpty) continue;
    edges.emplace_back(static_cast<NodeId>(key >> 32), static_cast<NodeId>(key),
                       /*present=*/true);
  }
  tbb::parallel_sort(edges.begin(), edges.end());
  return edges;
}

void DegreeGraph::Insert(std::uint64_t key, std::size_t slot) {
  if (4 * (num_keys_ + 1) > 3 * keys_.size()) {
    Rehash();
    slot = FindArc(static_cast<NodeId>(key >> 32), static_cast<NodeId>(key)).slot;
  }
  keys_[slot] = key;
  ++num_keys_;
}

void DegreeGraph::Erase(std::size_t slot) {
  const std::size_t mask = keys_.size() - 1;
  std::size_t hole = slot;
  for (std::size_t next = (hole + 1) & mask; keys_[next] != kEmpty;
       next = (next + 1) & mask) {
    // A key may move up to the hole unless its home lies behind the hole.
    const std::size_t from_home = (next - Home(keys_[next])) & mask;
    if (from_home < ((next - hole) & mask)) continue;
    keys_[hole] = keys_[next];
    hole = next;
  }
  keys_[hole] = kEmpty;
  --num_keys_;
}

void DegreeGraph::Rehash() {
  const std::size_t slots = std::max(std::size_t{1} << kFirstSlotsLog2, 2 * keys_.size());
  const Keys old = std::exchange(keys_, Keys(slots, kEmpty));
  shift_ = old.empty() ? 64 - kFirstSlotsLog2 : shift_ - 1;
  for (const std::uint64_t key : old) {
    if (key == kEmpty) continue;
    std::size_t slot = Home(key);
    while (keys_[slot] != kEmpty) slot = (slot + 1) & (slots - 1);
    keys_[slot] = key;
  }
}

}  // namespace coden
