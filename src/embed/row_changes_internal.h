#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "embed/column_block_internal.h"
#include "embed/propagation_internal.h"
#include "embed/row_graph_internal.h"

namespace coden {

/// What an update changes, by row. `changed` and `updated` rows were connected before;
/// `arrived` rows become connected with it.
struct RowChanges {
  struct Neighbourhood {
    Row row;
    std::int32_t old_degree;
    std::span<const NodeId> before;  ///< sorted by node
  };
  struct Features {
    Row row;
    std::span<const float> before;  ///< by column of the engine
  };
  std::vector<Row> arrived;
  std::vector<Neighbourhood> changed;
  std::vector<Features> updated;

  bool empty() const { return arrived.empty() && changed.empty() && updated.empty(); }
  void Clear() {
    arrived.clear();
    changed.clear();
    updated.clear();
  }
};

/// Everything the solvers share about an update.
struct UpdateContext {
  const RowGraph& graph;
  const std::vector<std::int32_t>& degrees;  ///< out-degree by row, after the update
  const PropagationRule& rule;
  const RowChanges& changes;
};

/// Keep h of every row while the graph and the features change under it: g is scaled
/// where the degree changed, and set for rows that arrive.
void FollowChanges(const UpdateContext& context, ColumnBlock& block);

/// Call `removed` and `added` for the nodes that are in one of two sorted lists only.
template <typename Removed, typename Added>
void ForEachDifference(std::span<const NodeId> before, std::span<const NodeId> after,
                       Removed removed, Added added) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < before.size() || j < after.size()) {
    if (j == after.size() || (i < before.size() && before[i] < after[j])) {
      removed(before[i++]);
    } else if (i == before.size() || after[j] < before[i]) {
      added(after[j++]);
    } else {
      ++i;
      ++j;
    }
  }
}

/// ||p' - p||_1 for the columns of P that belong to two neighbourhoods, of which
/// `num_removed` and `num_added` nodes are in one only.
double ColumnDifference(std::size_t old_degree, std::size_t degree,
                        std::size_t num_removed, std::size_t num_added);

}  // namespace coden
