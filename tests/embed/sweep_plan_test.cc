#include "embed/sweep_plan_internal.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/graph_of.h"

namespace coden {
namespace {

using Arcs = std::vector<std::pair<NodeId, NodeId>>;

constexpr PropagationRule kMass{0.2, Propagation::kMass};

// A graph with its rows in node order, and the plan for it.
struct Planned {
  SnapshotGraph graph;
  RowOrder order;
  std::vector<std::int32_t> degrees;
  SweepPlan plan;

  Planned(NodeId num_nodes, const Arcs& arcs, bool symmetric)
      : graph(test::GraphOf(/*directed=*/!symmetric, num_nodes, arcs)) {
    order.Grow(num_nodes);
    for (NodeId node = 0; node < num_nodes; ++node) order.Connect(node);
    for (NodeId node = 0; node < num_nodes; ++node)
      degrees.push_back(static_cast<std::int32_t>(graph.out_degree(node)));
    plan = PlanSweeps(RowGraph(graph, order), degrees, kMass, symmetric);
  }

  std::vector<Row> Core() const {
    std::vector<Row> rows(plan.rows.begin() + plan.core_begin,
                          plan.rows.begin() + plan.core_end);
    std::sort(rows.begin(), rows.end());
    return rows;
  }
  std::vector<Row> Sources(std::int64_t visit) const {
    return {plan.sources.begin() + plan.starts[visit],
            plan.sources.begin() + plan.starts[visit + 1]};
  }
};

TEST(SweepPlan, AGraphWithoutCyclesHasNoCoreAndOnlyForwardArcs) {
  const Planned planned(5, {{4, 1}, {1, 3}, {3, 0}, {4, 0}, {2, 3}}, false);
  EXPECT_EQ(planned.plan.core_begin, planned.plan.core_end);
  std::vector<Row> visit_of(5);
  for (Row visit = 0; visit < 5; ++visit) visit_of[planned.plan.rows[visit]] = visit;
  for (Row visit = 0; visit < 5; ++visit) {
    for (const Row source : planned.Sources(visit)) EXPECT_LT(visit_of[source], visit);
    EXPECT_EQ(planned.plan.change_weight[visit], 0.0f);
  }
}

TEST(SweepPlan, OnlyWhatLiesBetweenCyclesIsRepeated) {
  // 5 leads into the cycle 0 1 2, which leads to the cycle 6 7 by way of 3, and on to 4.
  const Planned planned(
      8, {{5, 0}, {0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 6}, {6, 7}, {7, 6}, {7, 4}}, false);
  EXPECT_EQ(planned.Core(), (std::vector<Row>{0, 1, 2, 3, 6, 7}));
  EXPECT_EQ(planned.plan.rows.front(), 5);
  EXPECT_EQ(planned.plan.rows.back(), 4);
}

TEST(SweepPlan, CitationsAreVisitedFromTheNewToTheOld) {
  Arcs arcs;
  for (NodeId node = 1; node < 200; ++node) arcs.push_back({node, node / 2});
  arcs.push_back({0, 199});  // one arc the wrong way makes a long cycle
  const Planned planned(200, arcs, false);
  ASSERT_LT(planned.plan.core_begin, planned.plan.core_end);
  EXPECT_TRUE(std::is_sorted(planned.plan.rows.begin() + planned.plan.core_begin,
                             planned.plan.rows.begin() + planned.plan.core_end,
                             std::greater<>()));
  EXPECT_LT(planned.plan.relaxation, 1.05);
}

TEST(SweepPlan, ASymmetricGraphIsVisitedByRowAndOverRelaxed) {
  const Planned planned(4, {{0, 1}, {1, 2}, {0, 3}}, true);
  EXPECT_TRUE(planned.plan.rows.empty());
  EXPECT_EQ(planned.plan.core_end, 4);
  EXPECT_EQ(planned.Sources(0), (std::vector<Row>{1, 3}));
  EXPECT_NEAR(planned.plan.relaxation, 1.25, 1e-12);
  // One neighbour of row 1 is visited before it: 1 * (1-alpha) / alpha.
  EXPECT_NEAR(planned.plan.change_weight[1], 4.0, 1e-5);
  EXPECT_EQ(planned.plan.change_weight[0], 0.0f);
}

TEST(SweepPlan, ASelfLoopIsSolvedForInsideItsRow) {
  const Planned planned(2, {{0, 0}, {0, 1}}, true);
  // Degree 2, half of it the loop: g = (0.1 x + 0.4 sum) / (1 - 0.4).
  EXPECT_NEAR(planned.plan.feature_factor[0], 0.1 / 0.6, 1e-12);
  EXPECT_NEAR(planned.plan.sum_factor[0], 0.4 / 0.6, 1e-12);
  EXPECT_EQ(planned.Sources(0), (std::vector<Row>{1}));
}

}  // namespace
}  // namespace coden
