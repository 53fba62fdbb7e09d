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
// from 0.64 to 0.25. Real graphs are not, but behave as if: 15 sweeps instead of 30 on
// DBLP, 13 instead of 21 on R-MAT, where Chebyshev's iteration takes 24. It converges for
// every symmetric graph and 0 < w < 2 (Ostrowski 1954). All sweeps go the same way: going
// to and fro loses the whole gain. On a directed graph (1-alpha)^2 is multiplied by twice
// the share of backward arcs, which is one for a symmetric graph and zero for one without
// cycles. That is a rule of thumb; the solver falls back to w = 1, which always
// converges, for a column whose error does not fall.
//
// Proof. Let e = h - z and let rho(v) be the defect of the equation of v, that is
// g(v) = feature_factor x(v) + sum_factor (sum of sources) - rho(v). Then
//     ||e||_1 <= sum_v y(v) |rho(v)| / feature_factor(v),
//     y = alpha 1 + Q^T y,    Q the propagation matrix times 1-alpha,
// because e = alpha (I-Q)^-1 r with r = rho / feature_factor. For `mass` y <= 1. For the
// others any y' with y' >= alpha 1 + Q^T y' is an upper bound on y, and d^b is one; sweeps
// of the equation itself bring it down to y from above. Right after its visit a row has no
// defect but rounding; rows visited later then change their g and with it the defects of
// rows visited before. `defect_weight` and `change_weight` are the two factors, so a sweep
// proves a bound on its own result from what it rounded and what it changed.

#include "embed/sweep_plan_internal.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace coden {

namespace {

// Up to this share of backward arcs an order counts as good and no better one is sought:
// a depth-first search costs about as much as two sweeps of one block.
constexpr double kFewBackward = 0.02;
// The bound from `y` may be this much above the best one.
constexpr double kWeightSlack = 1.1;
constexpr int kMostWeightSweeps = 60;

std::uint64_t Mixed(std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15;
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93;
  return value ^ value >> 32;
}

/// Whether every arc has its reverse, judged by the sum of hashes of all arcs and of all
/// reversed arcs. An accident of one in 2^64 would cost sweeps, not correctness.
bool IsSymmetric(const RowGraph& graph) {
  std::uint64_t difference = 0;
  for (Row row = 0; row < graph.size(); ++row) {
    graph.ForEachTarget(row, [&](Row target) {
      const auto a = static_cast<std::uint64_t>(row);
      const auto b = static_cast<std::uint64_t>(target);
      difference += Mixed(a << 32 | b) - Mixed(b << 32 | a);
    });
  }
  return difference == 0;
}

struct VisitOrder {
  std::vector<Row> rows;
  std::int64_t core_begin = 0;
  std::int64_t core_end = 0;
};

std::vector<std::int32_t> InDegrees(const RowGraph& graph) {
  std::vector<std::int32_t> degrees(graph.size(), 0);
  for (Row row = 0; row < graph.size(); ++row) {
    graph.ForEachTarget(row, [&](Row target) { degrees[target] += target != row; });
  }
  return degrees;
}

/// Rows that no cycle leads to, in an order in which arcs only go forward.
std::vector<Row> BeforeCycles(const RowGraph& graph, std::vector<char>* placed) {
  std::vector<std::int32_t> waiting = InDegrees(graph);
  std::vector<Row> rows;
  for (Row row = 0; row < graph.size(); ++row) {
    if (waiting[row] == 0) rows.push_back(row);
  }
  for (std::size_t next = 0; next < rows.size(); ++next) {
    const Row row = rows[next];
    (*placed)[row] = 1;
    graph.ForEachTarget(row, [&](Row target) {
      if (target != row && --waiting[target] == 0) rows.push_back(target);
    });
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

Postorder DepthFirst(const RowGraph& graph, const std::vector<char>& placed) {
  enum : char { kUnseen, kOpen, kFinished };
  Postorder result;
  result.after_cycles.assign(graph.size(), 0);
  std::vector<char> state(graph.size(), kUnseen);
  struct Open {
    Row row;
    std::size_t next;
    bool after_cycles;
  };
  std::vector<Open> path;
  for (Row start = 0; start < graph.size(); ++start) {
    if (placed[start] || state[start] != kUnseen) continue;
    state[start] = kOpen;
    path.push_back({start, 0, true});
    while (!path.empty()) {
      Open& open = path.back();
      const auto neighbours = graph.neighbours(open.row);
      if (open.next == neighbours.size()) {
        state[open.row] = kFinished;
        result.after_cycles[open.row] = open.after_cycles;
        result.rows.push_back(open.row);
        const bool after_cycles = open.after_cycles;
        path.pop_back();
        if (!path.empty()) path.back().after_cycles &= after_cycles;
        continue;
      }
      const Row target = graph.row_of(neighbours[open.next++]);
      if (target == open.row) continue;
      if (state[target] == kUnseen) {
        state[target] = kOpen;
        path.push_back({target, 0, true});
      } else {
        open.after_cycles &=
            state[target] == kFinished && result.after_cycles[target] != 0;
      }
    }
  }
  return result;
}

VisitOrder OrderDirected(const RowGraph& graph) {
  const Row size = graph.size();
  std::vector<char> placed(size, 0);
  VisitOrder order;
  order.rows = BeforeCycles(graph, &placed);
  order.rows.reserve(size);
  order.core_begin = static_cast<std::int64_t>(order.rows.size());
  order.core_end = order.core_begin;
  if (order.core_begin == size) return order;

  const Postorder search = DepthFirst(graph, placed);
  std::vector<Row> position(size, 0);  // in the reverse postorder
  for (std::size_t i = 0; i < search.rows.size(); ++i)
    position[search.rows[i]] = -static_cast<Row>(i);
  const auto in_core = [&](Row row) { return !placed[row] && !search.after_cycles[row]; };
  std::int64_t arcs = 0;
  std::int64_t falling = 0;   // arcs from a later to an earlier arrival
  std::int64_t searched = 0;  // backward arcs of the reverse postorder
  for (Row row = 0; row < size; ++row) {
    if (!in_core(row)) continue;
    graph.ForEachTarget(row, [&](Row target) {
      if (!in_core(target) || target == row) return;
      ++arcs;
      falling += target < row;
      searched += position[target] < position[row];
    });
  }
  const std::int64_t rising = arcs - falling;
  if (searched < std::min(falling, rising)) {
    for (auto row = search.rows.rbegin(); row != search.rows.rend(); ++row) {
      if (in_core(*row)) order.rows.push_back(*row);
    }
  } else if (falling <= rising) {
    for (Row row = 0; row < size; ++row) {
      if (in_core(row)) order.rows.push_back(row);
    }
  } else {
    for (Row row = size; row-- > 0;) {
      if (in_core(row)) order.rows.push_back(row);
    }
  }
  order.core_end = static_cast<std::int64_t>(order.rows.size());
  for (auto row = search.rows.rbegin(); row != search.rows.rend(); ++row) {
    if (search.after_cycles[*row]) order.rows.push_back(*row);
  }
  return order;
}

/// The transposed arcs in the order of visit, and the marks of rows with a self loop.
std::vector<char> FillSources(const RowGraph& graph, const std::vector<Row>& visit_of,
                              SweepPlan* plan) {
  const Row size = graph.size();
  std::vector<char> loops(size, 0);
  const auto visit = [&](Row row) { return visit_of.empty() ? row : visit_of[row]; };
  plan->starts.assign(static_cast<std::size_t>(size) + 1, 0);
  for (Row row = 0; row < size; ++row) {
    graph.ForEachTarget(row, [&](Row target) {
      if (target == row) {
        loops[row] = 1;
      } else {
        ++plan->starts[visit(target) + 1];
      }
    });
  }
  std::partial_sum(plan->starts.begin(), plan->starts.end(), plan->starts.begin());
  plan->sources.resize(plan->starts.back());
  std::vector<std::int64_t> next(plan->starts.begin(), plan->starts.end() - 1);
  for (Row row = 0; row < size; ++row) {
    graph.ForEachTarget(row, [&](Row target) {
      if (target != row) plan->sources[next[visit(target)]++] = row;
    });
  }
  return loops;
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
      double weight = rule.alpha +
                      (1.0 - rule.alpha) * rule.OutScale(degrees[row]) * received;
      if (loops[row])
        weight /= 1.0 - (1.0 - rule.alpha) / PropagationRule::Clamped(degrees[row]);
      weights[row] = weight;
      scaled[row] = weight * rule.InScale(degrees[row]);
      sum += weight;
    }
    // A sweep takes away at least alpha of what is left, so the rest is bounded by it.
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

std::int64_t SweepPlan::MemoryBytes() const {
  const auto bytes = [](const auto& vector) {
    return static_cast<std::int64_t>(vector.capacity() * sizeof(vector[0]));
  };
  return bytes(rows) + bytes(starts) + bytes(sources) + bytes(feature_factor) +
         bytes(sum_factor) + bytes(defect_weight) + bytes(change_weight);
}

SweepPlan PlanSweeps(const RowGraph& arcs, const std::vector<std::int32_t>& degrees,
                     const PropagationRule& rule) {
  const Row size = arcs.size();
  const double walk = 1.0 - rule.alpha;
  SweepPlan plan;
  const bool symmetric = IsSymmetric(arcs);
  plan.core_end = size;
  std::vector<Row> visit_of;
  if (!symmetric) {
    VisitOrder visits = OrderDirected(arcs);
    plan.rows = std::move(visits.rows);
    plan.core_begin = visits.core_begin;
    plan.core_end = visits.core_end;
    visit_of.resize(size);
    for (Row visit = 0; visit < size; ++visit) visit_of[plan.rows[visit]] = visit;
  }
  const std::vector<char> loops = FillSources(arcs, visit_of, &plan);

  // Without weights the graph may be directed, and `mass` has y <= 1.
  const bool weighted = rule.kind != Propagation::kMass;
  std::vector<double> weights;
  if (weighted) weights = ErrorWeights(plan, degrees, loops, rule);

  plan.feature_factor.resize(size);
  plan.sum_factor.resize(size);
  plan.defect_weight.resize(size);
  plan.change_weight.resize(size);
  std::int64_t backward = 0;
  std::int64_t core_arcs = 0;
  for (Row visit = 0; visit < size; ++visit) {
    const Row row = plan.rows.empty() ? visit : plan.rows[visit];
    const double degree = PropagationRule::Clamped(degrees[row]);
    const double loop = loops[row] ? 1.0 / (1.0 - walk / degree) : 1.0;
    plan.feature_factor[visit] = rule.alpha * rule.OutScale(degrees[row]) * loop;
    plan.sum_factor[visit] = walk / degree * loop;
    const double weight = weighted ? weights[row] : 1.0;
    plan.defect_weight[visit] = RoundedUp(weight / plan.feature_factor[visit]);
    double change = 0.0;
    const bool core = visit >= plan.core_begin && visit < plan.core_end;
    arcs.ForEachTarget(row, [&](Row target) {
      if (target == row) return;
      core_arcs += core;
      const Row at = visit_of.empty() ? target : visit_of[target];
      if (at >= visit) return;
      ++backward;
      change += walk / rule.alpha *
                (weighted ? weights[target] * rule.InScale(degrees[target]) : 1.0);
    });
    plan.change_weight[visit] = change > 0.0 ? RoundedUp(change) : 0.0f;
  }
  const double share =
      core_arcs == 0 ? 0.0
                     : 2.0 * static_cast<double>(backward) / static_cast<double>(core_arcs);
  const double radius = walk * walk * std::min(share, 1.0);
  plan.relaxation = share < 2 * kFewBackward ? 1.0 : 2.0 / (1.0 + std::sqrt(1.0 - radius));
  return plan;
}

}  // namespace coden
