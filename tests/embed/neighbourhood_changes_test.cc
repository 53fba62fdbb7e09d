#include "coden/embed/neighbourhood_changes.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "pipeline/random_internal.h"

namespace coden {
namespace {

TEST(NeighbourhoodChanges, KeepsTheOldNeighboursOfEveryChangedNode) {
  constexpr NodeId kNodes = 2'000;
  EventGraph events(GraphOptions{.directed = true, .self_loops = true});
  events.Grow(kNodes);
  NeighbourhoodChanges changes;
  Random random(/*seed=*/6, /*stream=*/0, /*row=*/0);
  // One of four sources is a hub, whose old neighbours need much room.
  const auto draw = [&](NodeId num_hubs) {
    return static_cast<NodeId>(random.Below(random.Below(4) == 0 ? num_hubs : kNodes));
  };
  for (int round = 0; round < 20; ++round) {
    std::map<NodeId, std::set<NodeId>> old;
    for (NodeId node = 0; node < kNodes; ++node) {
      const auto neighbours = events.graph().out_neighbours(node);
      old[node] = {neighbours.begin(), neighbours.end()};
    }
    std::set<NodeId> touched;
    for (int i = 0; i < 5'000; ++i) {
      const EdgeEvent event{draw(10), draw(kNodes), 0, EventKind::kToggle};
      ASSERT_TRUE(events.Apply(event, changes).ok());
      touched.insert(event.src);
    }
    ASSERT_EQ(changes.changes().size(), touched.size());
    for (const auto& change : changes.changes()) {
      EXPECT_TRUE(touched.contains(change.node));
      EXPECT_TRUE(std::ranges::equal(change.before, old[change.node]));
    }
    changes.Clear();
    EXPECT_TRUE(changes.empty());
  }
}

TEST(NeighbourhoodChanges, SettleForgetsWhatCancelled) {
  EventGraph events(GraphOptions{.directed = true});
  NeighbourhoodChanges changes;
  const auto toggle = [&](NodeId src, NodeId dst) {
    ASSERT_TRUE(events.Apply({src, dst, 0, EventKind::kToggle}, changes).ok());
  };
  toggle(0, 1);
  toggle(2, 1);
  toggle(0, 1);
  changes.Settle(events.graph());
  ASSERT_EQ(changes.changes().size(), 1u);
  EXPECT_EQ(changes.changes()[0].node, 2);
  toggle(0, 3);
  EXPECT_EQ(changes.changes().size(), 2u);
}

}  // namespace
}  // namespace coden
