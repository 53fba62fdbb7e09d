// What events mean, written down a second time in the plainest way: a table of the edges
// that are there, with the time they came.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "coden/graph/event_graph.h"
#include "support/dense_ppr.h"

namespace coden::property {

class ModelGraph {
 public:
  using Edge = std::pair<NodeId, NodeId>;

  explicit ModelGraph(const GraphOptions& options) : options_(options) {}

  /// Edges with the time of their last insertion; an undirected one from the lower end.
  const std::map<Edge, EventTime>& edges() const { return edges_; }
  const EventCounts& counts() const { return counts_; }

  void ExpireUntil(EventTime time) {
    if (options_.window == 0) return;
    counts_.expired += static_cast<std::int64_t>(std::erase_if(
        edges_, [&](const auto& edge) { return edge.second + options_.window <= time; }));
  }

  /// Returns false where a deletion finds no edge.
  bool Apply(const EdgeEvent& event) {
    ExpireUntil(event.time);
    if (event.src == event.dst && !options_.self_loops) {
      ++counts_.self_loops;
      return true;
    }
    const Edge edge = EdgeOf(event);
    const bool present = edges_.contains(edge);
    const bool deletes =
        event.kind == EventKind::kDelete || (event.kind == EventKind::kToggle && present);
    if (deletes) {
      if (present) {
        edges_.erase(edge);
      } else {
        ++counts_.missing_deletions;
      }
      return present || options_.lenient;
    }
    counts_.repeated += present;
    edges_[edge] = event.time;
    return true;
  }

  Edge EdgeOf(const EdgeEvent& event) const {
    const bool swaps = !options_.directed && event.src > event.dst;
    return swaps ? Edge{event.dst, event.src} : Edge{event.src, event.dst};
  }

  test::ArcSet Arcs() const {
    test::ArcSet arcs;
    for (const auto& [edge, time] : edges_) {
      arcs.insert(edge);
      if (!options_.directed) arcs.insert({edge.second, edge.first});
    }
    return arcs;
  }

 private:
  GraphOptions options_;
  std::map<Edge, EventTime> edges_;
  EventCounts counts_;
};

}  // namespace coden::property
