#pragma once

#include <cstdint>

#include "embed/sweep_plan_internal.h"

namespace coden {

/// A block of columns as the kernels see it: rows of `kWidth` numbers. Features are float
/// in either precision.
template <typename T>
struct BlockView {
  const float* x;
  T* g;
};

/// Visit [begin, end) of the plan once, in T arithmetic: g += relaxation * (what the
/// equation says - g), per column. A column with relaxation 0 stays as it is, bit for
/// bit. Sets `moved`, per column, to an estimate of what the bound on the error will be:
/// the part of the defects that the changes of this sweep make.
template <typename T, int kWidth>
void Sweep(const SweepPlan& plan, std::int64_t begin, std::int64_t end,
           BlockView<T> block, const T* relaxation, double* moved);

/// What a proving sweep found, per column.
struct ProvenError {
  double* bound;     ///< on ||h - z||_1
  double* rounding;  ///< the part of it that rounding to T makes, which no sweep removes
};

/// Visit the whole plan once in double arithmetic, with g rounded to T. Columns whose
/// `active` is not 1 stay as they are. Sets the bound of all columns; it holds for the
/// active ones.
template <typename T, int kWidth>
void ProvingSweep(const SweepPlan& plan, BlockView<T> block, const double* active,
                  ProvenError proven);

}  // namespace coden
