#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>

#include <arrow/status.h>

#include "coden/graph/dynamic_graph.h"
#include "coden/graph/graph_options.h"
#include "coden/graph/types.h"

namespace coden {

/// What became of the rows that changed nothing.
struct EventCounts {
  std::int64_t repeated = 0;           ///< insertions of an edge that was there
  std::int64_t self_loops = 0;         ///< dropped
  std::int64_t missing_deletions = 0;  ///< deletions of an absent edge, skipped
  std::int64_t expired = 0;            ///< edges that left by `graph.window`
};

/// Watch the arcs of an EventGraph change.
class ArcObserver {
 public:
  virtual ~ArcObserver() = default;
  /// The out-neighbourhood of `node` is about to change by one arc.
  virtual void BeforeChange(const DynamicGraph& graph, NodeId node) = 0;
  /// It has changed.
  virtual void AfterChange(const DynamicGraph& graph, NodeId node) = 0;
};

/// A graph driven by edge events: what a row means is decided here and nowhere else. The
/// sampler and the embedder each replay the log through one, so they see the same graph.
class EventGraph {
 public:
  explicit EventGraph(GraphOptions options) : options_(options) {}

  const DynamicGraph& graph() const { return graph_; }
  const EventCounts& counts() const { return counts_; }
  /// Edges present; an undirected edge counts once.
  std::int64_t num_edges() const { return num_edges_; }
  void Grow(NodeId num_nodes) { graph_.Grow(num_nodes); }

  /// Let edges expire up to `event.time`, then apply the event. Times must not fall. The
  /// error of a deletion that finds no edge says nothing about the row: the caller adds
  /// it.
  arrow::Status Apply(const EdgeEvent& event, ArcObserver& observer);

  /// Let edges expire whose window has ended at or before `time`.
  void ExpireUntil(EventTime time, ArcObserver& observer);

 private:
  // Change an edge: one arc, or both of an undirected edge.
  void ToggleEdge(const DynamicGraph::ArcPlace& place, ArcObserver& observer);
  void ToggleArc(const DynamicGraph::ArcPlace& place, ArcObserver& observer);

  struct Insertion {
    NodeId src;
    NodeId dst;
    EventTime time;
    std::int64_t number;
  };

  GraphOptions options_;
  DynamicGraph graph_;
  EventCounts counts_;
  std::int64_t num_edges_ = 0;
  // With a window: every insertion that has not yet expired, oldest first, and the number
  // of the last one of each edge that is present. An edge leaves with that one.
  std::deque<Insertion> insertions_;
  std::unordered_map<std::uint64_t, std::int64_t> last_insertion_;
  std::int64_t num_insertions_ = 0;
};

}  // namespace coden
