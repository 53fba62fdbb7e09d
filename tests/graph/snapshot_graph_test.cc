// The graph of a slice against a plain set of arcs: the same neighbours after any
// updates, small ones that go into the overlay and large ones that write a new base.

#include "coden/graph/snapshot_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "coden/base/error.h"

namespace coden {
namespace {

using Neighbours = std::map<NodeId, std::set<NodeId>>;

std::vector<NodeId> ListOf(std::span<const NodeId> nodes) {
  return {nodes.begin(), nodes.end()};
}

class Twin {
 public:
  Twin(bool directed, NodeId num_nodes, unsigned seed)
      : graph_(directed), num_nodes_(num_nodes), random_(seed) {
    graph_.Grow(num_nodes);
  }

  // Toggle about `count` random edges, in one call of Apply.
  void Update(int count) {
    std::set<std::pair<NodeId, NodeId>> toggled;
    for (int i = 0; i < count; ++i) {
      auto src = static_cast<NodeId>(random_() % num_nodes_);
      auto dst = static_cast<NodeId>(random_() % num_nodes_);
      if (!graph_.directed() && src > dst) std::swap(src, dst);
      toggled.insert({src, dst});
    }
    std::vector<EdgeChange> changes;
    for (const auto& [src, dst] : toggled) {
      const bool present = !arcs_[src].contains(dst);
      changes.emplace_back(src, dst, present);
      Toggle(src, dst);
      if (!graph_.directed() && src != dst) Toggle(dst, src);
    }
    const arrow::Status status = graph_.Apply(changes);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  void Settle() {
    graph_.Settle();
    settled_ = arcs_;
  }

  void Check() {
    std::int64_t arcs = 0;
    for (NodeId node = 0; node < num_nodes_; ++node) {
      const std::set<NodeId>& expected = arcs_[node];
      ASSERT_EQ(ListOf(graph_.out_neighbours(node)),
                std::vector<NodeId>(expected.begin(), expected.end()));
      EXPECT_EQ(graph_.out_degree(node), static_cast<std::int64_t>(expected.size()));
      arcs += graph_.out_degree(node);
    }
    EXPECT_EQ(graph_.num_arcs(), arcs);
    std::set<NodeId> changed;
    for (const SnapshotGraph::Change& change : graph_.changes()) {
      EXPECT_TRUE(changed.insert(change.node).second) << "a node is told once";
      const std::set<NodeId>& before = settled_[change.node];
      ASSERT_EQ(ListOf(change.before), std::vector<NodeId>(before.begin(), before.end()));
    }
    for (NodeId node = 0; node < num_nodes_; ++node) {
      EXPECT_TRUE(settled_[node] == arcs_[node] || changed.contains(node));
    }
  }

  SnapshotGraph& graph() { return graph_; }

 private:
  void Toggle(NodeId src, NodeId dst) {
    if (!arcs_[src].insert(dst).second) arcs_[src].erase(dst);
  }

  SnapshotGraph graph_;
  NodeId num_nodes_;
  std::mt19937 random_;
  Neighbours arcs_;
  Neighbours settled_;
};

TEST(SnapshotGraph, IsWhatTheChangesMakeOfIt) {
  for (const bool directed : {false, true}) {
    SCOPED_TRACE(directed);
    Twin twin(directed, /*num_nodes=*/300, /*seed=*/11);
    twin.Update(5000);
    twin.Check();
    twin.Settle();
    // Small and large updates, several of them before some are settled.
    for (const int count : {1, 2, 40, 1, 4000, 3, 700, 1, 1, 9000, 5}) {
      twin.Update(count);
      twin.Check();
      if (count % 2 == 1) twin.Settle();
      twin.Check();
    }
  }
}

// Each update rewrites some lists; the overlay is merged again and again, so memory stays
// near that of the arcs.
TEST(SnapshotGraph, TheOverlayIsMergedWhenItHasGrown) {
  Twin twin(/*directed=*/false, /*num_nodes=*/20'000, /*seed=*/5);
  twin.Update(300'000);
  twin.Settle();
  for (int round = 0; round < 60; ++round) {
    twin.Update(400);
    twin.Settle();
    EXPECT_LE(twin.graph().MemoryBytes(),
              twin.graph().num_arcs() * 4 * 3 / 2 + 20'000 * 16 + (1 << 18));
  }
  twin.Check();
}

TEST(SnapshotGraph, OldNeighboursStayUntilTheyAreSettled) {
  SnapshotGraph graph(/*directed=*/true);
  graph.Grow(3);
  ASSERT_TRUE(graph.Apply(std::vector<EdgeChange>{{0, 1, true}, {0, 2, true}}).ok());
  graph.Settle();
  ASSERT_TRUE(graph.Apply(std::vector<EdgeChange>{{0, 1, false}}).ok());
  ASSERT_TRUE(graph.Apply(std::vector<EdgeChange>{{0, 1, true}}).ok());
  ASSERT_EQ(graph.changes().size(), 1u);
  EXPECT_EQ(ListOf(graph.changes()[0].before), (std::vector<NodeId>{1, 2}));
  EXPECT_EQ(ListOf(graph.out_neighbours(0)), (std::vector<NodeId>{1, 2}));
  graph.Settle();
  EXPECT_TRUE(graph.changes().empty());
}

TEST(SnapshotGraph, RefusesChangesThatContradictIt) {
  for (const bool large : {false, true}) {
    SnapshotGraph graph(/*directed=*/false);
    graph.Grow(100);
    std::vector<EdgeChange> edges;
    for (NodeId node = 0; !large && node < 50; ++node)
      edges.emplace_back(node, node + 50, true);
    edges.emplace_back(98, 99, true);
    ASSERT_TRUE(graph.Apply(edges).ok());
    const arrow::Status twice = graph.Apply(std::vector<EdgeChange>{{98, 99, true}});
    EXPECT_EQ(FaultOf(twice), Fault::kCorruption);
    EXPECT_NE(twice.message().find("adds the edge of nodes 98 and 99"), std::string::npos)
        << twice.ToString();
  }
}

}  // namespace
}  // namespace coden
