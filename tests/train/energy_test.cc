#include "train/energy_internal.h"

#include <tbb/global_control.h>

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "support/graph_of.h"

namespace coden {
namespace {

// Nodes 0 - 1 - 2 in a line, and node 3 alone.
SnapshotGraph Line() {
  return test::GraphOf(/*directed=*/false, /*num_nodes=*/4, {{0, 1}, {1, 2}});
}

TEST(EnergyTest, IsTheDefinitionOnALine) {
  const std::vector<float> rows = {1.0f, 0.0f, 0.0f, 2.0f, 3.0f, 0.0f, 9.0f, 9.0f};
  const std::vector<std::int64_t> row_of = {0, 1, 2, 3};
  const Energy energy = DirichletEnergy(Line(), row_of, rows, 2);
  // Degrees 1, 2, 1: scaled rows (1, 0)/√2, (0, 2)/√3, (3, 0)/√2.
  EXPECT_NEAR(energy.energy, (1.0 / 2 + 4.0 / 3) + (9.0 / 2 + 4.0 / 3), 1e-12);
  EXPECT_DOUBLE_EQ(energy.squares, 1.0 + 4.0 + 9.0);
  EXPECT_EQ(energy.left_out, 0);
}

TEST(EnergyTest, CountsArcsToNodesWithoutAVector) {
  const std::vector<float> rows = {1.0f, 4.0f};
  const std::vector<std::int64_t> row_of = {0, 1, -1, -1};
  const Energy energy = DirichletEnergy(Line(), row_of, rows, 1);
  EXPECT_EQ(energy.left_out, 2);  // 1 -> 2 and 2 -> 1
  const double difference = 1.0 / std::sqrt(2.0) - 4.0 / std::sqrt(3.0);
  EXPECT_NEAR(energy.energy, difference * difference, 1e-12);
}

TEST(EnergyTest, TheEndOfADirectedArcHasAPart) {
  const SnapshotGraph graph = test::GraphOf(/*directed=*/true, 3, {{0, 1}});
  const std::vector<float> rows = {3.0f, 4.0f, 5.0f};
  const std::vector<std::int64_t> row_of = {0, 1, 2};
  const Energy energy = DirichletEnergy(graph, row_of, rows, 1);
  const double difference = 3.0 / std::sqrt(2.0) - 4.0;
  EXPECT_NEAR(energy.energy, 0.5 * difference * difference, 1e-12);
  EXPECT_DOUBLE_EQ(energy.squares, 9.0 + 16.0);
}

TEST(EnergyTest, IsNothingWithoutArcs) {
  const SnapshotGraph graph = test::GraphOf(/*directed=*/false, 2, {});
  const std::vector<float> rows = {1.0f, 2.0f};
  const std::vector<std::int64_t> row_of = {0, 1};
  const Energy energy = DirichletEnergy(graph, row_of, rows, 1);
  EXPECT_EQ(energy.energy, 0.0);
  EXPECT_TRUE(std::isnan(energy.relative()));
}

TEST(EnergyTest, DoesNotDependOnTheThreads) {
  std::mt19937 random(3);
  constexpr NodeId kNodes = 5000;
  std::vector<std::pair<NodeId, NodeId>> arcs;
  for (int i = 0; i < 20000; ++i) {
    const auto u = static_cast<NodeId>(random() % kNodes);
    const auto v = static_cast<NodeId>(random() % kNodes);
    arcs.emplace_back(u, v);
  }
  const SnapshotGraph graph = test::GraphOf(/*directed=*/true, kNodes, arcs);
  std::vector<float> rows(kNodes * 3);
  for (float& value : rows) value = std::uniform_real_distribution<float>(-1, 1)(random);
  std::vector<std::int64_t> row_of(kNodes);
  for (NodeId node = 0; node < kNodes; ++node) row_of[node] = node;
  const Energy many = DirichletEnergy(graph, row_of, rows, 3);
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  EXPECT_EQ(DirichletEnergy(graph, row_of, rows, 3).energy, many.energy);
}

}  // namespace
}  // namespace coden
