// The residue of a column, from nothing.
//
// Returns a bound on ||h - z||_1 from r = x - (h - (1-alpha) P h) / alpha in float64,
// with P h scattered along out-arcs of the graph. Shares with the solvers only the stored
// numbers and the graph: no transposed copy, no order, no factors, no vectors. So a wrong
// plan, a lost residue or a bound that does not bound is found.

#include "embed/residue_audit_internal.h"

#include <algorithm>
#include <cmath>

namespace coden {

namespace {

// The weights are iterated until no sweep changes one by more than this part.
constexpr double kWeightPrecision = 1e-7;
// What double arithmetic may lose in computing one residue, as part of its terms.
constexpr double kDoubleRounding = 0x1p-48;

}  // namespace

std::vector<double> AuditWeights(const RowGraph& graph,
                                 const std::vector<std::int32_t>& degrees,
                                 const PropagationRule& rule) {
  std::vector<double> weights(graph.size(), 1.0);
  if (rule.kind == Propagation::kMass) return weights;
  // y = d^b satisfies y >= alpha 1 + Q^T y, and so does every iterate from it.
  for (Row row = 0; row < graph.size(); ++row)
    weights[row] = 1.0 / rule.InScale(degrees[row]);
  std::vector<double> next(graph.size());
  for (double change = 1.0; change > kWeightPrecision * rule.alpha;) {
    change = 0.0;
    for (Row row = 0; row < graph.size(); ++row) {
      double sum = 0.0;
      graph.ForEachTarget(row, [&](Row target) {
        sum += rule.InScale(degrees[target]) * weights[target];
      });
      next[row] = rule.alpha + (1.0 - rule.alpha) * rule.OutScale(degrees[row]) * sum;
      change = std::max(change, 1.0 - next[row] / weights[row]);
    }
    std::swap(weights, next);
  }
  return weights;
}

AuditedBound AuditColumn(const RowGraph& graph, const std::vector<std::int32_t>& degrees,
                         const PropagationRule& rule, const std::vector<double>& weights,
                         const ColumnBlock& block, int lane) {
  // Long double: a hub adds up as many terms as it has neighbours.
  std::vector<long double> received(graph.size(), 0.0L);
  for (Row row = 0; row < graph.size(); ++row) {
    const double sent = block.Value(row, lane);
    graph.ForEachTarget(row, [&](Row target) { received[target] += sent; });
  }
  AuditedBound bound{0.0, 0.0};
  for (Row row = 0; row < graph.size(); ++row) {
    const double h = block.Value(row, lane) / rule.OutScale(degrees[row]);
    const double x = block.Feature(row, lane);
    const double propagated = (1.0 - rule.alpha) * rule.InScale(degrees[row]) *
                              static_cast<double>(received[row]);
    bound.value += weights[row] * std::abs(x - (h - propagated) / rule.alpha);
    bound.rounding += weights[row] * kDoubleRounding *
                      (std::abs(x) + (std::abs(h) + std::abs(propagated)) / rule.alpha);
  }
  return bound;
}

}  // namespace coden
