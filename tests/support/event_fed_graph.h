// Edge events on their way to a solver, by the route of a run: an event graph decides
// what a row means, net changes bring a snapshot graph along.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "coden/graph/event_graph.h"
#include "coden/graph/graph_source.h"
#include "coden/graph/node_times.h"
#include "coden/graph/snapshot_graph.h"
#include "coden/graph/unobserved.h"
#include "coden/sample/schedule.h"

namespace coden::test {

/// A snapshot graph that follows edge events.
class EventFedGraph {
 public:
  explicit EventFedGraph(const GraphOptions& options)
      : events_(options), graph_(options.directed) {
    events_.RecordTo(&changes_);
  }
  EventFedGraph(const EventFedGraph&) = delete;
  EventFedGraph& operator=(const EventFedGraph&) = delete;

  void Grow(NodeId num_nodes) { events_.Grow(num_nodes); }
  arrow::Status Apply(const EdgeEvent& event) {
    Unobserved nobody;
    return events_.Apply(event, nobody);
  }
  void ExpireUntil(EventTime time) {
    Unobserved nobody;
    events_.ExpireUntil(time, nobody);
  }
  const BasicEventGraph<DegreeGraph>& events() const { return events_; }

  /// The net changes since the last call of this or of Follow.
  std::vector<EdgeChange> TakeChanges() { return changes_.Take(); }

  /// Bring the snapshot graph to the events so far. Its changes() stay until Settle.
  const SnapshotGraph& Follow() {
    graph_.Grow(events_.graph().num_nodes());
    const arrow::Status status = graph_.Apply(changes_.Take());
    EXPECT_TRUE(status.ok()) << status.ToString();
    return graph_;
  }
  void Settle() { graph_.Settle(); }
  const SnapshotGraph& graph() const { return graph_; }

 private:
  BasicEventGraph<DegreeGraph> events_;
  NetChanges changes_;
  SnapshotGraph graph_;
};

/// A history in memory: the net changes of every snapshot.
class MemoryHistory : public GraphSource {
 public:
  explicit MemoryHistory(std::vector<std::vector<EdgeChange>> changes, NodeId num_nodes)
      : changes_(std::move(changes)), num_nodes_(num_nodes) {}

  arrow::Status Load(int num_snapshots, SnapshotGraph& graph) override {
    ARROW_RETURN_NOT_OK(AdvanceTo(num_snapshots - 1, graph));
    graph.Settle();
    return arrow::Status::OK();
  }
  arrow::Status AdvanceTo(int snapshot, SnapshotGraph& graph) override {
    graph.Grow(num_nodes_);
    for (; next_ <= snapshot; ++next_) ARROW_RETURN_NOT_OK(graph.Apply(changes_[next_]));
    return arrow::Status::OK();
  }

 private:
  std::vector<std::vector<EdgeChange>> changes_;  // by snapshot
  NodeId num_nodes_;
  int next_ = 0;
};

/// What the first pass would leave for `events` and a finished schedule, and when the
/// nodes came. Nodes of `featured` are there from the first snapshot on.
struct Followed {
  std::vector<std::vector<EdgeChange>> changes;  // by snapshot
  std::shared_ptr<const NodeTimes> times;
  std::unique_ptr<GraphSource> Graphs() const {
    return std::make_unique<MemoryHistory>(changes,
                                           static_cast<NodeId>(times->since.size()));
  }
};

inline Followed FollowEvents(const std::vector<EdgeEvent>& events,
                             const Schedule& schedule, const GraphOptions& options,
                             NodeId num_nodes, const std::vector<NodeId>& featured = {}) {
  Followed result;
  auto times = std::make_shared<NodeTimes>();
  times->since.assign(num_nodes, -1);
  times->arrivals.assign(num_nodes, -1);
  for (const NodeId node : featured) times->since[node] = 0;
  EventFedGraph graph(options);
  graph.Grow(num_nodes);
  std::size_t applied = 0;
  std::int32_t arrived = 0;
  for (const SchedulePoint& point : schedule) {
    for (; applied < static_cast<std::size_t>(point.events); ++applied) {
      const EdgeEvent& event = events[applied];
      for (const NodeId node : {event.src, event.dst}) {
        if (times->since[node] < 0) times->since[node] = point.snapshot;
        if (times->arrivals[node] < 0) times->arrivals[node] = arrived++;
      }
      const arrow::Status status = graph.Apply(event);
      EXPECT_TRUE(status.ok()) << status.ToString();
    }
    if (point.at_prediction) graph.ExpireUntil(point.time);
    result.changes.push_back(graph.TakeChanges());
  }
  result.times = std::move(times);
  return result;
}

}  // namespace coden::test
