#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "coden/graph/snapshot_graph.h"

namespace coden::test {

/// A snapshot graph of `edges`, in any order; one that is given twice counts once.
inline SnapshotGraph GraphOf(bool directed, NodeId num_nodes,
                             const std::vector<std::pair<NodeId, NodeId>>& edges) {
  std::vector<EdgeChange> changes;
  for (auto [src, dst] : edges) {
    if (!directed && src > dst) std::swap(src, dst);
    changes.emplace_back(src, dst, /*present=*/true);
  }
  std::sort(changes.begin(), changes.end());
  changes.erase(std::unique(changes.begin(), changes.end()), changes.end());
  SnapshotGraph graph(directed);
  graph.Grow(num_nodes);
  const arrow::Status status = graph.Apply(changes);
  EXPECT_TRUE(status.ok()) << status.ToString();
  graph.Settle();
  return graph;
}

}  // namespace coden::test
