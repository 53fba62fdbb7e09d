#include "coden/embed/event_buffer.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pipeline/random_internal.h"

namespace coden {
namespace {

struct Replayed {
  explicit Replayed(const GraphOptions& options) : graph(options) {}
  EventGraph graph;
  NeighbourhoodChanges changes;
};

void ExpectSame(const Replayed& found, const Replayed& expected) {
  const DynamicGraph& graph = found.graph.graph();
  const DynamicGraph& other = expected.graph.graph();
  ASSERT_EQ(graph.num_nodes(), other.num_nodes());
  ASSERT_EQ(graph.num_arcs(), other.num_arcs());
  ASSERT_EQ(found.graph.num_edges(), expected.graph.num_edges());
  for (NodeId node = 0; node < graph.num_nodes(); ++node) {
    ASSERT_TRUE(
        std::ranges::equal(graph.out_neighbours(node), other.out_neighbours(node)))
        << "node " << node;
  }
  const EventCounts& counts = found.graph.counts();
  EXPECT_EQ(counts.repeated, expected.graph.counts().repeated);
  EXPECT_EQ(counts.self_loops, expected.graph.counts().self_loops);
  EXPECT_EQ(counts.missing_deletions, expected.graph.counts().missing_deletions);
  EXPECT_EQ(counts.expired, expected.graph.counts().expired);
  ASSERT_EQ(found.changes.changes().size(), expected.changes.changes().size());
  for (std::size_t i = 0; i < found.changes.changes().size(); ++i) {
    const auto& change = found.changes.changes()[i];
    const auto& same = expected.changes.changes()[i];
    ASSERT_EQ(change.node, same.node) << "change " << i;
    ASSERT_TRUE(std::ranges::equal(change.before, same.before)) << "change " << i;
  }
}

// Few nodes make edges that come and go many times within one buffer; many make ones that
// come once. Some nodes are hubs.
EdgeEvent Draw(Random& random, NodeId num_nodes, EventTime time) {
  const auto node = [&] {
    const bool hub = random.Below(4) == 0;
    return static_cast<NodeId>(random.Below(hub ? 3 : num_nodes));
  };
  constexpr EventKind kKinds[] = {EventKind::kInsert, EventKind::kInsert,
                                  EventKind::kDelete, EventKind::kToggle};
  return {node(), node(), time, kKinds[random.Below(4)]};
}

struct Shape {
  std::string name;
  NodeId num_nodes;
  int num_events;
  GraphOptions options;
  std::size_t most_events = EventBuffer::kMostEvents;
};

class EventBufferTest : public testing::TestWithParam<Shape> {};

TEST_P(EventBufferTest, DoesWhatEventsDoOneByOne) {
  const Shape& shape = GetParam();
  for (const std::uint64_t seed : {1, 2}) {
    SCOPED_TRACE(seed);
    Random random(seed, /*stream=*/0, /*row=*/0);
    Replayed buffered(shape.options);
    Replayed direct(shape.options);
    EventBuffer buffer(shape.most_events);
    for (int snapshot = 0; snapshot < 4; ++snapshot) {
      for (int i = 0; i < shape.num_events; ++i) {
        const EdgeEvent event =
            Draw(random, shape.num_nodes, snapshot * shape.num_events + i);
        ASSERT_TRUE(buffer.Add(event, buffered.graph, buffered.changes).ok());
        ASSERT_TRUE(direct.graph.Apply(event, direct.changes).ok());
      }
      ASSERT_TRUE(buffer.Flush(buffered.graph, buffered.changes).ok());
      ASSERT_NO_FATAL_FAILURE(ExpectSame(buffered, direct));
      buffered.changes.Clear();
      direct.changes.Clear();
    }
  }
}

GraphOptions Options(bool directed, bool self_loops, EventTime window) {
  GraphOptions options;
  options.directed = directed;
  options.self_loops = self_loops;
  options.lenient = true;
  options.window = window;
  return options;
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, EventBufferTest,
    testing::Values(Shape{"Few", 12, 500, Options(false, false, 0)},
                    Shape{"FewDirected", 12, 500, Options(true, false, 0)},
                    Shape{"SelfLoops", 12, 500, Options(false, true, 0)},
                    Shape{"Many", 20'000, 60'000, Options(false, false, 0)},
                    Shape{"ManyDirected", 20'000, 60'000, Options(true, true, 0)},
                    Shape{"MoreThanOneBuffer", 20'000, 60'000, Options(false, false, 0),
                          /*most_events=*/10'000},
                    Shape{"Window", 200, 2'000, Options(false, false, 300)}),
    [](const auto& shape) { return shape.param.name; });

TEST(EventBuffer, ADeletionWithoutAnEdgeIsAnError) {
  Replayed replayed{GraphOptions()};
  EventBuffer buffer;
  ASSERT_TRUE(
      buffer.Add({0, 1, 0, EventKind::kInsert}, replayed.graph, replayed.changes).ok());
  ASSERT_TRUE(
      buffer.Add({1, 0, 1, EventKind::kDelete}, replayed.graph, replayed.changes).ok());
  ASSERT_TRUE(buffer.Flush(replayed.graph, replayed.changes).ok());
  EXPECT_EQ(replayed.graph.num_edges(), 0);
  ASSERT_TRUE(
      buffer.Add({0, 1, 2, EventKind::kDelete}, replayed.graph, replayed.changes).ok());
  const auto status = buffer.Flush(replayed.graph, replayed.changes);
  EXPECT_EQ(status.message(), NoSuchEdge().message());
}

}  // namespace
}  // namespace coden
