// Net changes against a plain set of edges that is kept beside them.

#include "coden/graph/edge_change.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>

namespace coden {
namespace {

using EdgeSet = std::set<std::pair<NodeId, NodeId>>;

TEST(EdgeChange, HoldsTheLargestNodesAndSortsBySourceThenTarget) {
  constexpr NodeId kMost = std::numeric_limits<NodeId>::max();
  const EdgeChange change(kMost, kMost - 1, true);
  EXPECT_EQ(change.src(), kMost);
  EXPECT_EQ(change.dst(), kMost - 1);
  EXPECT_TRUE(change.present());
  EXPECT_LT(EdgeChange(1, 9, true), EdgeChange(2, 0, false));
  EXPECT_LT(EdgeChange(1, 8, true), EdgeChange(1, 9, false));
  EXPECT_TRUE(EdgeChange(1, 8, true).SameEdge(EdgeChange(1, 8, false)));
}

TEST(NetChanges, AreTheDifferenceOfTwoMoments) {
  std::mt19937 random(3);
  EdgeSet edges;
  NetChanges net;
  for (int round = 0; round < 30; ++round) {
    const EdgeSet before = edges;
    for (int i = 0; i < 200; ++i) {
      const std::pair<NodeId, NodeId> edge = {random() % 12, random() % 12};
      const bool present = edges.insert(edge).second;
      if (!present) edges.erase(edge);
      net.Add(edge.first, edge.second, present);
    }
    const std::vector<EdgeChange> changes = net.Take();
    EXPECT_TRUE(std::is_sorted(changes.begin(), changes.end()));
    std::size_t num_differences = 0;
    for (NodeId src = 0; src < 12; ++src) {
      for (NodeId dst = 0; dst < 12; ++dst)
        num_differences += before.contains({src, dst}) != edges.contains({src, dst});
    }
    EXPECT_EQ(changes.size(), num_differences) << "every edge once";
    for (const EdgeChange change : changes) {
      const std::pair<NodeId, NodeId> edge = {change.src(), change.dst()};
      EXPECT_EQ(change.present(), edges.contains(edge));
      EXPECT_NE(change.present(), before.contains(edge));
    }
  }
}

// A log that toggles a few edges for ever must not take memory for every event.
TEST(NetChanges, MemoryFollowsTheChangesAndNotTheEvents) {
  NetChanges net;
  for (int i = 0; i < 3'000'001; ++i) net.Add(1, 2, i % 2 == 0);
  EXPECT_LE(net.size(), 1 << 20);
  const std::vector<EdgeChange> changes = net.Take();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_TRUE(changes[0].present());
}

}  // namespace
}  // namespace coden
