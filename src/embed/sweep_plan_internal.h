#pragma once

#include <cstdint>
#include <vector>

#include "embed/propagation_internal.h"
#include "embed/row_graph_internal.h"

namespace coden {

/// How to sweep over one state of the graph: the order of the rows, whose values each row
/// takes, and by what factors. Made once per update and shared by all blocks of columns.
/// What is decided here, and why, is at the head of sweep_plan.cc.
struct SweepPlan {
  /// Rows in the order of visit; empty where that is 0, 1, 2, ...
  std::vector<Row> rows;
  /// The in-neighbours of the i-th visit are sources[starts[i]] to sources[starts[i +
  /// 1]], without the row itself.
  std::vector<std::int64_t> starts;
  std::vector<Row> sources;

  /// The i-th visit computes g = feature_factor[i] * x + sum_factor[i] * (sum of
  /// sources). A self loop is solved for inside these two.
  std::vector<double> feature_factor;
  std::vector<double> sum_factor;

  /// What a defect of one in the equation of the i-th visit adds to the bound on the
  /// error, and what a later change of its g by one does to the defects of rows visited
  /// before it. Rounded up.
  std::vector<float> defect_weight;
  std::vector<float> change_weight;
  /// What g of one may add to the bound through the rounding of sums in double
  /// arithmetic.
  std::vector<float> sum_weight;

  /// Visits [core_begin, core_end) need repeating. Those before depend on no cycle, those
  /// after are in no cycle's way: one visit, in order, is exact.
  std::int64_t core_begin = 0;
  std::int64_t core_end = 0;
  double alpha = 0.0;
  /// Over-relaxation for the sweeps over the core.
  double relaxation = 1.0;
  bool symmetric = false;  ///< every arc has its reverse

  std::int64_t num_visits() const {
    return static_cast<std::int64_t>(feature_factor.size());
  }
};

/// `degrees` holds the out-degree by row; `symmetric` says that every arc has its
/// reverse.
SweepPlan PlanSweeps(const RowGraph& arcs, const std::vector<std::int32_t>& degrees,
                     const PropagationRule& rule, bool symmetric);

}  // namespace coden
