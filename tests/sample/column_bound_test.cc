#include "sample/column_bound_internal.h"

#include <random>

#include <gtest/gtest.h>

#include "sample/neighbourhood_changes_internal.h"
#include "support/dense_ppr.h"

namespace coden {
namespace {

using test::ExactPpr;
using test::Matrix;
using test::Zeros;

constexpr NodeId kNumNodes = 16;
constexpr double kAlpha = 0.2;

double Sum(const Matrix& x) {
  double sum = 0.0;
  for (const auto& row : x) sum += row[0];
  return sum;
}

void CheckUpper(ColumnBound& bound, const DynamicGraph& graph, const Matrix& x) {
  const Matrix z = ExactPpr(graph, x, kAlpha);
  for (NodeId node = 0; node < graph.num_nodes(); ++node) {
    EXPECT_GE(bound.Upper(node, graph.out_degree(node)), z[node][0] - 1e-12) << node;
  }
}

// Toggle one random edge per step, change features now and then, look at all nodes every
// tenth step. Looking makes a directed bound push, so it must not happen at every one.
void CheckRandomGraph(bool directed, bool self_loops, unsigned seed) {
  SCOPED_TRACE(::testing::Message() << directed << self_loops << " seed " << seed);
  std::mt19937 random(seed);
  const auto any_node = [&] { return static_cast<NodeId>(random() % kNumNodes); };
  ColumnBound bound(kAlpha, directed);
  DynamicGraph graph;
  graph.Grow(kNumNodes);
  bound.Grow(kNumNodes);
  Matrix x = Zeros(kNumNodes, 1);
  for (NodeId node = 0; node < kNumNodes; ++node) {
    x[node][0] = static_cast<double>(random() % 4);
    bound.SetFirst(node, x[node][0]);
  }
  CheckUpper(bound, graph, x);
  for (int step = 1; step <= 300; ++step) {
    NeighbourhoodChanges changes;
    const auto toggle = [&](NodeId from, NodeId to) {
      changes.BeforeChange(graph, from);
      if (graph.HasArc(from, to)) {
        graph.EraseArc(from, to);
      } else {
        graph.InsertArc(from, to);
      }
    };
    const NodeId src = any_node();
    const NodeId dst = any_node();
    if (src != dst || self_loops) {
      toggle(src, dst);
      if (!directed && src != dst) toggle(dst, src);
    }
    if (random() % 6 == 0) {
      const NodeId node = any_node();
      const auto value = static_cast<double>(random() % 9);
      bound.Change(node, value - x[node][0]);
      x[node][0] = value;
    }
    bound.Settle(graph, changes, Sum(x));
    if (step % 10 == 0) CheckUpper(bound, graph, x);
    if (step % 70 == 0) bound.Tune(graph, Sum(x));
  }
}

TEST(ColumnBound, IsNeverBelowTheExactColumn) {
  for (const bool directed : {false, true}) {
    for (const bool self_loops : {false, true}) {
      for (unsigned seed = 1; seed <= 10; ++seed)
        CheckRandomGraph(directed, self_loops, seed);
    }
  }
}

// A graph that is put back says nothing of its arcs, and features come as if all of them
// had changed at once.
TEST(ColumnBound, IsAboveTheExactColumnOnAGraphThatIsPutBack) {
  for (const bool directed : {false, true}) {
    for (NodeId num_nodes = 1; num_nodes <= 12; ++num_nodes) {
      for (unsigned seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(::testing::Message() << directed << num_nodes << " seed " << seed);
        std::mt19937 random(seed);
        DynamicGraph graph;
        graph.Grow(num_nodes);
        for (NodeId arc = 0; arc < num_nodes; ++arc) {
          const auto src = static_cast<NodeId>(random() % num_nodes);
          const auto dst = static_cast<NodeId>(random() % num_nodes);
          if (graph.HasArc(src, dst)) continue;
          graph.InsertArc(src, dst);
          if (!directed && src != dst) graph.InsertArc(dst, src);
        }
        ColumnBound bound(kAlpha, directed);
        bound.Grow(num_nodes);
        Matrix x = Zeros(num_nodes, 1);
        bound.Clear(graph);
        for (NodeId node = 0; node < num_nodes; ++node) {
          x[node][0] = static_cast<double>(random() % 4);
          bound.Change(node, x[node][0]);
        }
        bound.Settle(graph, {}, Sum(x));
        CheckUpper(bound, graph, x);
      }
    }
  }
}

TEST(ColumnBound, ALoopKeepsAllThatComes) {
  // 2 -> 3, 1 -> 1 and then 0 -> 1: all of node 0's feature but alpha ends at node 1.
  ColumnBound bound(kAlpha, /*directed=*/true);
  DynamicGraph graph;
  graph.Grow(4);
  bound.Grow(4);
  const Matrix x = {{8.0}, {0.0}, {0.0}, {0.0}};
  bound.SetFirst(0, 8.0);
  const auto insert = [&](NodeId src, NodeId dst) {
    NeighbourhoodChanges changes;
    changes.BeforeChange(graph, src);
    graph.InsertArc(src, dst);
    bound.Settle(graph, changes, 8.0);
  };
  insert(2, 3);
  insert(1, 1);
  insert(0, 1);
  CheckUpper(bound, graph, x);
}

TEST(ColumnBound, IsCloseAfterTuning) {
  // A path of 20 nodes: every z(node) / d(node) is near the average that the tolerance is
  // a share of.
  ColumnBound bound(kAlpha, /*directed=*/false);
  DynamicGraph graph;
  graph.Grow(20);
  bound.Grow(20);
  Matrix x = Zeros(20, 1);
  for (NodeId node = 0; node < 20; ++node) {
    x[node][0] = 1.0;
    bound.SetFirst(node, 1.0);
  }
  for (NodeId node = 1; node < 20; ++node) {
    NeighbourhoodChanges changes;
    changes.BeforeChange(graph, node - 1);
    graph.InsertArc(node - 1, node);
    changes.BeforeChange(graph, node);
    graph.InsertArc(node, node - 1);
    bound.Settle(graph, changes, 20.0);
  }
  bound.Tune(graph, 20.0);
  const Matrix z = ExactPpr(graph, x, kAlpha);
  for (NodeId node = 0; node < 20; ++node) {
    EXPECT_LE(bound.Upper(node, graph.out_degree(node)), 1.3 * z[node][0]) << node;
  }
}

}  // namespace
}  // namespace coden
