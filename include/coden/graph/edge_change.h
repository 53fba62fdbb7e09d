#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "coden/base/types.h"

namespace coden {

/// An edge that is present from some moment on, or no longer. Sorts by source, then by
/// target. An undirected edge is named by its lower end first.
class EdgeChange {
 public:
  EdgeChange() = default;
  EdgeChange(NodeId src, NodeId dst, bool present)
      : bits_(static_cast<std::uint64_t>(src) << 32 |
              static_cast<std::uint64_t>(dst) << 1 |
              static_cast<std::uint64_t>(present)) {}

  NodeId src() const { return static_cast<NodeId>(bits_ >> 32); }
  NodeId dst() const {
    return static_cast<NodeId>(static_cast<std::uint32_t>(bits_) >> 1);
  }
  bool present() const { return (bits_ & 1) != 0; }
  bool SameEdge(EdgeChange other) const { return bits_ >> 1 == other.bits_ >> 1; }

  auto operator<=>(const EdgeChange&) const = default;
  /// The order of changes is the order of these numbers.
  std::uint64_t bits() const { return bits_; }

 private:
  std::uint64_t bits_ = 0;
};

/// Collects edges that come and go and returns what they amount to: the net changes
/// between two moments of a graph. An edge that ends as it began leaves no change.
class NetChanges {
 public:
  /// An edge comes or goes. Each call for one edge says the opposite of the one before.
  void Add(NodeId src, NodeId dst, bool present) {
    if (changes_.size() == compact_at_) Compact();
    any_absent_ |= !present;
    changes_.emplace_back(src, dst, present);
  }

  /// Return the net changes since the last call, sorted, and start again.
  std::vector<EdgeChange> Take();

  /// Bytes that may be allocated beside those of `held` changes before `more` are added.
  static std::int64_t GrowthBytes(std::int64_t held, std::int64_t more);
  std::int64_t size() const { return static_cast<std::int64_t>(changes_.size()); }

 private:
  static constexpr std::size_t kFirstCompaction = 1 << 20;

  void Compact();
  void DropCancelled();

  std::vector<EdgeChange> changes_;
  // Toggles that cancel are dropped once so many have come, so that memory follows the
  // net changes and not the events.
  std::size_t compact_at_ = kFirstCompaction;
  bool any_absent_ = false;  // without one nothing cancels
};

}  // namespace coden
