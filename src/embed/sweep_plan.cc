// The order of a Gauss-Seidel sweep, and what a sweep proves.
//
// Order. Undirected graphs: any order converges alike, so rows are visited as they lie in
// memory. Directed graphs: a sweep carries a change along every arc that goes forward in
// the order, so the fewer go backward the faster. What lies on no way from a cycle (found
// by taking away rows without in-arcs, again and again) comes first and needs one visit;
// what lies on no way to a cycle comes last and needs one visit. For the core between
// them three orders are compared by their backward arcs: by arrival, by arrival reversed
// (citations: the new point to the old), and the reverse postorder of a depth-first
// search. A graph without cycles has no core and is solved by one sweep.
//
// Relaxation. On an undirected graph I - (1-alpha) P is similar to a symmetric matrix
// with eigenvalues in [alpha, 2-alpha], and Jacobi's iteration has spectral radius
// 1-alpha. Where the matrix is consistently ordered, over-relaxation by
//     w = 2 / (1 + sqrt(1 - (1-alpha)^2))
// brings the radius from (1-alpha)^2 (Gauss-Seidel) to w - 1 (Young 1954): for alpha 0.2
// from 0.64 to 0.25. Real graphs are not, but behave nearly as if: 14 sweeps instead of
// 29 on DBLP (tests/bench/iterations.py). It converges for every symmetric graph and
// 0 < w < 2 (Ostrowski 1954). All sweeps go the same way. On a directed graph (1-alpha)^2
// is multiplied by twice the share of backward arcs, which is one for a symmetric graph
// and zero for one without cycles. That is a rule of thumb; the solver falls back to w =
// 1, which always converges, for a column whose error does not fall.
//
// Proof. Let e = h - z and let rho(v) be the defect of the equation of v, that is
// g(v) = feature_factor x(v) + sum_factor (sum of sources) - rho(v). Then
//     ||e||_1 <= sum_v y(v) |rho(v)| / feature_factor(v),
//     y = alpha 1 + Q^T y,    Q the propagation matrix times 1-alpha,
// because e = alpha (I-Q)^-1 r with r = rho / feature_factor. For `mass` y <= 1. For the
// others any y' with y' >= alpha 1 + Q^T y' is an upper bound on y, and d^b is one;
// sweeps of the equation itself bring it down to y from above. Right after its visit a
// row has no defect but rounding; rows visited later then change their g and with it the
// defects of rows visited before. `defect_weight` and `change_weight` are the two
// factors, so a sweep proves a bound on its own result from what it rounded and what it
// changed.

#include "embed/sweep_plan_internal.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace coden {

namespace {

// Up to this share of backward arcs an order counts as good and no better one is sought:
// a depth-first search costs about as much as two sweeps of one block.
constexpr double kFewBackward = 0.02;
// Of double arithmetic.
constexpr double kRounding = 0x1p-53;
// The bound from `y` may be this much above the best one.
constexpr double kWeightSlack = 1.1;
constexpr int kMostWeightSweeps = 60;

/// The arcs by row, without self loops: the passes below go over them several times.
struct Targets {
  std::vector<std::int64_t> starts;
  std::vector<Row> rows;
  std::vector<char> loops;  // by row: whether it has a self loop

  Row size() const { return static_cast<Row>(loops.size()); }
  std::span<const Row> of(Row row) const {
    return {rows.data() + starts[row], rows.data() + starts[row + 1]};
  }
};

Targets CopyTargets(const RowGraph& graph) {
  Targets targets;
  const Row size = graph.size();
  targets.loops.assign(size, 0);
  targets.starts.reserve(static_cast<std::size_t>(size) + 1);
  targets.starts.push_back(0);
  targets.rows.resize(graph.num_arcs());
  Row* next = targets.rows.data();
  for (Row row = 0; row < size; ++row) {
    graph.ForEachTarget(row, [&](Row target) {
      *next = target;
      const bool loop = target == row;
      targets.loops[row] |= static_cast<char>(loop);
      next += !loop;
    });
    targets.starts.push_back(next - targets.rows.data());
  }
  targets.rows.resize(targets.starts.back());
  return targets;
}

struct VisitOrder {
  std::vector<Row> rows;
  std::int64_t core_begin = 0;
  std::int64_t core_end = 0;
};

/// Rows that no cycle leads to, in an order in which arcs only go forward.
std::vector<Row> BeforeCycles(const Targets& targets,
                              const std::vector<std::int32_t>& in_degrees,
                              std::vector<char>* placed) {
  std::vector<std::int32_t> waiting = in_degrees;
  std::vector<Row> rows;
  for (Row row = 0; row < targets.size(); ++row) {
    if (waiting[row] == 0) rows.push_back(row);
  }
  for (std::size_t next = 0; next < rows.size(); ++next) {
    (*placed)[rows[next]] = 1;
    for (const Row target : targets.of(rows[next])) {
      if (--waiting[target] == 0) rows.push_back(target);
    }
  }
  return rows;
}

/// Postorder of a depth-first search over the rows not yet placed, with the mark of those
/// that no way leads from to a cycle: all their targets were finished before and are
/// marked themselves.
struct Postorder {
  std::vector<Row> rows;
  std::vector<char> after_cycles;
};

Postorder DepthFirst(const Targets& targets, const std::vector<char>& placed) {
  enum : char { kUnseen, kOpen, kFinished };
  Postorder result;
  result.after_cycles.assign(targets.size(), 0);
  std::vector<char> state(targets.size(), kUnseen);
  struct Open {
    Row row;
    std::int64_t next;
    bool after_cycles;
  };
  std::vector<Open> path;
  for (Row start = 0; start < targets.size(); ++start) {
    if (placed[start] || state[start] != kUnseen) continue;
    state[start] = kOpen;
    path.push_back({start, targets.starts[start], true});
    while (!path.empty()) {
      Open& open = path.back();
      if (open.next == targets.starts[open.row + 1]) {
        state[open.row] = kFinished;
        result.after_cycles[open.row] = static_cast<char>(open.after_cycles);
        result.rows.push_back(open.row);
        const bool after_cycles = open.after_cycles;
        path.pop_back();
        if (!path.empty()) path.back().after_cycles &= after_cycles;
        continue;
      }
      const Row target = targets.rows[open.next++];
      if (state[target] == kUnseen) {
        state[target] = kOpen;
        path.push_back({target, targets.starts[target], true});
      } else {
        open.after_cycles &=
            state[target] == kFinished && result.after_cycles[target] != 0;
      }
    }
  }
  return result;
}

VisitOrder OrderDirected(const Targets& targets,
                         const std::vector<std::int32_t>& in_degrees) {
  const Row size = targets.size();
  std::vector<char> placed(size, 0);
  VisitOrder order;
  order.rows = BeforeCycles(targets, in_degrees, &placed);
  order.rows.reserve(size);
  order.core_begin = static_cast<std::int64_t>(order.rows.size());
  order.core_end = order.core_begin;
  if (order.core_begin == size) return order;

  // Arcs of the core from a later to an earlier arrival.
  std::int64_t arcs = 0;
  std::int64_t falling = 0;
  for (Row row = 0; row < size; ++row) {
    if (placed[row]) continue;
    for (const Row target : targets.of(row)) falling += target < row;
    arcs += targets.starts[row + 1] - targets.starts[row];
  }
  const std::int64_t rising = arcs - falling;
  const auto add_by_arrival = [&](const auto& in_core) {
    for (Row i = 0; i < size; ++i) {
      const Row row = falling <= rising ? i : size - 1 - i;
      if (in_core(row)) order.rows.push_back(row);
    }
    order.core_end = static_cast<std::int64_t>(order.rows.size());
  };
  if (static_cast<double>(std::min(falling, rising)) <=
      kFewBackward * static_cast<double>(arcs)) {
    add_by_arrival([&](Row row) { return !placed[row]; });
    return order;
  }

  const Postorder search = DepthFirst(targets, placed);
  const auto in_core = [&](Row row) { return !placed[row] && !search.after_cycles[row]; };
  std::vector<Row> finished(size, 0);
  for (std::size_t i = 0; i < search.rows.size(); ++i)
    finished[search.rows[i]] = static_cast<Row>(i);
  std::int64_t searched = 0;  // backward arcs of the reverse postorder
  for (const Row row : search.rows) {
    for (const Row target : targets.of(row)) searched += finished[target] > finished[row];
  }
  const auto add_by_search = [&](const auto& wanted) {
    for (auto row = search.rows.rbegin(); row != search.rows.rend(); ++row) {
      if (wanted(*row)) order.rows.push_back(*row);
    }
  };
  if (searched < std::min(falling, rising)) {
    add_by_search(in_core);
    order.core_end = static_cast<std::int64_t>(order.rows.size());
  } else {
    add_by_arrival(in_core);
  }
  add_by_search([&](Row row) { return search.after_cycles[row] != 0; });
  return order;
}

/// A symmetric graph is visited by row, and a row's sources are its targets, which are
/// taken over.
void PlanSymmetric(Targets& targets, SweepPlan* plan) {
  plan->core_end = targets.size();
  plan->starts.swap(targets.starts);
  plan->sources.swap(targets.rows);
}

void PlanDirected(const Targets& targets, SweepPlan* plan, std::vector<Row>* visit_of) {
  const Row size = targets.size();
  std::vector<std::int32_t> in_degrees(size, 0);
  for (const Row target : targets.rows) ++in_degrees[target];
  VisitOrder order = OrderDirected(targets, in_degrees);
  plan->rows = std::move(order.rows);
  plan->core_begin = order.core_begin;
  plan->core_end = order.core_end;

  visit_of->resize(size);
  plan->starts.assign(static_cast<std::size_t>(size) + 1, 0);
  std::vector<std::int64_t> next(size);  // by row
  for (Row visit = 0; visit < size; ++visit) {
    const Row row = plan->rows[visit];
    (*visit_of)[row] = visit;
    next[row] = plan->starts[visit];
    plan->starts[visit + 1] = plan->starts[visit] + in_degrees[row];
  }
  plan->sources.resize(targets.rows.size());
  for (Row row = 0; row < size; ++row) {
    for (const Row target : targets.of(row)) plan->sources[next[target]++] = row;
  }
}

/// y' >= y for a symmetric graph, by visit: d^b, brought down by sweeps.
std::vector<double> ErrorWeights(const SweepPlan& plan,
                                 const std::vector<std::int32_t>& degrees,
                                 const std::vector<char>& loops,
                                 const PropagationRule& rule) {
  const Row size = static_cast<Row>(degrees.size());
  std::vector<double> weights(size);
  std::vector<double> scaled(size);  // d^-b y'
  double total = 0.0;
  for (Row row = 0; row < size; ++row) {
    weights[row] = 1.0 / rule.InScale(degrees[row]);
    scaled[row] = 1.0;
    total += weights[row];
  }
  for (int sweep = 0; sweep < kMostWeightSweeps; ++sweep) {
    double sum = 0.0;
    for (Row row = 0; row < size; ++row) {
      double received = 0.0;
      for (std::int64_t k = plan.starts[row]; k < plan.starts[row + 1]; ++k)
        received += scaled[plan.sources[k]];
      double weight =
          rule.alpha + (1.0 - rule.alpha) * rule.OutScale(degrees[row]) * received;
      if (loops[row])
        weight /= 1.0 - (1.0 - rule.alpha) / PropagationRule::Clamped(degrees[row]);
      weights[row] = weight;
      scaled[row] = weight * rule.InScale(degrees[row]);
      sum += weight;
    }
    // For `average` a sweep takes away at least alpha of what is above y, so this bounds
    // the rest. The weights are upper bounds wherever the sweeps end.
    const double rest = (total - sum) * (1.0 - rule.alpha) / rule.alpha;
    total = sum;
    if (rest <= (kWeightSlack - 1.0) * total) break;
  }
  return weights;
}

float RoundedUp(double value) {
  return std::nextafter(static_cast<float>(value), INFINITY);
}

}  // namespace

SweepPlan PlanSweeps(const RowGraph& arcs, const std::vector<std::int32_t>& degrees,
                     const PropagationRule& rule, bool symmetric) {
  assert(symmetric || rule.kind == Propagation::kMass);
  const Row size = arcs.size();
  const double walk = 1.0 - rule.alpha;
  SweepPlan plan;
  plan.alpha = rule.alpha;
  plan.symmetric = symmetric;
  Targets targets = CopyTargets(arcs);
  const std::vector<char> loops = targets.loops;
  std::vector<Row> visit_of;
  if (symmetric) {
    PlanSymmetric(targets, &plan);
  } else {
    PlanDirected(targets, &plan, &visit_of);
  }
  // `mass` has y <= 1 on any graph; the others are for symmetric ones.
  std::vector<double> weights;
  if (rule.kind != Propagation::kMass) weights = ErrorWeights(plan, degrees, loops, rule);

  plan.feature_factor.resize(size);
  plan.sum_factor.resize(size);
  plan.defect_weight.resize(size);
  plan.change_weight.resize(size);
  plan.sum_weight.resize(size);
  std::int64_t backward = 0;
  std::int64_t core_arcs = 0;
  for (Row visit = 0; visit < size; ++visit) {
    const Row row = plan.rows.empty() ? visit : plan.rows[visit];
    const double degree = PropagationRule::Clamped(degrees[row]);
    const double loop = loops[row] ? 1.0 / (1.0 - walk / degree) : 1.0;
    plan.feature_factor[visit] = rule.alpha * rule.OutScale(degrees[row]) * loop;
    plan.sum_factor[visit] = walk / degree * loop;
    const double weight = weights.empty() ? 1.0 : weights[row];
    plan.defect_weight[visit] = RoundedUp(weight / plan.feature_factor[visit]);
    const std::span<const Row> to =
        symmetric ? std::span<const Row>(plan.sources.data() + plan.starts[visit],
                                         plan.sources.data() + plan.starts[visit + 1])
                  : targets.of(row);
    if (visit >= plan.core_begin && visit < plan.core_end)
      core_arcs += static_cast<std::int64_t>(to.size());
    double change = 0.0;
    double sums = 0.0;
    for (const Row target : to) {
      const Row at = symmetric ? target : visit_of[target];
      const double weight_there =
          weights.empty() ? 1.0 : weights[target] * rule.InScale(degrees[target]);
      sums += weight_there * static_cast<double>(plan.starts[at + 1] - plan.starts[at]);
      if (at >= visit) continue;
      ++backward;
      change += weight_there;
    }
    change *= walk / rule.alpha;
    // A sum of k terms loses at most k roundings of their absolute values; the rest of a
    // visit loses a few of its result.
    plan.sum_weight[visit] = RoundedUp(kRounding * sums * walk / rule.alpha +
                                       8.0 * kRounding * plan.defect_weight[visit]);
    plan.change_weight[visit] = change > 0.0 ? RoundedUp(change) : 0.0f;
  }
  const double share = core_arcs == 0 ? 0.0
                                      : 2.0 * static_cast<double>(backward) /
                                            static_cast<double>(core_arcs);
  const double radius = walk * walk * std::min(share, 1.0);
  plan.relaxation =
      share <= 2 * kFewBackward ? 1.0 : 2.0 / (1.0 + std::sqrt(1.0 - radius));
  return plan;
}

}  // namespace coden
