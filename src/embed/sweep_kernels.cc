// One sweep over a block of columns.
//
// Method: pull-form Gauss-Seidel with over-relaxation on the fixed point
//     g(v) = feature_factor(v) x(v) + sum_factor(v) * sum over u -> v of g(u),
// in place, all columns of a block together. There is no stored residue: the defect of
// the equation is a function of g, so nothing drifts, and a change of the graph or of the
// features needs no bookkeeping before a sweep.
//
// Why this form: an arc costs one load of a cache line (16 floats) and one addition, and
// the adjacency is read once for 16 columns. The next row needs no value that is not in
// memory already, so the loads of several rows are in flight together.
//
// Two accumulators halve the chain of dependent additions. Their order is part of the
// result and the same in all vector variants.
//
// What a sweep has moved is summed in T over a few thousand visits at a time, and these
// partial sums in double: a float sum of millions of similar terms stops growing.

#include "embed/sweep_kernels_internal.h"

#include <algorithm>

#include "embed/lanes_internal.h"

namespace coden {

namespace {

// Visits whose moves are summed in T. A float sum of so many terms is off by 2^-12 of
// itself at most.
constexpr std::int64_t kPartialSum = 4096;

template <typename T, int kWidth, bool kOrdered>
[[gnu::always_inline]] inline void SweepBody(const SweepPlan& plan, std::int64_t begin,
                                             std::int64_t end, BlockView<T> block,
                                             const T* relaxation, double* moved) {
  using Vector = Lanes<T, kWidth>;
  using Floats = Lanes<float, kWidth>;
  const auto* x = reinterpret_cast<const Floats*>(block.x);
  auto* g = reinterpret_cast<Vector*>(block.g);
  const Row* rows = plan.rows.data();
  const std::int64_t* starts = plan.starts.data();
  const Row* sources = plan.sources.data();
  const double* feature_factor = plan.feature_factor.data();
  const double* sum_factor = plan.sum_factor.data();
  const float* change_weight = plan.change_weight.data();
  const float* defect_weight = plan.defect_weight.data();
  Vector relax;
  for (int j = 0; j < kWidth; ++j) relax[j] = relaxation[j];
  const auto moving = relax != 0;
  for (int j = 0; j < kWidth; ++j) moved[j] = 0.0;
  // A relaxed step leaves (1 - w) / w of itself as a defect of its own row.
  const T left = static_cast<T>((plan.relaxation - 1.0) / plan.relaxation);
  for (std::int64_t visit = begin; visit < end;) {
    const std::int64_t part_end = std::min(end, visit + kPartialSum);
    Vector total = {};
    for (; visit < part_end; ++visit) {
      const std::int64_t row = kOrdered ? rows[visit] : visit;
      std::int64_t k = starts[visit];
      const std::int64_t last = starts[visit + 1];
      Vector even = {};
      Vector odd = {};
      for (; k + 1 < last; k += 2) {
        even += g[sources[k]];
        odd += g[sources[k + 1]];
      }
      if (k < last) even += g[sources[k]];
      const Vector features = __builtin_convertvector(x[row], Vector);
      const Vector wanted = features * static_cast<T>(feature_factor[visit]) +
                            (even + odd) * static_cast<T>(sum_factor[visit]);
      const Vector old = g[row];
      const Vector step = (wanted - old) * relax;
      // Selected, not added: a column that stays keeps even the sign of a zero.
      g[row] = moving ? old + step : old;
      total += Abs<kWidth>(step) *
               static_cast<T>(change_weight[visit] + left * defect_weight[visit]);
    }
    for (int j = 0; j < kWidth; ++j) moved[j] += static_cast<double>(total[j]);
  }
}

template <typename T, int kWidth, bool kOrdered>
[[gnu::always_inline]] inline void ProvingBody(const SweepPlan& plan, BlockView<T> block,
                                               const double* active, ProvenError proven) {
  constexpr int kPart = kPartWidth<kWidth>;
  constexpr int kCount = kParts<kWidth>;
  using Vector = Lanes<T, kPart>;
  using Doubles = Lanes<double, kPart>;
  using Floats = Lanes<float, kPart>;
  const auto* x = reinterpret_cast<const Floats*>(block.x);
  auto* g = reinterpret_cast<Vector*>(block.g);
  Doubles on[kCount];
  Doubles bound[kCount] = {};
  Doubles rounding[kCount] = {};
  for (int part = 0; part < kCount; ++part) {
    for (int j = 0; j < kPart; ++j) on[part][j] = active[part * kPart + j];
  }
  const std::int64_t num_visits = plan.num_visits();
  for (std::int64_t visit = 0; visit < num_visits; ++visit) {
    const std::int64_t row = kOrdered ? plan.rows[visit] : visit;
    Doubles sum[kCount] = {};
    for (std::int64_t k = plan.starts[visit]; k < plan.starts[visit + 1]; ++k) {
      const Vector* source = g + static_cast<std::int64_t>(plan.sources[k]) * kCount;
      for (int part = 0; part < kCount; ++part)
        sum[part] += __builtin_convertvector(source[part], Doubles);
    }
    const double defect_weight = plan.defect_weight[visit];
    const double change_weight = plan.change_weight[visit];
    const double sum_weight = plan.sum_weight[visit];
    for (int part = 0; part < kCount; ++part) {
      const std::int64_t at = row * kCount + part;
      const Doubles wanted =
          __builtin_convertvector(x[at], Doubles) * plan.feature_factor[visit] +
          sum[part] * plan.sum_factor[visit];
      const Doubles old = __builtin_convertvector(g[at], Doubles);
      const Vector rounded =
          __builtin_convertvector(on[part] != 0 ? wanted : old, Vector);
      g[at] = rounded;
      const Doubles now = __builtin_convertvector(rounded, Doubles);
      const Doubles changed = Abs<kPart>(now - old);
      const Doubles lost = Abs<kPart>(now - wanted) * defect_weight +
                           (Abs<kPart>(now) + changed) * sum_weight;
      rounding[part] += lost;
      bound[part] += lost + changed * change_weight;
    }
  }
  for (int part = 0; part < kCount; ++part) {
    for (int j = 0; j < kPart; ++j) {
      proven.bound[part * kPart + j] = bound[part][j];
      proven.rounding[part * kPart + j] = rounding[part][j];
    }
  }
}

template <typename T, int kWidth>
[[gnu::always_inline]] inline void SweepAny(const SweepPlan& plan, std::int64_t begin,
                                            std::int64_t end, BlockView<T> block,
                                            const T* relaxation, double* moved) {
  if (plan.rows.empty()) {
    SweepBody<T, kWidth, false>(plan, begin, end, block, relaxation, moved);
  } else {
    SweepBody<T, kWidth, true>(plan, begin, end, block, relaxation, moved);
  }
}

template <typename T, int kWidth>
[[gnu::always_inline]] inline void ProveAny(const SweepPlan& plan, BlockView<T> block,
                                            const double* active, ProvenError proven) {
  if (plan.rows.empty()) {
    ProvingBody<T, kWidth, false>(plan, block, active, proven);
  } else {
    ProvingBody<T, kWidth, true>(plan, block, active, proven);
  }
}

}  // namespace

// Vector variants cannot be asked of a template, so each shape has its own function.
// NOLINTBEGIN(bugprone-macro-parentheses): a type cannot have them
#define CODEN_SWEEP_SHAPE(T, W)                                                          \
  namespace {                                                                            \
  CODEN_VECTOR_VARIANTS void Sweep_##T##_##W(const SweepPlan& plan, std::int64_t begin,  \
                                             std::int64_t end, BlockView<T> block,       \
                                             const T* relaxation, double* moved) {       \
    SweepAny<T, W>(plan, begin, end, block, relaxation, moved);                          \
  }                                                                                      \
  CODEN_VECTOR_VARIANTS void Prove_##T##_##W(const SweepPlan& plan, BlockView<T> block,  \
                                             const double* active, ProvenError proven) { \
    ProveAny<T, W>(plan, block, active, proven);                                         \
  }                                                                                      \
  }                                                                                      \
  template <>                                                                            \
  void Sweep<T, W>(const SweepPlan& plan, std::int64_t begin, std::int64_t end,          \
                   BlockView<T> block, const T* relaxation, double* moved) {             \
    Sweep_##T##_##W(plan, begin, end, block, relaxation, moved);                         \
  }                                                                                      \
  template <>                                                                            \
  void ProvingSweep<T, W>(const SweepPlan& plan, BlockView<T> block,                     \
                          const double* active, ProvenError proven) {                    \
    Prove_##T##_##W(plan, block, active, proven);                                        \
  }
// NOLINTEND(bugprone-macro-parentheses)

CODEN_SWEEP_SHAPE(float, 4)
CODEN_SWEEP_SHAPE(float, 8)
CODEN_SWEEP_SHAPE(float, 16)
CODEN_SWEEP_SHAPE(double, 4)
CODEN_SWEEP_SHAPE(double, 8)
CODEN_SWEEP_SHAPE(double, 16)

}  // namespace coden
