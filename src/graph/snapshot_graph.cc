// Returns the neighbours of every node at a snapshot, from those at the snapshot before
// and the net changes between the two.
//
// A base array holds the lists of all nodes one behind the other, without gaps. A large
// update writes a new base in one sequential merge of the old one with the changes. A
// small one must not cost a pass over the graph: the new list of each changed node goes
// into an overlay, and the head of the node points there. When the overlay has grown to a
// share of the base, both are merged into a new base, so a list is moved a bounded number
// of times on average, and most of a sweep reads the base in order.
//
// Old lists stay where they are until Settle: what a neighbourhood was before an update,
// which the solvers ask for, needs no copy.
//
// The log-structured merge of a large sorted run with small newer ones is due to O'Neil
// et al., The Log-Structured Merge-Tree, Acta Informatica 33, 1996.

#include "coden/graph/snapshot_graph.h"

#include <algorithm>
#include <utility>

#include "coden/base/error.h"

namespace coden {

namespace {

// An update that rewrites lists of more than this share of all arcs writes a new base.
constexpr std::int64_t kLargeUpdate = 2;
// The overlay is merged once it has this share of the base, and not below a size where
// merging costs nothing either way.
constexpr std::size_t kLargeOverlay = 4;
constexpr std::size_t kSmallOverlay = 1 << 16;
constexpr std::size_t kBlockSlots = 1 << 14;
// Changes are sorted by counting where they are many beside the nodes.
constexpr std::size_t kNodesPerChange = 8;

arrow::Status Contradiction(EdgeChange change) {
  return CorruptionError("the history of the graph contradicts itself: it ",
                         change.present() ? "adds" : "removes", " the edge of nodes ",
                         change.src(), " and ", change.dst(), ", which is ",
                         change.present() ? "there" : "not there");
}

}  // namespace

// The changes of each node's own list, in the order of nodes: as source of an edge and,
// in an undirected graph, as its higher end.
class SnapshotGraph::ChangesByNode {
 public:
  ChangesByNode(std::span<const EdgeChange> changes, bool directed, NodeId num_nodes)
      : forward_(changes) {
    if (!directed) Reverse(num_nodes);
  }

  bool done() const { return f_ == forward_.size() && r_ == reversed_.size(); }
  NodeId node() const {
    if (f_ == forward_.size()) return reversed_[r_].src();
    if (r_ == reversed_.size()) return forward_[f_].src();
    return std::min(forward_[f_].src(), reversed_[r_].src());
  }

  // Go on behind the changes of node(), with these in the order of targets: an edge is
  // named by its lower end, so what comes reversed has targets below the node.
  struct OfNode {
    std::span<const EdgeChange> below;
    std::span<const EdgeChange> above;
    std::size_t size() const { return below.size() + above.size(); }
  };
  OfNode Next() {
    const NodeId node = this->node();
    const auto take = [&](std::span<const EdgeChange> all, std::size_t& at) {
      const std::size_t first = at;
      while (at < all.size() && all[at].src() == node) ++at;
      return all.subspan(first, at - first);
    };
    return {take(reversed_, r_), take(forward_, f_)};
  }
  void Rewind() { f_ = r_ = 0; }

 private:
  void Reverse(NodeId num_nodes) {
    const auto is_loop = [](EdgeChange change) { return change.src() == change.dst(); };
    if (forward_.size() < static_cast<std::size_t>(num_nodes) / kNodesPerChange) {
      for (const EdgeChange change : forward_) {
        if (!is_loop(change))
          reversed_.emplace_back(change.dst(), change.src(), change.present());
      }
      std::sort(reversed_.begin(), reversed_.end());
      return;
    }
    std::vector<std::uint32_t> next(static_cast<std::size_t>(num_nodes) + 1, 0);
    for (const EdgeChange change : forward_)
      if (!is_loop(change)) ++next[change.dst() + 1];
    for (NodeId node = 0; node < num_nodes; ++node) next[node + 1] += next[node];
    reversed_.resize(next.back());
    // Sources come in order, so they are in order behind each target.
    for (const EdgeChange change : forward_) {
      if (is_loop(change)) continue;
      reversed_[next[change.dst()]++] =
          EdgeChange(change.dst(), change.src(), change.present());
    }
  }

  std::span<const EdgeChange> forward_;
  std::vector<EdgeChange> reversed_;
  std::size_t f_ = 0;
  std::size_t r_ = 0;
};

namespace {

// Write the neighbours that are left when `changes` have been made to `before`. Returns
// the end of them. `refused` is a change that contradicts `before`.
template <typename OfNode>
NodeId* MergeList(std::span<const NodeId> before, const OfNode& changes, NodeId* out,
                  const EdgeChange** refused) {
  auto old = before.begin();
  for (const auto part : {changes.below, changes.above}) {
    for (const EdgeChange& change : part) {
      while (old != before.end() && *old < change.dst()) *out++ = *old++;
      const bool there = old != before.end() && *old == change.dst();
      if (there == change.present()) *refused = &change;
      if (there) ++old;
      if (change.present()) *out++ = change.dst();
    }
  }
  return std::copy(old, before.end(), out);
}

}  // namespace

bool SnapshotGraph::HasArc(NodeId src, NodeId dst) const {
  return std::ranges::binary_search(out_neighbours(src), dst);
}

arrow::Status SnapshotGraph::Apply(std::span<const EdgeChange> changes) {
  if (changes.empty()) return arrow::Status::OK();
  ChangesByNode by_node(changes, directed_, num_nodes());
  std::int64_t rewritten = 0;
  while (!by_node.done()) {
    const NodeId node = by_node.node();
    rewritten += out_degree(node) + static_cast<std::int64_t>(by_node.Next().size());
  }
  by_node.Rewind();
  return kLargeUpdate * rewritten > num_arcs_ ? Rewrite(&by_node) : ApplyToLists(by_node);
}

void SnapshotGraph::NoteChange(NodeId node) {
  List& list = lists_[node];
  if (!list.changed) changes_.push_back({node, out_neighbours(node)});
  list.changed = true;
}

arrow::Status SnapshotGraph::ApplyToLists(ChangesByNode& changes) {
  const EdgeChange* refused = nullptr;
  overlay_is_merged_ = false;
  while (!changes.done()) {
    const NodeId node = changes.node();
    const auto of_node = changes.Next();
    NoteChange(node);
    const std::span<const NodeId> before = out_neighbours(node);
    NodeId* const begin = Reserve(before.size() + of_node.size());
    NodeId* const end = MergeList(before, of_node, begin, &refused);
    if (refused != nullptr) return Contradiction(*refused);
    const auto size = static_cast<std::size_t>(end - begin);
    overlay_used_ += size;
    overlay_size_ += size;
    num_arcs_ += static_cast<std::int64_t>(size) - lists_[node].size;
    lists_[node].begin = begin;
    lists_[node].size = static_cast<std::uint32_t>(size);
  }
  return arrow::Status::OK();
}

// Write a new base, with `changes` made to it, if any. The old one stays until Settle
// where somebody may ask what was there before.
arrow::Status SnapshotGraph::Rewrite(ChangesByNode* changes) {
  std::size_t most = static_cast<std::size_t>(num_arcs_);
  for (; changes != nullptr && !changes->done(); most += changes->Next().size()) {
  }
  if (changes != nullptr) changes->Rewind();
  Array written(most);
  NodeId* out = written.data();
  const EdgeChange* refused = nullptr;
  for (NodeId node = 0; node < num_nodes(); ++node) {
    NodeId* const begin = out;
    const std::span<const NodeId> before = out_neighbours(node);
    if (changes != nullptr && !changes->done() && changes->node() == node) {
      NoteChange(node);
      out = MergeList(before, changes->Next(), out, &refused);
      if (refused != nullptr) return Contradiction(*refused);
    } else {
      out = std::ranges::copy(before, out).out;
    }
    lists_[node].begin = begin;
    lists_[node].size = static_cast<std::uint32_t>(out - begin);
  }
  num_arcs_ = out - written.data();
  written.resize(static_cast<std::size_t>(num_arcs_));
  std::swap(base_, written);
  if (!changes_.empty()) old_bases_.push_back(std::move(written));
  overlay_is_merged_ = true;
  return arrow::Status::OK();
}

void SnapshotGraph::Settle() {
  for (const Change& change : changes_) lists_[change.node].changed = false;
  changes_.clear();
  old_bases_.clear();
  if (!overlay_is_merged_) {
    if (overlay_size_ <= std::max(kSmallOverlay, base_.size() / kLargeOverlay)) return;
    ARROW_UNUSED(Rewrite(nullptr));
  }
  overlay_.clear();
  overlay_used_ = 0;
  overlay_size_ = 0;
  overlay_is_merged_ = false;
}

NodeId* SnapshotGraph::Reserve(std::size_t count) {
  if (overlay_.empty() || count > overlay_.back().size - overlay_used_) {
    const std::size_t size = std::max(kBlockSlots, count);
    overlay_.push_back({std::make_unique_for_overwrite<NodeId[]>(size), size});
    overlay_used_ = 0;
  }
  return overlay_.back().slots.get() + overlay_used_;
}

std::int64_t SnapshotGraph::MemoryBytes() const {
  std::size_t slots = base_.capacity();
  for (const Array& base : old_bases_) slots += base.capacity();
  for (const Block& block : overlay_) slots += block.size;
  return static_cast<std::int64_t>(slots * sizeof(NodeId) +
                                   lists_.capacity() * sizeof(List));
}

}  // namespace coden
