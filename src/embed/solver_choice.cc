#include "embed/solver_choice_internal.h"

#include <algorithm>
#include <cmath>

namespace coden {

namespace {

// How much residue an update makes is estimated from the arcs that changed, for features
// of unit scale; the estimate decides the solver and never the correctness. Up to
// kMostBudgets budgets of it are pushed; above, sweeps are cheaper from the start.
constexpr double kMostBudgets = 1.0;
// A push may leave this part of the residue it was given, and at most this part of the
// budget. When the parts left have added up to kMostLeft, all columns are swept.
constexpr double kLeftOfResidue = 1.0;
constexpr double kLeftOfBudget = 1.0 / 8;
constexpr double kMostLeft = 0.65;
// Such a clean-up aims for this part of the budget.
constexpr double kCleanUpTarget = 0.25;
}  // namespace

UpdateStrategy ChooseSolver(SolverChoice choice, double residue,
                            const UpdateBudget& budget) {
  const double left = std::min(kLeftOfResidue * residue / budget.bound, kLeftOfBudget);
  const bool small = residue <= kMostBudgets * budget.bound;
  const bool push =
      choice == SolverChoice::kPush ||
      (choice == SolverChoice::kAutomatic && small && budget.left + left <= kMostLeft);
  return {
      .push = push,
      .limits = {.residue = left * budget.bound,
                 .largest =
                     budget.epsilon * std::sqrt(static_cast<double>(budget.num_nodes)),
                 .budget = budget.bound},
      .goal = {.budget = budget.bound,
               .target = small ? kCleanUpTarget * budget.bound : budget.bound},
      .left = push ? budget.left + left : 0.0,
  };
}

}  // namespace coden
