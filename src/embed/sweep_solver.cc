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
// A proof that misses by up to this factor is tried again at once; one that misses by
// more sends the column back to plain sweeps, with a target this much lower.
constexpr double kNearMiss = 1.5;
constexpr double kLower = 0.25;
// Plain Gauss-Seidel takes at most log(1e-16) / log(1-alpha) sweeps, 37,000 for the least
// alpha; more means that rounding is in the way, which the proving sweeps will find.
constexpr int kMostSweeps = 50'000;
// A column whose estimate has not fallen by this part of alpha has gained nothing. That
// may happen so many times, and more often the nearer the relaxation w is to 2: the error
// then rises for about 1 / (2 - w) sweeps before it falls.
//
// Without over-relaxation the error falls by alpha a sweep on any graph, but the estimate
// is between one and 1/alpha times as large, and where the graph is not symmetric it may
// rise for a while. There only a fall that is missing for log(1/alpha) / alpha sweeps
// means that rounding is all that is left.
constexpr double kGain = 0.25;
constexpr double kPatience = 3.0;
// Where rounding makes this part of the bound, another proving sweep gains too little.
constexpr double kMostlyRounding = 0.4;
// A column whose rounding takes more of the budget than this needs a finer type.
constexpr double kMostForRounding = 0.75;
// A column whose proof is no better than this part of the one before has met rounding.
constexpr double kProgress = 0.97;

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
    target_.fill(goal_.target);
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
    std::array<T, kWidth> relaxation = {};
    for (int lane = 0; lane < kWidth; ++lane) {
      trend_[lane] = {.target = target_[lane]};
      if (sweeping_[lane]) relaxation[lane] = T{1};
    }
    if (plan_.core_begin == plan_.core_end) return true;
    // What comes before the core is exact after one visit, if that is not relaxed.
    if (plan_.core_begin > 0) SweepOnce(0, plan_.core_begin, relaxation);
    for (int lane = 0; lane < kWidth; ++lane) {
      if (!plain_[lane]) relaxation[lane] *= static_cast<T>(plan_.relaxation);
    }
    const auto going = [&] {
      return std::any_of(relaxation.begin(), relaxation.end(),
                         [](T value) { return value != T{0}; });
    };
    for (int sweep = 0; going() && sweep < kMostSweeps; ++sweep) {
      if (stopped_()) return false;
      const std::array<double, kWidth> moved =
          SweepOnce(plan_.core_begin, plan_.core_end, relaxation);
      ++work_.sweeps;
      for (int lane = 0; lane < kWidth; ++lane) {
        if (relaxation[lane] == T{0}) continue;
        relaxation[lane] = Judge(trend_[lane], moved[lane], relaxation[lane]);
        // Where over-relaxation was too much once, it is so again.
        if (relaxation[lane] == T{1}) plain_[lane] = !plan_.symmetric;
      }
    }
    return true;
  }

  /// What one column knows of its way to the target.
  struct Trend {
    double target = 0.0;    ///< for the estimate
    double estimate = 0.0;  ///< of the last sweep; 0 before the first
    double least = std::numeric_limits<double>::infinity();
    int stalled = 0;
  };

  /// The relaxation to go on with after a sweep that gave `estimate`; 0 ends it.
  T Judge(Trend& trend, double estimate, T relaxation) const {
    const double rate =
        trend.estimate == 0.0 ? 1.0 : std::min(1.0, estimate / trend.estimate);
    trend.estimate = estimate;
    if (estimate * rate <= kNear * trend.target || !std::isfinite(estimate)) return T{0};
    const double least_gain = 1.0 - kGain * plan_.alpha;
    const bool may_rise = relaxation == T{1} && !plan_.symmetric;
    double patience = kPatience * (1.0 + 1.0 / (2.0 - static_cast<double>(relaxation)));
    if (may_rise) patience += std::log(1.0 / plan_.alpha) / plan_.alpha;
    if (estimate <= least_gain * trend.least) {
      if (may_rise) trend.stalled = 0;
    } else if (++trend.stalled > patience) {
      // Over-relaxation may be too much for a directed graph; without it there is nothing
      // left but rounding.
      trend.stalled = 0;
      trend.least = std::numeric_limits<double>::infinity();
      return relaxation > T{1} ? T{1} : T{0};
    }
    trend.least = std::min(trend.least, estimate);
    return relaxation;
  }

  std::array<double, kWidth> SweepOnce(std::int64_t begin, std::int64_t end,
                                       const std::array<T, kWidth>& relaxation) {
    std::array<double, kWidth> moved;
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
    std::array<bool, kWidth> again = {};
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
        const bool within = bound[lane] <= goal_.budget;
        const bool enough = bound[lane] <= goal_.target ||
                            rounding[lane] >= kMostlyRounding * bound[lane];
        // No sweep can help where rounding takes most of the budget, or where the sweeps
        // since the last proof have gained nothing.
        bool hopeless = !within && rounding[lane] > kMostForRounding * goal_.budget;
        if (!again[lane]) {
          hopeless = hopeless || !(bound[lane] < kProgress * before_[lane]);
          before_[lane] = bound[lane];
        }
        if ((within && enough) || hopeless) {
          proving_[lane] = 0.0;
        } else if (bound[lane] <= kNearMiss * goal_.target && !again[lane]) {
          again[lane] = true;
        } else {
          failed_[lane] = true;
          proving_[lane] = 0.0;
          // What was proven is no longer so once the column is swept again.
          block_.bounds()[lane] = std::numeric_limits<double>::infinity();
          target_[lane] *= kLower;
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
  std::array<bool, kWidth> plain_ = {};  // has given up over-relaxation
  std::array<double, kWidth> proving_ = {};
  std::array<bool, kWidth> failed_ = {};
  std::array<double, kWidth> before_ = {};  // the last proven bound
  std::array<double, kWidth> target_ = {};
  std::array<Trend, kWidth> trend_;
  SolveWork work_;
};

}  // namespace

SolveWork SolveBySweeps(const SweepPlan& plan, const std::vector<ColumnTask>& tasks,
                        const SweepGoal& goal, const StopCheck& stopped,
                        ColumnBlock& block) {
  return block.Dispatch([&]<typename T, int kWidth>() {
    return Solver<T, kWidth>(plan, tasks, goal, stopped, block).Run();
  });
}

}  // namespace coden
