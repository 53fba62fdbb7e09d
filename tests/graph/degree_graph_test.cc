#include "coden/graph/degree_graph.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/random_internal.h"
#include "coden/graph/event_graph.h"

namespace coden {
namespace {

TEST(DegreeGraph, HoldsWhatASetHolds) {
  constexpr NodeId kNodes = 300;
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    Random random(seed, /*stream=*/0, /*row=*/0);
    DegreeGraph graph;
    graph.Grow(kNodes);
    std::set<std::pair<NodeId, NodeId>> model;
    std::map<NodeId, std::int64_t> degrees;
    for (int step = 0; step < 200'000; ++step) {
      // A wide range of arcs fills the table, a narrow one toggles within full stretches.
      const NodeId width = step / 20'000 % 2 == 0 ? kNodes : 40;
      const auto src = static_cast<NodeId>(random.Below(width));
      const auto dst = static_cast<NodeId>(random.Below(kNodes));
      const bool present = model.contains({src, dst});
      const auto place = graph.FindArc(src, dst);
      ASSERT_EQ(place.present, present);
      graph.Prefetch(src, dst);
      graph.Toggle(place);
      if (present) {
        model.erase({src, dst});
      } else {
        model.insert({src, dst});
      }
      degrees[src] += present ? -1 : 1;
      ASSERT_EQ(graph.out_degree(src), degrees[src]);
    }
    for (NodeId src = 0; src < kNodes; ++src) {
      for (NodeId dst = 0; dst < kNodes; ++dst) {
        ASSERT_EQ(graph.FindArc(src, dst).present, model.contains({src, dst}));
      }
    }
    std::vector<EdgeChange> edges;
    for (const auto& [src, dst] : model) edges.emplace_back(src, dst, /*present=*/true);
    ASSERT_EQ(graph.Edges(/*directed=*/true), edges);
  }
}

template <typename Graph>
class NoObserver : public BasicArcObserver<Graph> {
 public:
  void BeforeChange(const Graph&, NodeId) override {}
  void AfterChange(const Graph&, NodeId) override {}
};

TEST(DegreeGraph, MeansWhatADynamicGraphMeans) {
  constexpr NodeId kNodes = 60;
  for (const bool directed : {false, true}) {
    for (const bool self_loops : {false, true}) {
      for (const EventTime window : {0, 300}) {
        SCOPED_TRACE(::testing::Message() << directed << self_loops << window);
        GraphOptions options;
        options.directed = directed;
        options.self_loops = self_loops;
        options.lenient = true;
        options.window = window;
        EventGraph full(options);
        BasicEventGraph<DegreeGraph> counted(options);
        NoObserver<DynamicGraph> full_observer;
        NoObserver<DegreeGraph> counted_observer;
        Random random(/*seed=*/1, /*stream=*/0, /*row=*/0);
        for (EventTime time = 0; time < 10'000; ++time) {
          const EdgeEvent event{static_cast<NodeId>(random.Below(kNodes)),
                                static_cast<NodeId>(random.Below(kNodes)), time,
                                static_cast<EventKind>(random.Below(3))};
          ASSERT_TRUE(full.Apply(event, full_observer).ok());
          ASSERT_TRUE(counted.Apply(event, counted_observer).ok());
          ASSERT_EQ(full.num_edges(), counted.num_edges());
          for (const NodeId node : {event.src, event.dst}) {
            ASSERT_EQ(full.graph().out_degree(node), counted.graph().out_degree(node));
          }
          if (time % 1000 != 0) continue;
          ASSERT_EQ(full.graph().Edges(directed), counted.graph().Edges(directed));
        }
        EXPECT_EQ(full.counts().repeated, counted.counts().repeated);
        EXPECT_EQ(full.counts().expired, counted.counts().expired);
        EXPECT_EQ(full.counts().missing_deletions, counted.counts().missing_deletions);
        EXPECT_EQ(full.counts().self_loops, counted.counts().self_loops);
      }
    }
  }
}

TEST(DegreeGraph, SaysWhatItsTableMayAllocate) {
  // Three of four slots are taken at most, and there are 2^k of them.
  for (const std::int64_t slots : {std::int64_t{1} << 12, std::int64_t{1} << 28}) {
    const std::int64_t full = slots / 4 * 3;
    EXPECT_EQ(DegreeGraph::GrowthBytes(full - 100, 50), 0) << slots;
    EXPECT_EQ(DegreeGraph::GrowthBytes(full - 100, 101), 2 * slots * 8) << slots;
    EXPECT_EQ(DegreeGraph::GrowthBytes(full - 100, full + 100), 2 * slots * 8) << slots;
    EXPECT_EQ(DegreeGraph::GrowthBytes(full - 100, full + 200), 4 * slots * 8) << slots;
  }
}

}  // namespace
}  // namespace coden
