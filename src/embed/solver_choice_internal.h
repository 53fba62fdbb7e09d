#pragma once

#include <cstdint>

#include "coden/embed/embedding_engine.h"
#include "embed/push_solver_internal.h"
#include "embed/sweep_solver_internal.h"

namespace coden {

/// What an update may spend.
struct UpdateBudget {
  std::int64_t num_nodes;
  double epsilon;
  double bound;  ///< for ||h - z||_1 of a column
  double left;   ///< parts of it that pushes have used since all columns were swept
};

/// How an update is solved.
struct UpdateStrategy {
  bool push;  ///< first; what a push does not finish is swept
  PushLimits limits;
  SweepGoal goal;
  double left;  ///< of UpdateBudget, after this update
};

/// Choose by the estimated `residue` that an update makes, which depends on the graph and
/// the change alone.
UpdateStrategy ChooseSolver(SolverChoice choice, double residue,
                            const UpdateBudget& budget);

}  // namespace coden
