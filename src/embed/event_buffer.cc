// Returns the graph that the events make, applied in the order of nodes.
//
// A large graph does not fit in the cache, and the nodes of an event are anywhere in it:
// an arc that is applied as it comes waits several times for the memory. What a snapshot
// needs is the graph after thousands or millions of events. So they are collected and
// sorted by source; then every list of neighbours is visited once, in the order of
// addresses, for all its changes. On 8 M nodes a row takes little more than a third of
// the time. It also makes hubs cheap: their lists are merged with many changes instead of
// moved for each.
//
// The events of one edge do not depend on those of another, and a sort keeps their order
// among themselves. Only the order in which nodes changed first, in which they get their
// rows, is lost; every entry has a rank that brings it back.
//
// With a window, what expires with an event depends on all before it. Such events are
// applied as they come.

#include "coden/embed/event_buffer.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

#include <tbb/parallel_for.h>

namespace coden {

namespace {

// Parts of the nodes that entries are dealt to before these are sorted: as many as there
// can be places to write to by turns, so that each is sorted in the cache.
constexpr std::size_t kNumParts = 4096;

}  // namespace

arrow::Status EventBuffer::Add(const EdgeEvent& event, EventGraph& graph,
                               NeighbourhoodChanges& changes) {
  if (graph.options().window > 0) return graph.Apply(event, changes);
  const auto edge = graph.EdgeOf(event);
  if (!edge) return arrow::Status::OK();
  // An event may change two nodes, one after the other.
  const auto rank = static_cast<std::uint32_t>(2 * arcs_.size());
  arcs_.push_back({edge->src, edge->dst, rank, event.kind, false});
  return arcs_.size() < most_events_ ? arrow::Status::OK() : Flush(graph, changes);
}

arrow::Status EventBuffer::Flush(EventGraph& graph, NeighbourhoodChanges& changes) {
  if (arcs_.empty()) return arrow::Status::OK();
  Sort(arcs_);
  ARROW_RETURN_NOT_OK(Decide(graph));
  Sort(reversed_);
  Apply(graph, changes);
  arcs_.clear();
  reversed_.clear();
  return arrow::Status::OK();
}

std::int64_t EventBuffer::MemoryBytes(std::int64_t events) {
  const std::uint64_t most = std::min<std::uint64_t>(events, kMostEvents);
  // Vectors double when they grow.
  return static_cast<std::int64_t>(3 * sizeof(Entry) * std::bit_ceil(most));
}

// Sort by source, target and rank.
void EventBuffer::Sort(std::vector<Entry>& entries) {
  if (entries.empty()) return;
  const auto in_order = [](const Entry& a, const Entry& b) {
    return std::tie(a.src, a.dst, a.rank) < std::tie(b.src, b.dst, b.rank);
  };
  if (entries.size() < kNumParts) {
    std::ranges::sort(entries, in_order);
    return;
  }
  const NodeId last = std::ranges::max_element(entries, {}, &Entry::src)->src;
  int shift = 0;
  while ((static_cast<std::size_t>(last) >> shift) >= kNumParts) ++shift;
  starts_.assign(kNumParts + 1, 0);
  for (const Entry& entry : entries) ++starts_[(entry.src >> shift) + 1];
  for (std::size_t part = 0; part < kNumParts; ++part) starts_[part + 1] += starts_[part];
  sorted_.resize(entries.size());
  for (const Entry& entry : entries) sorted_[starts_[entry.src >> shift]++] = entry;
  entries.swap(sorted_);
  // Now every start is where its part ends.
  tbb::parallel_for(std::size_t{0}, kNumParts, [&](std::size_t part) {
    const std::uint32_t begin = part == 0 ? 0 : starts_[part - 1];
    std::sort(entries.begin() + begin, entries.begin() + starts_[part], in_order);
  });
}

// Leave one entry for each arc that has changed, if only for a while.
arrow::Status EventBuffer::Decide(EventGraph& graph) {
  const bool directed = graph.options().directed;
  std::size_t kept = 0;
  for (std::size_t begin = 0, end = 0; begin < arcs_.size(); begin = end) {
    Entry arc = arcs_[begin];
    while (end < arcs_.size() && arcs_[end].src == arc.src && arcs_[end].dst == arc.dst)
      ++end;
    const bool before = graph.graph_.HasArc(arc.src, arc.dst);
    bool present = before;
    bool changed = false;
    for (std::size_t i = begin; i < end; ++i) {
      const auto effect = graph.EffectOf(arcs_[i].kind, present);
      if (effect == EventGraph::Effect::kError) return NoSuchEdge();
      if (effect == EventGraph::Effect::kNothing) continue;
      if (!changed) arc.rank = arcs_[i].rank;
      changed = true;
      present = !present;
    }
    if (!changed) continue;
    arc.flips = present != before;
    if (arc.flips) graph.num_edges_ += present ? 1 : -1;
    arcs_[kept++] = arc;
    if (!directed && arc.src != arc.dst)
      reversed_.push_back({arc.dst, arc.src, arc.rank + 1, arc.kind, arc.flips});
  }
  arcs_.resize(kept);
  return arrow::Status::OK();
}

void EventBuffer::Apply(EventGraph& graph, NeighbourhoodChanges& changes) {
  const std::size_t first = changes.changes().size();
  std::vector<NodeId> flips;
  auto arc = arcs_.begin();
  auto reversed = reversed_.begin();
  while (arc != arcs_.end() || reversed != reversed_.end()) {
    const NodeId node = arc == arcs_.end()            ? reversed->src
                        : reversed == reversed_.end() ? arc->src
                                                      : std::min(arc->src, reversed->src);
    flips.clear();
    std::uint32_t rank = std::numeric_limits<std::uint32_t>::max();
    const auto collect = [&](auto& entry, const auto& end) {
      for (; entry != end && entry->src == node; ++entry) {
        rank = std::min(rank, entry->rank);
        if (entry->flips) flips.push_back(entry->dst);
      }
    };
    // An edge is named by its lower end: what comes from there is above the node, what
    // comes from its other end below.
    collect(reversed, reversed_.end());
    collect(arc, arcs_.end());
    changes.BeforeChange(graph.graph_, node, rank);
    graph.graph_.Flip(node, flips);
  }
  changes.SortByRank(first);
}

}  // namespace coden
