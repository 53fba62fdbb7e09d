// Sweeps until the error is proven to be small enough.
//
// Returns a block whose columns are within `budget` of z in the 1-norm. Method: relaxed
// Gauss-Seidel sweeps in the block's own precision until the estimate that each sweep
// gives of its error is near the budget; then proving sweeps in double arithmetic, which
// bring the error down as well (sweep_kernels.cc, sweep_plan.cc). A proving sweep takes
// two to three times as long as a plain one, so they come last.
//
// Every column decides for itself, from its own numbers alone, when to stop and whether
// to give up over-relaxation; a column that is done stays as it is while its neighbours
// in the block go on.

#include "embed/sweep_solver_internal.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

#include "embed/sweep_kernels_internal.h"

namespace coden {

namespace {

// A proving sweep is begun when the estimate, times the rate at which it falls, is within
// this part of the target. What it then proves is about three quarters of that, and a
// quarter of the budget for rounding at the default epsilon.
constexpr double kNear = 0.93;
// A proof this many times too large sends the column back to plain sweeps.
constexpr double kFar = 4.0;
// Plain Gauss-Seidel takes at most log(1e-16) / log(1-alpha) sweeps; more means that
// rounding is in the way, which the proving sweeps will find.
constexpr int kMostSweeps = 5000;
// A column whose estimate has not fallen by this factor in a sweep has met rounding.
constexpr double kProgress = 0.97;
constexpr int kPatience = 3;
// Where rounding makes this part of the bound, another proving sweep gains too little.
constexpr double kMostlyRounding = 0.4;

double Seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

template <typename T, int kWidth>
class Solver {
 public:
  Solver(const SweepPlan& plan, const std::vector<ColumnTask>& tasks,
         const SweepGoal& goal, const StopCheck& stopped, ColumnBlock& block)
      : plan_(plan),
        tasks_(tasks),
        goal_(goal),
        stopped_(stopped),
        block_(block),
        view_{block.x(), block.g<T>()} {}

  SolveWork Run() {
    for (int lane = 0; lane < kWidth; ++lane) {
      if (tasks_[lane] != ColumnTask::kLeave)
        block_.bounds()[lane] = std::numeric_limits<double>::infinity();
      sweeping_[lane] = tasks_[lane] == ColumnTask::kSolve;
      proving_[lane] = tasks_[lane] != ColumnTask::kLeave ? 1.0 : 0.0;
    }
    before_.fill(std::numeric_limits<double>::infinity());
    // A column that was to be proven only and fails is swept like the others.
    while (true) {
      if (!SweepUntilNear() || !Prove()) return work_;
      bool again = false;
      for (int lane = 0; lane < kWidth; ++lane) {
        sweeping_[lane] = failed_[lane];
        proving_[lane] = failed_[lane] ? 1.0 : 0.0;
        again = again || failed_[lane];
      }
      if (!again) return work_;
    }
  }

 private:
  // False when stopped.
  bool SweepUntilNear() {
    std::array<T, kWidth> relaxation;
    std::array<double, kWidth> least;
    std::array<double, kWidth> last;
    std::array<int, kWidth> stalled = {};
    least.fill(std::numeric_limits<double>::infinity());
    last.fill(0.0);  // no rate after the first sweep
    for (int lane = 0; lane < kWidth; ++lane)
      relaxation[lane] = sweeping_[lane] ? static_cast<T>(plan_.relaxation) : T{0};
    const bool core = plan_.core_begin < plan_.core_end;
    const auto going = [&] {
      return core && std::any_of(relaxation.begin(), relaxation.end(),
                                 [](T value) { return value != T{0}; });
    };
    if (going()) {
      // What comes before the core is exact after one visit, if that is not relaxed.
      std::array<T, kWidth> plain;
      for (int lane = 0; lane < kWidth; ++lane)
        plain[lane] = sweeping_[lane] ? T{1} : T{0};
      SweepOnce(0, plan_.core_begin, plain);
    }
    for (int sweep = 0; going() && sweep < kMostSweeps; ++sweep) {
      if (stopped_()) return false;
      const std::array<T, kWidth> moved =
          SweepOnce(plan_.core_begin, plan_.core_end, relaxation);
      ++work_.sweeps;
      for (int lane = 0; lane < kWidth; ++lane) {
        if (relaxation[lane] == T{0}) continue;
        const auto estimate = static_cast<double>(moved[lane]);
        const double rate = std::min(estimate / last[lane], 1.0);
        last[lane] = estimate;
        if (estimate * rate <= kNear * goal_.target || !std::isfinite(estimate)) {
          relaxation[lane] = T{0};
        } else if (estimate > kProgress * least[lane] && ++stalled[lane] >= kPatience) {
          // Over-relaxation may be too much for a directed graph; without it there is
          // nothing left but rounding.
          relaxation[lane] = relaxation[lane] > T{1} ? T{1} : T{0};
          stalled[lane] = 0;
        }
        least[lane] = std::min(least[lane], estimate);
      }
    }
    return true;
  }

  std::array<T, kWidth> SweepOnce(std::int64_t begin, std::int64_t end,
                                  const std::array<T, kWidth>& relaxation) {
    std::array<T, kWidth> moved = {};
    const auto start = std::chrono::steady_clock::now();
    Sweep<T, kWidth>(plan_, begin, end, view_, relaxation.data(), moved.data());
    work_.sweep_seconds += Seconds(std::chrono::steady_clock::now() - start);
    work_.swept_arcs += plan_.starts[end] - plan_.starts[begin];
    return moved;
  }

  // False when stopped. Sets failed_ for columns that need more sweeps.
  bool Prove() {
    std::array<double, kWidth> bound;
    std::array<double, kWidth> rounding;
    failed_ = {};
    while (std::any_of(proving_.begin(), proving_.end(),
                       [](double value) { return value != 0.0; })) {
      if (stopped_()) return false;
      ProvingSweep<T, kWidth>(plan_, view_, proving_.data(),
                              {bound.data(), rounding.data()});
      ++work_.proving_sweeps;
      for (int lane = 0; lane < kWidth; ++lane) {
        if (proving_[lane] == 0.0) continue;
        block_.bounds()[lane] = bound[lane];
        // No sweep can help where rounding alone is too much, or nothing is gained.
        const bool hopeless =
            rounding[lane] > goal_.budget || !(bound[lane] < kProgress * before_[lane]);
        before_[lane] = bound[lane];
        const bool enough = bound[lane] <= goal_.target ||
                            rounding[lane] >= kMostlyRounding * bound[lane];
        if ((bound[lane] <= goal_.budget && enough) || hopeless) {
          proving_[lane] = 0.0;
        } else if (bound[lane] > kFar * goal_.target) {
          failed_[lane] = true;
          proving_[lane] = 0.0;
        }
      }
    }
    return true;
  }

  const SweepPlan& plan_;
  const std::vector<ColumnTask>& tasks_;
  const SweepGoal goal_;
  const StopCheck& stopped_;
  ColumnBlock& block_;
  const BlockView<T> view_;
  std::array<bool, kWidth> sweeping_ = {};
  std::array<double, kWidth> proving_ = {};
  std::array<bool, kWidth> failed_ = {};
  std::array<double, kWidth> before_ = {};  // the last proven bound
  SolveWork work_;
};

}  // namespace

void SolveWork::Add(const SolveWork& other) {
  sweeps = std::max(sweeps, other.sweeps);
  proving_sweeps = std::max(proving_sweeps, other.proving_sweeps);
  swept_arcs += other.swept_arcs;
  sweep_seconds += other.sweep_seconds;
  pushes += other.pushes;
  pushed_arcs += other.pushed_arcs;
}

SolveWork SolveBySweeps(const SweepPlan& plan, const std::vector<ColumnTask>& tasks,
                        const SweepGoal& goal, const StopCheck& stopped,
                        ColumnBlock& block) {
  return block.Dispatch([&]<typename T, int kWidth>() {
    return Solver<T, kWidth>(plan, tasks, goal, stopped, block).Run();
  });
}

}  // namespace coden
