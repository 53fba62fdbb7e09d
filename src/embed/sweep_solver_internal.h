#pragma once

#include <functional>
#include <vector>

#include "coden/embed/solve_work.h"
#include "embed/column_block_internal.h"
#include "embed/sweep_plan_internal.h"

namespace coden {

/// What to do with one column of a block.
enum class ColumnTask : char {
  kLeave,  ///< its bound holds already
  kProve,  ///< expected to be within the budget: prove it, and sweep only if it is not
  kSolve,
};

/// Bounds on ||h - z||_1.
struct SweepGoal {
  double budget;  ///< what must hold
  double target;  ///< what to aim for, as far as rounding lets it
};

/// Bring the columns of a block that need it within the goal by sweeps, and set their
/// bounds. A column may end above the budget where its precision cannot hold it, or where
/// `stopped` ended the work: the bounds say so.
SolveWork SolveBySweeps(const SweepPlan& plan, const std::vector<ColumnTask>& tasks,
                        const SweepGoal& goal, const StopCheck& stopped,
                        ColumnBlock& block);

}  // namespace coden
