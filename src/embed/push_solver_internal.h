#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coden/embed/solve_work.h"
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

/// Scratch memory of one thread: residues of the rows that a push has touched.
class PushWorkspace {
 public:
  void Prepare(Row num_rows);

 private:
  template <typename T, int kWidth>
  friend class PushSolver;

  std::vector<std::int32_t> slot_of_;   // by row; -1: not touched
  std::vector<std::uint64_t> touched_;  // one bit a row
  std::vector<std::uint64_t> summary_;  // one bit a word of touched_
  RowBuffer residues_;                  // by slot
  std::int32_t num_slots_ = 0;
};

/// How far to push.
struct PushLimits {
  double residue;  ///< what a push may leave of a column's residue, in the 1-norm
  double largest;  ///< and in one row
  double budget;   ///< for a column's bound, with what the push leaves
};

/// Keep h of every row while the graph and the features change under it: g is scaled
/// where the degree changed, and set for rows that arrive.
void FollowChanges(const UpdateContext& context, ColumnBlock& block);

/// FollowChanges, and then push the residue that the change makes until little is left,
/// which is added to the bounds. A column that sweeps will finish sooner has
/// `pushed[lane]` false and no bound.
SolveWork SolveByPush(const UpdateContext& context, const PushLimits& limits,
                      PushWorkspace& workspace, ColumnBlock& block,
                      std::vector<bool>& pushed);

}  // namespace coden
