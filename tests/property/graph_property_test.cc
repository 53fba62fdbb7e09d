// The event graph with degrees alone, the one with neighbours and the snapshot graph of
// the solvers all equal a model of what the events mean; a window equals the deletions it
// stands for; an undirected graph is both arcs.

#include <algorithm>
#include <ranges>
#include <set>

#include "coden/graph/degree_graph.h"
#include "coden/graph/snapshot_graph.h"
#include "coden/graph/unobserved.h"
#include "property/check_property.h"
#include "property/log_case.h"
#include "property/model_graph.h"

namespace coden::property {
namespace {

auto AsTuple(const EventCounts& counts) {
  return std::tuple(counts.repeated, counts.self_loops, counts.missing_deletions,
                    counts.expired);
}

TEST(GraphProperty, BothGraphsAreWhatTheEventsMean) {
  CheckProperty({1000}, [](Tally& tally) {
    const Case setup = *AnyCase();
    EventGraph graph(setup.graph);
    BasicEventGraph<DegreeGraph> degrees(setup.graph);
    ModelGraph model(setup.graph);
    graph.Grow(setup.num_nodes);
    degrees.Grow(setup.num_nodes);
    Unobserved nobody;
    for (const Batch& batch : Resolve(setup).batches) {
      for (const Item& item : batch.items) {
        if (!item.is_event()) continue;
        Must(graph.Apply(item.event, nobody));
        Must(degrees.Apply(item.event, nobody));
        model.Apply(item.event);
        tally.Add("events");
      }
      graph.ExpireUntil(batch.end, nobody);
      degrees.ExpireUntil(batch.end, nobody);
      model.ExpireUntil(batch.end);
      RC_ASSERT(test::ArcsOf(graph.graph()) == model.Arcs());
      for (NodeId node = 0; node < setup.num_nodes; ++node)
        RC_ASSERT(degrees.graph().out_degree(node) == graph.graph().out_degree(node));
      const auto num_edges = static_cast<std::int64_t>(model.edges().size());
      RC_ASSERT(graph.num_edges() == num_edges);
      RC_ASSERT(degrees.num_edges() == num_edges);
      RC_ASSERT(AsTuple(graph.counts()) == AsTuple(model.counts()));
      RC_ASSERT(AsTuple(degrees.counts()) == AsTuple(model.counts()));
      RC_ASSERT(graph.graph().num_arcs() ==
                static_cast<std::int64_t>(model.Arcs().size()));
    }
    tally.Add("edges expired", model.counts().expired);
    tally.Add("rows that repeat an edge", model.counts().repeated);
  });
}

// The out-neighbours of every node, sorted.
using Neighbours = std::vector<std::vector<NodeId>>;

Neighbours NeighboursOf(const ModelGraph& model, NodeId num_nodes) {
  Neighbours neighbours(num_nodes);
  for (const auto& [src, dst] : model.Arcs()) neighbours[src].push_back(dst);
  return neighbours;
}

// Check that net changes are sorted and name every edge once, and that they turn `edges`
// into those of the model.
void ApplyToEdges(const std::vector<EdgeChange>& changes, const ModelGraph& model,
                  std::set<ModelGraph::Edge>& edges) {
  RC_ASSERT(std::is_sorted(changes.begin(), changes.end()));
  std::set<ModelGraph::Edge> changed;
  for (const EdgeChange change : changes) {
    const ModelGraph::Edge edge{change.src(), change.dst()};
    RC_ASSERT(changed.insert(edge).second);
    RC_ASSERT(edges.contains(edge) != change.present());
    if (change.present()) {
      edges.insert(edge);
    } else {
      edges.erase(edge);
    }
  }
  const auto names = std::views::keys(model.edges());
  RC_ASSERT(edges == std::set<ModelGraph::Edge>(names.begin(), names.end()));
}

// After any net changes a snapshot graph equals the model. For every node whose
// neighbours differ from those at the last Settle, it reports what they were then.
TEST(GraphProperty, ASnapshotGraphFollowsNetChanges) {
  CheckProperty({1000}, [](Tally& tally) {
    const Case setup = *AnyCase();
    // Whether to call Settle after each batch.
    const auto settles =
        *rc::gen::container<std::vector<bool>>(rc::gen::arbitrary<bool>());
    BasicEventGraph<DegreeGraph> events(setup.graph);
    NetChanges changes;
    events.RecordTo(&changes);
    SnapshotGraph graph(setup.graph.directed);
    ModelGraph model(setup.graph);
    std::set<ModelGraph::Edge> edges;
    Neighbours settled(setup.num_nodes);
    Unobserved nobody;
    const Log log = Resolve(setup);
    for (std::size_t k = 0; k < log.batches.size(); ++k) {
      const Batch& batch = log.batches[k];
      for (const Item& item : batch.items) {
        if (!item.is_event()) continue;
        Must(events.Apply(item.event, nobody));
        model.Apply(item.event);
      }
      events.ExpireUntil(batch.end, nobody);
      model.ExpireUntil(batch.end);
      graph.Grow(batch.num_nodes);
      const std::vector<EdgeChange> net = changes.Take();
      ApplyToEdges(net, model, edges);
      Must(graph.Apply(net));
      const Neighbours now = NeighboursOf(model, setup.num_nodes);
      for (NodeId node = 0; node < graph.num_nodes(); ++node)
        RC_ASSERT(std::ranges::equal(graph.out_neighbours(node), now[node]));
      RC_ASSERT(graph.num_arcs() == static_cast<std::int64_t>(model.Arcs().size()));
      std::set<NodeId> reported;
      for (const SnapshotGraph::Change& change : graph.changes()) {
        RC_ASSERT(reported.insert(change.node).second);
        RC_ASSERT(std::ranges::equal(change.before, settled[change.node]));
      }
      for (NodeId node = 0; node < graph.num_nodes(); ++node)
        RC_ASSERT(settled[node] == now[node] || reported.contains(node));
      tally.Add("net changes", static_cast<std::int64_t>(net.size()));
      if (k < settles.size() && !settles[k]) continue;
      graph.Settle();
      RC_ASSERT(graph.changes().empty());
      settled = now;
      tally.Add("calls of Settle");
    }
  });
}

// A deletion that finds no edge is refused, and changes nothing.
TEST(GraphProperty, DeletionsOfAbsentEdgesAreRefusedUnlessLenient) {
  CheckProperty({500}, [](Tally& tally) {
    const Case setup = *AnyCase();
    EventGraph graph(setup.graph);
    ModelGraph model(setup.graph);
    graph.Grow(setup.num_nodes);
    Unobserved nobody;
    const NodeId src = *rc::gen::inRange(0, 64) % setup.num_nodes;
    const NodeId dst = *rc::gen::inRange(0, 64) % setup.num_nodes;
    const Log log = Resolve(setup);
    for (const Batch& batch : log.batches) {
      for (const Item& item : batch.items) {
        if (!item.is_event()) continue;
        Must(graph.Apply(item.event, nobody));
        model.Apply(item.event);
      }
      if (&batch != &log.batches.back()) continue;
      const EdgeEvent deletion{src, dst, batch.end, EventKind::kDelete};
      const auto before = test::ArcsOf(graph.graph());
      model.ExpireUntil(batch.end);
      const bool dropped = src == dst && !setup.graph.self_loops;
      const bool absent = !dropped && !model.edges().contains(model.EdgeOf(deletion));
      const arrow::Status status = graph.Apply(deletion, nobody);
      RC_ASSERT(status.ok() == model.Apply(deletion));
      RC_ASSERT(status.ok() == (!absent || setup.graph.lenient));
      RC_ASSERT(test::ArcsOf(graph.graph()) == model.Arcs());
      if (!status.ok() && setup.graph.window == 0)
        RC_ASSERT(test::ArcsOf(graph.graph()) == before);
      tally.Add(status.ok() ? "deletions taken" : "deletions refused");
    }
  });
}

TEST(GraphProperty, AWindowIsTheDeletionsItStandsFor) {
  CheckProperty({500}, [](Tally& tally) {
    Case setup = *AnyCase();
    setup.graph.events = EventMode::kInsert;
    setup.graph.window = 1 + *rc::gen::inRange(0, 12);
    GraphOptions plain = setup.graph;
    plain.events = EventMode::kSigned;
    plain.window = 0;
    EventGraph windowed(setup.graph), deleted(plain);
    ModelGraph model(setup.graph);
    windowed.Grow(setup.num_nodes);
    deleted.Grow(setup.num_nodes);
    Unobserved nobody;
    const auto delete_until = [&](EventTime time) {
      const auto before = model.edges();
      model.ExpireUntil(time);
      for (const auto& [edge, since] : before) {
        if (model.edges().contains(edge)) continue;
        Must(deleted.Apply({edge.first, edge.second, time, EventKind::kDelete}, nobody));
        tally.Add("edges expired");
      }
    };
    for (const Batch& batch : Resolve(setup).batches) {
      for (const Item& item : batch.items) {
        if (!item.is_event()) continue;
        Must(windowed.Apply(item.event, nobody));
        delete_until(item.event.time);
        model.Apply(item.event);
        Must(deleted.Apply(item.event, nobody));
        RC_ASSERT(windowed.num_edges() == deleted.num_edges());
      }
      windowed.ExpireUntil(batch.end, nobody);
      delete_until(batch.end);
      RC_ASSERT(test::ArcsOf(windowed.graph()) == test::ArcsOf(deleted.graph()));
    }
  });
}

TEST(GraphProperty, AnUndirectedGraphIsBothArcs) {
  CheckProperty({500}, [](Tally& tally) {
    Case setup = *AnyCase();
    setup.graph.directed = false;
    GraphOptions both = setup.graph;
    both.directed = true;
    EventGraph undirected(setup.graph), directed(both);
    undirected.Grow(setup.num_nodes);
    directed.Grow(setup.num_nodes);
    Unobserved nobody;
    for (const Batch& batch : Resolve(setup).batches) {
      for (const Item& item : batch.items) {
        if (!item.is_event()) continue;
        Must(undirected.Apply(item.event, nobody));
        Must(directed.Apply(item.event, nobody));
        EdgeEvent reversed = item.event;
        std::swap(reversed.src, reversed.dst);
        if (reversed.src != reversed.dst) Must(directed.Apply(reversed, nobody));
        tally.Add("events");
      }
      undirected.ExpireUntil(batch.end, nobody);
      directed.ExpireUntil(batch.end, nobody);
      RC_ASSERT(test::ArcsOf(undirected.graph()) == test::ArcsOf(directed.graph()));
    }
  });
}

}  // namespace
}  // namespace coden::property
