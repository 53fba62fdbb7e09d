#pragma once

#include <cstdint>
#include <vector>

#include "coden/embed/solve_work.h"
#include "embed/column_block_internal.h"
#include "embed/row_changes_internal.h"

namespace coden {

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

/// FollowChanges, and then push the residue that the change makes until little is left,
/// which is added to the bounds. A column that sweeps will finish sooner has
/// `pushed[lane]` false and no bound.
SolveWork SolveByPush(const UpdateContext& context, const PushLimits& limits,
                      PushWorkspace& workspace, ColumnBlock& block,
                      std::vector<bool>& pushed);

}  // namespace coden
