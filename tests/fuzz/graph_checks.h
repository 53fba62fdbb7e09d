#pragma once

#include <algorithm>
#include <span>

#include "check.h"
#include "coden/base/error.h"
#include "coden/graph/snapshot_graph.h"

namespace coden::fuzz {

inline void CheckRefusal(const arrow::Status& status) {
  FUZZ_CHECK(IsPlain(status, Fault::kCorruption), status.ToString());
}

inline void CheckLists(const SnapshotGraph& graph) {
  for (NodeId node = 0; node < graph.num_nodes(); ++node) {
    const auto neighbours = graph.out_neighbours(node);
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      FUZZ_CHECK(neighbours[i] >= 0 && neighbours[i] < graph.num_nodes(), "not a node");
      FUZZ_CHECK(i == 0 || neighbours[i - 1] < neighbours[i], "neighbours must rise");
      FUZZ_CHECK(graph.directed() || graph.HasArc(neighbours[i], node),
                 "an arc without its reverse");
    }
  }
}

inline void CheckEqual(const SnapshotGraph& a, const SnapshotGraph& b) {
  for (NodeId node = 0; node < a.num_nodes(); ++node) {
    FUZZ_CHECK(std::ranges::equal(a.out_neighbours(node), b.out_neighbours(node)),
               "the graph reads back as another");
  }
}

}  // namespace coden::fuzz
