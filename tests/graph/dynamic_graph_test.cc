#include "coden/graph/dynamic_graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/random_internal.h"

namespace coden {
namespace {

using Model = std::map<NodeId, std::set<NodeId>>;

void ExpectSameNode(const DynamicGraph& graph, const Model& model, NodeId node) {
  const auto neighbours = graph.out_neighbours(node);
  const auto found = model.find(node);
  const std::set<NodeId> expected =
      found == model.end() ? std::set<NodeId>() : found->second;
  ASSERT_TRUE(std::ranges::equal(neighbours, expected)) << "node " << node;
  ASSERT_EQ(graph.out_degree(node), static_cast<std::int64_t>(expected.size()));
}

void ExpectSame(const DynamicGraph& graph, const Model& model) {
  std::int64_t arcs = 0;
  for (NodeId node = 0; node < graph.num_nodes(); ++node) {
    ASSERT_NO_FATAL_FAILURE(ExpectSameNode(graph, model, node));
    arcs += graph.out_degree(node);
  }
  EXPECT_EQ(graph.num_arcs(), arcs);
}

// What the head of dynamic_graph.cc promises: 1.75 slots an arc, 64 a pool of 256 nodes;
// and 1.125 headers of 16 bytes a node with room for the vectors themselves.
void ExpectCompact(const DynamicGraph& graph) {
  const auto nodes = static_cast<double>(graph.num_nodes());
  const double bytes = 1.75 * 4 * static_cast<double>(graph.num_arcs()) +
                       (nodes / 256 + 1) * (64 * 4 + 2 * 40) + 1.13 * 16 * nodes;
  EXPECT_LE(static_cast<double>(graph.MemoryBytes()), bytes);
}

// A source of arcs: some nodes are hubs, the rest have few neighbours.
struct ArcDraw {
  Random random;
  NodeId num_hubs = 3;

  NodeId Node(NodeId num_nodes) {
    return static_cast<NodeId>(random.Below(random.Below(4) == 0 ? num_hubs : num_nodes));
  }
};

TEST(DynamicGraph, HoldsWhatASetHolds) {
  constexpr int kSteps = 100'000;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    SCOPED_TRACE(seed);
    ArcDraw draw{Random(seed, /*stream=*/0, /*row=*/0)};
    DynamicGraph graph;
    Model model;
    graph.Grow(5);
    for (int step = 0; step < kSteps; ++step) {
      if (draw.random.Below(50) == 0 && graph.num_nodes() < 1500) {
        graph.Grow(graph.num_nodes() + static_cast<NodeId>(draw.random.Below(4)));
      }
      const NodeId src = draw.Node(graph.num_nodes());
      const NodeId dst = draw.Node(graph.num_nodes());
      auto& expected = model[src];
      const bool present = expected.contains(dst);
      ASSERT_EQ(graph.HasArc(src, dst), present);
      // Times of growth and times of decline take turns.
      const bool declines = step / 10'000 % 2 == 1;
      if (present) {
        if (declines || draw.random.Below(4) == 0) {
          expected.erase(dst);
          draw.random.Below(2) == 0 ? graph.EraseArc(src, dst)
                                    : graph.Toggle(graph.FindArc(src, dst));
        }
      } else if (!declines) {
        expected.insert(dst);
        draw.random.Below(2) == 0 ? graph.InsertArc(src, dst)
                                  : graph.Toggle(graph.FindArc(src, dst));
      }
      if (declines && !expected.empty()) {
        graph.EraseArc(src, *expected.begin());
        expected.erase(expected.begin());
      }
      ASSERT_NO_FATAL_FAILURE(ExpectSameNode(graph, model, src));
      if (step % 5'000 == 0) {
        ASSERT_NO_FATAL_FAILURE(ExpectSame(graph, model));
        ExpectCompact(graph);
      }
    }
    ASSERT_NO_FATAL_FAILURE(ExpectSame(graph, model));
  }
}

TEST(DynamicGraph, NamesItsEdgesInOrder) {
  DynamicGraph graph;
  graph.Grow(6);
  EXPECT_TRUE(graph.Edges(/*directed=*/true).empty());
  // Both arcs of three pairs, and a self loop.
  for (const auto& [src, dst] :
       {std::pair(4, 1), {1, 4}, {5, 0}, {0, 5}, {3, 3}, {1, 2}, {2, 1}}) {
    graph.InsertArc(src, dst);
  }
  EXPECT_EQ(
      graph.Edges(/*directed=*/false),
      (std::vector<EdgeChange>{{0, 5, true}, {1, 2, true}, {1, 4, true}, {3, 3, true}}));
  EXPECT_EQ(graph.Edges(/*directed=*/true), (std::vector<EdgeChange>{{0, 5, true},
                                                                     {1, 2, true},
                                                                     {1, 4, true},
                                                                     {2, 1, true},
                                                                     {3, 3, true},
                                                                     {4, 1, true},
                                                                     {5, 0, true}}));
}

TEST(DynamicGraph, OrderDoesNotTellHistory) {
  DynamicGraph rising;
  DynamicGraph falling;
  rising.Grow(1000);
  falling.Grow(1000);
  for (NodeId dst = 0; dst < 1000; ++dst) rising.InsertArc(7, dst);
  for (NodeId dst = 999; dst >= 0; --dst) falling.InsertArc(7, dst);
  EXPECT_TRUE(std::ranges::equal(rising.out_neighbours(7), falling.out_neighbours(7)));
}

TEST(DynamicGraph, StaysCompactUnderLongToggling) {
  constexpr NodeId kNodes = 5'000;
  ArcDraw draw{Random(/*seed=*/5, /*stream=*/0, /*row=*/0), /*num_hubs=*/20};
  DynamicGraph graph;
  graph.Grow(kNodes);
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 50'000; ++i) {
      graph.Toggle(graph.FindArc(draw.Node(kNodes), draw.Node(kNodes)));
    }
    ExpectCompact(graph);
  }
  // What it takes does not depend on how often its arcs have changed.
  std::vector<std::pair<NodeId, NodeId>> arcs;
  for (NodeId node = 0; node < kNodes; ++node) {
    for (const NodeId other : graph.out_neighbours(node)) arcs.emplace_back(node, other);
  }
  for (const auto& [src, dst] : arcs) {
    graph.EraseArc(src, dst);
    graph.InsertArc(src, dst);
  }
  ExpectCompact(graph);
  for (const auto& [src, dst] : arcs) graph.EraseArc(src, dst);
  EXPECT_EQ(graph.num_arcs(), 0);
  ExpectCompact(graph);
}

TEST(DynamicGraph, StaysCompactWhileNodesComeOneByOne) {
  DynamicGraph graph;
  for (NodeId node = 0; node < 20'000; ++node) {
    graph.Grow(node + 1);
    for (NodeId other = node / 2; other < std::min(node, node / 2 + 6); ++other) {
      graph.InsertArc(node, other);
      graph.InsertArc(other, node);
    }
    if (node % 1000 == 0) ExpectCompact(graph);
  }
}

}  // namespace
}  // namespace coden
