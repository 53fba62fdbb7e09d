#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <arrow/status.h>

#include "coden/embed/neighbourhood_changes.h"
#include "coden/graph/event_graph.h"

namespace coden {

/// Events on their way into a graph: applied many at a time, in the order of nodes, with
/// the result of applying each as it comes. Why is told at the head of event_buffer.cc.
class EventBuffer {
 public:
  /// Events that are applied together: enough that most of the graph's lines that are
  /// visited serve more than one, few beside the graph.
  static constexpr std::size_t kMostEvents = std::size_t{1} << 20;

  explicit EventBuffer(std::size_t most_events = kMostEvents)
      : most_events_(most_events) {}

  /// Take an event. It may be applied now or with others later.
  arrow::Status Add(const EdgeEvent& event, EventGraph& graph,
                    NeighbourhoodChanges& changes);
  /// Apply what is left. The graph and what has changed in it can be read afterwards.
  arrow::Status Flush(EventGraph& graph, NeighbourhoodChanges& changes);

  /// Bytes that it may take where a Flush comes after `events` events.
  static std::int64_t MemoryBytes(std::int64_t events);

 private:
  // An event, later what all events of one arc come to.
  struct Entry {
    NodeId src;
    NodeId dst;
    std::uint32_t rank;  // in the order of the events, of the first that changed the arc
    EventKind kind;
    bool flips;  // present before and absent after, or the reverse
  };

  void Sort(std::vector<Entry>& entries);
  arrow::Status Decide(EventGraph& graph);
  void Apply(EventGraph& graph, NeighbourhoodChanges& changes);

  std::size_t most_events_;
  std::vector<Entry> arcs_;
  std::vector<Entry> reversed_;  // of an undirected graph: the same edges from their ends
  std::vector<Entry> sorted_;    // scratch
  std::vector<std::uint32_t> starts_;  // scratch
};

}  // namespace coden
