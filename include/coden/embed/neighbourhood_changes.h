#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coden/graph/event_graph.h"

namespace coden {

/// Remember, for every node whose out-neighbourhood may have changed since the last
/// Clear, what it was. Events that cancel leave old and new equal, and so no trace in P'
/// - P.
class NeighbourhoodChanges : public ArcObserver {
 public:
  struct Change {
    NodeId node;
    std::vector<NodeId> before;  ///< sorted
  };

  std::span<const Change> changes() const { return changes_; }
  bool empty() const { return changes_.empty(); }
  void Clear();

  void BeforeChange(const DynamicGraph& graph, NodeId node) override;
  void AfterChange(const DynamicGraph&, NodeId) override {}

 private:
  std::vector<Change> changes_;
  std::vector<bool> recorded_;  // by node
};

}  // namespace coden
