#include "coden/graph/event_graph.h"

#include <map>
#include <random>
#include <ranges>
#include <set>
#include <string>

#include "support/status.h"

namespace coden {
namespace {

using Edge = std::pair<NodeId, NodeId>;

// The out-neighbours of every node as the observer saw them, to check that it hears of
// every change once.
class CountingObserver : public ArcObserver {
 public:
  // Begin with a graph whose arcs it has not seen come.
  void Take(const DynamicGraph& graph) {
    for (NodeId node = 0; node < graph.num_nodes(); ++node)
      degrees_[node] = graph.out_degree(node);
  }
  void BeforeChange(const DynamicGraph& graph, NodeId node) override {
    EXPECT_EQ(graph.out_degree(node), degrees_[node]);
    ++open_;
  }
  void AfterChange(const DynamicGraph& graph, NodeId node) override {
    EXPECT_EQ(std::abs(graph.out_degree(node) - degrees_[node]), 1);
    degrees_[node] = graph.out_degree(node);
    --open_;
    EXPECT_EQ(open_, 0);
  }

 private:
  std::map<NodeId, std::int64_t> degrees_;
  int open_ = 0;
};

// What the events mean, as a set of edges and the time each was last inserted.
class NaiveGraph {
 public:
  explicit NaiveGraph(GraphOptions options) : options_(options) {}

  // Returns whether the event is allowed.
  bool Apply(const EdgeEvent& event) {
    Expire(event.time);
    if (event.src == event.dst && !options_.self_loops) {
      ++counts.self_loops;
      return true;
    }
    Edge edge{event.src, event.dst};
    if (!options_.directed && edge.first > edge.second) {
      std::swap(edge.first, edge.second);
    }
    const bool present = edges.contains(edge);
    const bool inserts = event.kind == EventKind::kInsert ||
                         (event.kind == EventKind::kToggle && !present);
    if (inserts) {
      counts.repeated += present;
      edges[edge] = event.time;
    } else if (present) {
      edges.erase(edge);
    } else if (options_.lenient) {
      ++counts.missing_deletions;
    } else {
      return false;
    }
    return true;
  }

  void Expire(EventTime time) {
    if (options_.window == 0) return;
    counts.expired += static_cast<std::int64_t>(std::erase_if(
        edges, [&](const auto& edge) { return edge.second + options_.window <= time; }));
  }

  std::set<Edge> Arcs() const {
    std::set<Edge> arcs;
    for (const auto& [edge, time] : edges) {
      arcs.insert(edge);
      if (!options_.directed) arcs.insert({edge.second, edge.first});
    }
    return arcs;
  }

  std::map<Edge, EventTime> edges;
  EventCounts counts;

 private:
  GraphOptions options_;
};

std::set<Edge> ArcsOf(const DynamicGraph& graph) {
  std::set<Edge> arcs;
  for (NodeId node = 0; node < graph.num_nodes(); ++node) {
    NodeId last = kNoNode;
    for (const NodeId other : graph.out_neighbours(node)) {
      EXPECT_LT(last, other) << "neighbours are sorted";
      last = other;
      arcs.insert({node, other});
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(arcs.size()), graph.num_arcs());
  return arcs;
}

// Apply the recorded net changes to `edges`. None of them contradicts what is there, and
// the result is the edges of `naive`.
void CheckChanges(NetChanges& changes, const NaiveGraph& naive, std::set<Edge>& edges) {
  for (const EdgeChange change : changes.Take()) {
    const Edge edge{change.src(), change.dst()};
    ASSERT_EQ(edges.contains(edge), !change.present());
    if (change.present()) {
      edges.insert(edge);
    } else {
      edges.erase(edge);
    }
  }
  const auto names = std::views::keys(naive.edges);
  ASSERT_EQ(edges, std::set<Edge>(names.begin(), names.end()));
}

void CheckSame(const EventGraph& events, const NaiveGraph& naive) {
  ASSERT_EQ(ArcsOf(events.graph()), naive.Arcs());
  ASSERT_EQ(events.num_edges(), static_cast<std::int64_t>(naive.edges.size()));
  ASSERT_EQ(events.counts().repeated, naive.counts.repeated);
  ASSERT_EQ(events.counts().self_loops, naive.counts.self_loops);
  ASSERT_EQ(events.counts().missing_deletions, naive.counts.missing_deletions);
  ASSERT_EQ(events.counts().expired, naive.counts.expired);
}

void CheckRandomEvents(const GraphOptions& options, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  EventGraph events(options);
  NaiveGraph naive(options);
  CountingObserver observer;
  NetChanges changes;
  std::set<Edge> recorded;
  events.RecordTo(&changes);
  EventTime time = 0;
  for (int i = 0; i < 1500; ++i) {
    time += static_cast<EventTime>(random() % 3);
    EdgeEvent event{static_cast<NodeId>(random() % 9), static_cast<NodeId>(random() % 9),
                    time, EventKind::kInsert};
    if (options.events == EventMode::kToggle) event.kind = EventKind::kToggle;
    if (options.events == EventMode::kSigned && random() % 2 == 0) {
      event.kind = EventKind::kDelete;
    }
    const arrow::Status status = events.Apply(event, observer);
    ASSERT_EQ(status.ok(), naive.Apply(event)) << i;
    if (i % 10 != 0) continue;
    CheckSame(events, naive);
    CheckChanges(changes, naive, recorded);
  }
  time += options.window;
  events.ExpireUntil(time, observer);
  naive.Expire(time);
  CheckSame(events, naive);
  CheckChanges(changes, naive, recorded);
}

TEST(EventGraph, IsTheSetOfEdgesThatTheEventsSpell) {
  for (const EventMode mode :
       {EventMode::kInsert, EventMode::kToggle, EventMode::kSigned}) {
    for (const bool directed : {false, true}) {
      for (const bool self_loops : {false, true}) {
        for (const bool lenient : {false, true}) {
          SCOPED_TRACE("mode " + std::to_string(static_cast<int>(mode)) + " directed " +
                       std::to_string(directed) + " self loops " +
                       std::to_string(self_loops) + " lenient " +
                       std::to_string(lenient));
          CheckRandomEvents({mode, directed, self_loops, lenient, /*window=*/0}, 3);
        }
      }
    }
  }
}

TEST(EventGraph, LetsEdgesExpireInEveryMode) {
  for (const EventMode mode :
       {EventMode::kInsert, EventMode::kToggle, EventMode::kSigned}) {
    for (const bool directed : {false, true}) {
      for (const EventTime window : {1, 7, 40}) {
        SCOPED_TRACE("mode " + std::to_string(static_cast<int>(mode)) + " directed " +
                     std::to_string(directed) + " window " + std::to_string(window));
        CheckRandomEvents({mode, directed, /*self_loops=*/true, /*lenient=*/true, window},
                          5);
      }
    }
  }
}

TEST(EventGraph, RepeatedInsertionsRefreshTheWindow) {
  EventGraph events({EventMode::kInsert, /*directed=*/true, false, false, /*window=*/10});
  CountingObserver observer;
  CODEN_EXPECT_OK(events.Apply({0, 1, 0, EventKind::kInsert}, observer));
  CODEN_EXPECT_OK(events.Apply({0, 1, 6, EventKind::kInsert}, observer));
  events.ExpireUntil(10, observer);
  EXPECT_EQ(events.num_edges(), 1) << "the insertion at 6 holds it";
  events.ExpireUntil(15, observer);
  EXPECT_EQ(events.num_edges(), 1);
  events.ExpireUntil(16, observer);
  EXPECT_EQ(events.num_edges(), 0);
  EXPECT_EQ(events.counts().expired, 1);
  EXPECT_EQ(events.counts().repeated, 1);
}

TEST(EventGraph, GoesOnWhereAnotherStood) {
  const GraphOptions options{.events = EventMode::kSigned, .window = 10};
  EventGraph events(options), restored(options);
  CountingObserver observer;
  CODEN_EXPECT_OK(events.Apply({0, 1, 1, EventKind::kInsert}, observer));
  CODEN_EXPECT_OK(events.Apply({2, 1, 2, EventKind::kInsert}, observer));
  CODEN_EXPECT_OK(events.Apply({2, 2, 2, EventKind::kInsert}, observer));
  CODEN_EXPECT_OK(events.Apply({0, 1, 3, EventKind::kDelete}, observer));
  CODEN_EXPECT_OK(events.Apply({2, 1, 4, EventKind::kInsert}, observer));
  restored.Grow(3);
  restored.RestoreEdge(1, 2);
  for (const PendingExpiry& insertion : events.pending_expiries())
    restored.RestoreExpiry(insertion);
  restored.RestoreCounts(events.counts());
  EXPECT_EQ(restored.counts().repeated, 1);
  EXPECT_EQ(restored.counts().self_loops, 1);
  CountingObserver other;
  other.Take(restored.graph());
  // 0 - 1 was deleted, so its expiry at 11 finds nothing; 1 - 2 is held until 14.
  for (EventTime time = 4; time < 16; ++time) {
    events.ExpireUntil(time, observer);
    restored.ExpireUntil(time, other);
    EXPECT_EQ(restored.num_edges(), time < 14 ? 1 : 0) << time;
    EXPECT_EQ(restored.num_edges(), events.num_edges()) << time;
    EXPECT_EQ(restored.graph().num_arcs(), events.graph().num_arcs()) << time;
  }
  EXPECT_EQ(restored.counts().expired, events.counts().expired);
}

TEST(EventGraph, RefusesToDeleteAnAbsentEdge) {
  EventGraph events({EventMode::kSigned, /*directed=*/true});
  CountingObserver observer;
  CODEN_EXPECT_OK(events.Apply({0, 1, 0, EventKind::kInsert}, observer));
  ExpectInputError(events.Apply({1, 0, 1, EventKind::kDelete}, observer),
                   "the row deletes an edge that is not there; set `graph.lenient = "
                   "true` to skip and count such rows");
  EXPECT_EQ(events.num_edges(), 1);
}

TEST(EventGraph, AnUndirectedEdgeHasOneName) {
  EventGraph events({EventMode::kSigned, /*directed=*/false});
  CountingObserver observer;
  CODEN_EXPECT_OK(events.Apply({4, 1, 0, EventKind::kInsert}, observer));
  EXPECT_TRUE(events.graph().HasArc(1, 4));
  EXPECT_TRUE(events.graph().HasArc(4, 1));
  CODEN_EXPECT_OK(events.Apply({1, 4, 1, EventKind::kDelete}, observer));
  EXPECT_EQ(events.graph().num_arcs(), 0);
  EXPECT_EQ(events.graph().num_nodes(), 5) << "nodes stay";
}

}  // namespace
}  // namespace coden
