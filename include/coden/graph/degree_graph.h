#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "coden/base/huge_page_allocator.h"
#include "coden/base/types.h"
#include "coden/graph/edge_change.h"

namespace coden {

/// A directed graph of which only the degrees are asked: what DynamicGraph is to a
/// solver, to a pass that looks at no neighbour. A change costs one look into a hash
/// table, whatever the degree. How it is stored is told at the head of degree_graph.cc.
class DegreeGraph {
 public:
  NodeId num_nodes() const { return static_cast<NodeId>(degrees_.size()); }

  /// Have at least `num_nodes` nodes.
  void Grow(NodeId num_nodes);

  /// What the table of a graph of `arcs` arcs may allocate, beside what it has, before
  /// `more` are added.
  static std::int64_t GrowthBytes(std::int64_t arcs, std::int64_t more);

  std::int64_t out_degree(NodeId node) const { return degrees_[node]; }

  /// An arc and whether it is there. Valid until the graph changes.
  struct ArcPlace {
    NodeId src;
    NodeId dst;
    std::size_t slot;  // where its key is, or belongs; kNoSlot for the second of a pair
    bool present;
  };
  ArcPlace FindArc(NodeId src, NodeId dst) const {
    if (keys_.empty()) return {src, dst, 0, false};
    const std::uint64_t key = Key(src, dst);
    std::size_t slot = Home(key);
    while (keys_[slot] != key && keys_[slot] != kEmpty) {
      slot = (slot + 1) & (keys_.size() - 1);
    }
    return {src, dst, slot, keys_[slot] == key};
  }
  /// The arc that goes the other way, in a graph where both are there or neither is: the
  /// pair has one entry, which the first of them changes.
  static ArcPlace Reverse(const ArcPlace& place) {
    return {place.dst, place.src, kNoSlot, place.present};
  }
  /// Add the arc where it is absent, remove it where it is present.
  void Toggle(const ArcPlace& place);

  /// All edges, sorted: arcs, or, of pairs, the one that was changed first.
  std::vector<EdgeChange> Edges(bool directed) const;

  /// The arc from `src` to `dst` is asked for soon. Always inlined, because g++ takes a
  /// function that does nothing but prefetch for one whose calls may be left out.
  [[gnu::always_inline]] void Prefetch(NodeId src, NodeId dst) const {
    if (std::max(src, dst) < num_nodes()) {
      __builtin_prefetch(&degrees_[src], /*write=*/1);
      __builtin_prefetch(&degrees_[dst], /*write=*/1);
    }
    if (!keys_.empty()) __builtin_prefetch(&keys_[Home(Key(src, dst))], /*write=*/1);
  }

 private:
  static constexpr std::size_t kNoSlot = ~std::size_t{0};
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

  using Keys = std::vector<std::uint64_t, HugePageAllocator<std::uint64_t>>;

  static std::uint64_t Key(NodeId src, NodeId dst) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(src)) << 32 |
           static_cast<std::uint32_t>(dst);
  }
  std::size_t Home(std::uint64_t key) const {
    key = (key ^ (key >> 32)) * 0x9e3779b97f4a7c15ull;
    key = (key ^ (key >> 29)) * 0xbf58476d1ce4e5b9ull;
    return key >> shift_;
  }
  void Insert(std::uint64_t key, std::size_t slot);
  void Erase(std::size_t slot);
  void Rehash();

  std::vector<std::uint32_t> degrees_;
  Keys keys_;
  std::size_t num_keys_ = 0;
  int shift_ = 64;  // keys_ has 2^(64 - shift_) slots
};

}  // namespace coden
