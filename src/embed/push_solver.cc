// A small change of the graph or the features, pushed outward from where it happened.
//
// Returns h whose error bound has grown by at most what is left of the change's residue,
// at a cost that depends on the change and not on the graph. Invariant
// (docs/corrections.md), in double arithmetic at every moment:
//     h + alpha (I - (1-alpha) P)^-1 (r0 + r) = z,
// where r0 is the residue that the last solve left, known only by its bound, and r is the
// residue kept here, for the rows touched. The change of the graph makes
//     r = ((1-alpha)/alpha) (P' h' - P h) - (h' - h)/alpha,
// with h' what h becomes when g is scaled for the new degree and rounded; a change of
// features adds x' - x. A push at v moves r(v) into h(v) and on to the targets of v.
//
// What is pushed is what was stored: h is kept rounded, so a push takes from r(v) what
// the rounded h(v) really gained, and no rounding is ever lost. What is left of r at the
// end is dropped, and its 1-norm is added to the bound: z depends on r linearly, with
// norm at most one.
//
// Method: sweeps over the touched rows in row order, each with half the threshold of the
// one before, so that large residues go first and meet before they are passed on. Every
// column has its own threshold and is pushed at a row only where its own residue is above
// it, which keeps its numbers independent of the columns beside it.

#include "embed/push_solver_internal.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "embed/lanes_internal.h"

namespace coden {

namespace {

constexpr int kMostSweeps = 64;
// Thresholds start at this part of the largest residue and fall by kFall a sweep.
constexpr double kFirst = 0.25;
constexpr double kFall = 0.5;
// Sweeps halve a residue for about three quarters of the graph's arcs, followed three to
// five times as fast as a push follows them. A column whose halvings cost more than this
// part of all arcs each is left to them, after a first part in which residues only
// spread.
constexpr double kArcsPerHalving = 0.2;
constexpr double kArcsToStart = 0.05;

}  // namespace

void PushWorkspace::Prepare(Row num_rows) {
  const auto words = (static_cast<std::size_t>(num_rows) + 63) / 64;
  if (words <= touched_.size()) return;
  slot_of_.resize(words * 64, -1);
  touched_.resize(words, 0);
  summary_.resize((words + 63) / 64, 0);
}

template <typename T, int kWidth>
class PushSolver {
 public:
  static constexpr int kPart = kPartWidth<kWidth>;
  static constexpr int kCount = kParts<kWidth>;
  using Doubles = Lanes<double, kPart>;
  using Vector = Lanes<T, kPart>;
  using Floats = Lanes<float, kPart>;
  /// One number per column of the block.
  struct Numbers {
    Doubles part[kCount];
  };

  PushSolver(const UpdateContext& context, PushWorkspace& workspace, ColumnBlock& block)
      : context_(context),
        workspace_(workspace),
        block_(block),
        to_neighbours_((1.0 - context.rule.alpha) / context.rule.alpha),
        mass_(context.rule.kind == Propagation::kMass),
        x_(reinterpret_cast<const Floats*>(block.x())),
        g_(reinterpret_cast<Vector*>(block.g<T>())) {}

  [[gnu::always_inline]] void MakeResidue() {
    // Before any g is scaled: what d^-b of a row's own sum changes.
    if (!mass_) {
      for (const auto& change : context_.changes.changed) {
        const double difference = context_.rule.InScale(Degree(change.row)) -
                                  context_.rule.InScale(change.old_degree);
        if (difference == 0.0) continue;
        Numbers sum = {};
        for (const NodeId node : change.before)
          Accumulate(sum, Load(context_.graph.row_of(node)), 1.0);
        AddResidue(change.row, sum, difference * to_neighbours_);
      }
    }
    for (const Row row : context_.changes.arrived) {
      const double scale = context_.rule.OutScale(Degree(row));
      Numbers residue;
      for (int part = 0; part < kCount; ++part) {
        const Doubles x = __builtin_convertvector(x_[At(row, part)], Doubles);
        g_[At(row, part)] =
            __builtin_convertvector(x * (context_.rule.alpha * scale), Vector);
        const Doubles g = __builtin_convertvector(g_[At(row, part)], Doubles);
        residue.part[part] = x - g / (context_.rule.alpha * scale);
      }
      AddResidue(row, residue, 1.0);
      // Its arcs are new with it.
      SpreadTo(context_.graph.neighbours(row), Load(row), to_neighbours_);
    }
    for (const auto& change : context_.changes.updated) {
      Numbers residue;
      for (int part = 0; part < kCount; ++part) {
        residue.part[part] = __builtin_convertvector(x_[At(change.row, part)], Doubles);
        for (int j = 0; j < kPart; ++j) {
          const int lane = part * kPart + j;
          if (block_.holds(lane))
            residue.part[part][j] -= change.before[block_.columns()[lane]];
        }
      }
      AddResidue(change.row, residue, 1.0);
    }
    for (const auto& change : context_.changes.changed) Rescale(change);
  }

  [[gnu::always_inline]] SolveWork Push(const PushLimits& limits,
                                        std::vector<bool>& pushed) {
    SolveWork work;
    Numbers left = {};
    Numbers largest = {};
    Measure(left, largest);
    Numbers threshold;
    Numbers arcs = {};
    const Numbers first = left;
    std::array<bool, kWidth> open;
    const auto all_arcs = static_cast<double>(context_.graph.num_arcs());
    for (int lane = 0; lane < kWidth; ++lane) {
      open[lane] = block_.holds(lane);
      pushed[lane] = false;
      At(threshold, lane) = kFirst * At(largest, lane);
    }
    for (int sweep = 0; sweep <= kMostSweeps; ++sweep) {
      bool any = false;
      for (int lane = 0; lane < kWidth; ++lane) {
        if (open[lane]) {
          if (At(left, lane) <= limits.residue && At(largest, lane) <= limits.largest &&
              block_.bounds()[lane] + At(left, lane) <= limits.budget) {
            open[lane] = false;
            pushed[lane] = true;
            block_.bounds()[lane] += At(left, lane);
          } else {
            const double halvings = std::log2(At(first, lane) / At(left, lane));
            open[lane] =
                At(arcs, lane) <= all_arcs * (kArcsToStart + kArcsPerHalving * halvings);
          }
        }
        if (!open[lane]) At(threshold, lane) = kUnbounded;
        any = any || open[lane];
      }
      if (!any) break;
      PushOnce(threshold, arcs, work);
      Measure(left, largest);
      for (int part = 0; part < kCount; ++part) threshold.part[part] *= kFall;
    }
    for (int lane = 0; lane < kWidth; ++lane) {
      if (block_.holds(lane) && !pushed[lane]) block_.bounds()[lane] = kUnbounded;
    }
    return work;
  }

  void Clear() {
    ForEachTouched([&](Row row) {
      Residue()[workspace_.slot_of_[row]] = {};
      workspace_.slot_of_[row] = -1;
    });
    for (std::size_t i = 0; i < workspace_.summary_.size(); ++i) {
      while (workspace_.summary_[i] != 0) {
        const int bit = std::countr_zero(workspace_.summary_[i]);
        workspace_.touched_[i * 64 + bit] = 0;
        workspace_.summary_[i] &= workspace_.summary_[i] - 1;
      }
    }
    workspace_.num_slots_ = 0;
  }

 private:
  static constexpr double kUnbounded = std::numeric_limits<double>::infinity();

  static std::int64_t At(Row row, int part) {
    return static_cast<std::int64_t>(row) * kCount + part;
  }
  static double At(const Numbers& numbers, int lane) {
    return numbers.part[lane / kPart][lane % kPart];
  }
  struct Place {
    Doubles& part;
    int at;
    void operator=(double value) { part[at] = value; }
    operator double() const { return part[at]; }
  };
  static Place At(Numbers& numbers, int lane) {
    return {numbers.part[lane / kPart], lane % kPart};
  }

  std::int32_t Degree(Row row) const { return context_.degrees[row]; }
  Numbers* Residue() { return workspace_.residues_.template as<Numbers>(); }

  [[gnu::always_inline]] Numbers Load(Row row) const {
    Numbers numbers;
    for (int part = 0; part < kCount; ++part)
      numbers.part[part] = __builtin_convertvector(g_[At(row, part)], Doubles);
    return numbers;
  }

  [[gnu::always_inline]] static void Accumulate(Numbers& sum, const Numbers& term,
                                                double factor) {
    for (int part = 0; part < kCount; ++part) sum.part[part] += term.part[part] * factor;
  }

  std::int32_t Slot(Row row) {
    std::int32_t& slot = workspace_.slot_of_[row];
    if (slot < 0) {
      slot = workspace_.num_slots_++;
      workspace_.residues_.Grow(static_cast<std::size_t>(workspace_.num_slots_) *
                                sizeof(Numbers));
      const std::size_t word = static_cast<std::size_t>(row) / 64;
      workspace_.touched_[word] |= std::uint64_t{1} << (row % 64);
      workspace_.summary_[word / 64] |= std::uint64_t{1} << (word % 64);
    }
    return slot;
  }

  [[gnu::always_inline]] void AddResidue(Row row, const Numbers& amount, double factor) {
    const std::int32_t slot = Slot(row);
    Accumulate(Residue()[slot], amount, factor);
  }

  [[gnu::always_inline]] void AddToTarget(NodeId node, const Numbers& g, double factor) {
    const Row row = context_.graph.row_of(node);
    AddResidue(row, g, mass_ ? factor : factor * context_.rule.InScale(Degree(row)));
  }

  [[gnu::always_inline]] void SpreadTo(std::span<const NodeId> targets, const Numbers& g,
                                       double factor) {
    for (const NodeId node : targets) AddToTarget(node, g, factor);
  }

  /// Scale g of a row for its new degree, and account for its old and new arcs.
  [[gnu::always_inline]] void Rescale(const RowChanges::Neighbourhood& change) {
    const Row row = change.row;
    const double old_scale = context_.rule.OutScale(change.old_degree);
    const double scale = context_.rule.OutScale(Degree(row));
    const Numbers before = Load(row);
    Numbers after;
    Numbers difference;
    if (scale == old_scale) {
      after = before;
    } else {
      Numbers residue;
      for (int part = 0; part < kCount; ++part) {
        const Doubles h = before.part[part] / old_scale;
        g_[At(row, part)] = __builtin_convertvector(h * scale, Vector);
        after.part[part] = __builtin_convertvector(g_[At(row, part)], Doubles);
        residue.part[part] = (h - after.part[part] / scale) / context_.rule.alpha;
        difference.part[part] = after.part[part] - before.part[part];
      }
      AddResidue(row, residue, 1.0);
    }
    const auto now = context_.graph.neighbours(row);
    std::size_t i = 0;
    for (const NodeId node : change.before) {
      for (; i < now.size() && now[i] < node; ++i)
        AddToTarget(now[i], after, to_neighbours_);
      if (i < now.size() && now[i] == node) {
        if (scale != old_scale) AddToTarget(node, difference, to_neighbours_);
        ++i;
      } else {
        AddToTarget(node, before, -to_neighbours_);
      }
    }
    for (; i < now.size(); ++i) AddToTarget(now[i], after, to_neighbours_);
  }

  /// Visit the touched rows in order, those touched ahead of the visit included.
  template <typename Visit>
  [[gnu::always_inline]] void ForEachTouched(Visit visit) {
    for (std::size_t s = 0; s < workspace_.summary_.size(); ++s) {
      std::uint64_t words_ahead = ~std::uint64_t{0};
      while (const std::uint64_t words = workspace_.summary_[s] & words_ahead) {
        const int word_bit = std::countr_zero(words);
        words_ahead = word_bit == 63 ? 0 : ~std::uint64_t{0} << (word_bit + 1);
        const std::size_t word = s * 64 + word_bit;
        std::uint64_t ahead = ~std::uint64_t{0};
        while (const std::uint64_t rows = workspace_.touched_[word] & ahead) {
          const int bit = std::countr_zero(rows);
          ahead = bit == 63 ? 0 : ~std::uint64_t{0} << (bit + 1);
          visit(static_cast<Row>(word * 64 + bit));
        }
      }
    }
  }

  /// The 1-norm and the largest of the residues, per column.
  [[gnu::always_inline]] void Measure(Numbers& left, Numbers& largest) {
    left = {};
    largest = {};
    ForEachTouched([&](Row row) {
      const Numbers& residue = Residue()[workspace_.slot_of_[row]];
      for (int part = 0; part < kCount; ++part) {
        const Doubles size = Abs<kPart>(residue.part[part]);
        left.part[part] += size;
        largest.part[part] = size > largest.part[part] ? size : largest.part[part];
      }
    });
  }

  [[gnu::always_inline]] void PushOnce(const Numbers& threshold, Numbers& arcs,
                                       SolveWork& work) {
    ForEachTouched([&](Row row) {
      Numbers& residue = Residue()[workspace_.slot_of_[row]];
      Lanes<std::int64_t, kPart> above[kCount];
      std::int64_t any = 0;
      for (int part = 0; part < kCount; ++part) {
        above[part] = Abs<kPart>(residue.part[part]) > threshold.part[part];
        for (int j = 0; j < kPart; ++j) any |= above[part][j];
      }
      if (any == 0) return;
      const auto neighbours = context_.graph.neighbours(row);
      const auto degree = static_cast<double>(neighbours.size());
      const double scale = context_.rule.alpha * context_.rule.OutScale(Degree(row));
      Numbers gained;
      for (int part = 0; part < kCount; ++part) {
        const Doubles zero = {};
        const Doubles amount = above[part] ? residue.part[part] : zero;
        const Doubles old = __builtin_convertvector(g_[At(row, part)], Doubles);
        // Selected, not added: a column that is not pushed keeps even the sign of a zero.
        const Vector rounded =
            __builtin_convertvector(above[part] ? old + amount * scale : old, Vector);
        g_[At(row, part)] = rounded;
        gained.part[part] = __builtin_convertvector(rounded, Doubles) - old;
        residue.part[part] -= gained.part[part] / scale;
        arcs.part[part] += above[part] ? zero + degree : zero;
      }
      ++work.pushes;
      work.pushed_arcs += static_cast<std::int64_t>(neighbours.size());
      SpreadTo(neighbours, gained, to_neighbours_);
    });
  }

  const UpdateContext& context_;
  PushWorkspace& workspace_;
  ColumnBlock& block_;
  const double to_neighbours_;
  const bool mass_;
  const Floats* x_;
  Vector* g_;
};

namespace {

template <typename T, int kWidth>
[[gnu::always_inline]] inline SolveWork PushBody(const UpdateContext& context,
                                                 const PushLimits& limits,
                                                 PushWorkspace& workspace,
                                                 ColumnBlock& block,
                                                 std::vector<bool>& pushed) {
  PushSolver<T, kWidth> solver(context, workspace, block);
  solver.MakeResidue();
  const SolveWork work = solver.Push(limits, pushed);
  solver.Clear();
  return work;
}

// As in sweep_kernels.cc: one function a shape, in variants for the vector units.
// NOLINTBEGIN(bugprone-macro-parentheses): a type cannot have them
#define CODEN_PUSH_SHAPE(T, W)                                                          \
  CODEN_VECTOR_VARIANTS SolveWork Push_##T##_##W(                                       \
      const UpdateContext& context, const PushLimits& limits, PushWorkspace& workspace, \
      ColumnBlock& block, std::vector<bool>& pushed) {                                  \
    return PushBody<T, W>(context, limits, workspace, block, pushed);                   \
  }
// NOLINTEND(bugprone-macro-parentheses)

CODEN_PUSH_SHAPE(float, 4)
CODEN_PUSH_SHAPE(float, 8)
CODEN_PUSH_SHAPE(float, 16)
CODEN_PUSH_SHAPE(double, 4)
CODEN_PUSH_SHAPE(double, 8)
CODEN_PUSH_SHAPE(double, 16)

}  // namespace

SolveWork SolveByPush(const UpdateContext& context, const PushLimits& limits,
                      PushWorkspace& workspace, ColumnBlock& block,
                      std::vector<bool>& pushed) {
  workspace.Prepare(context.graph.size());
  const bool floats = block.precision() == Precision::kFloat;
  const auto solve = block.width() == 4   ? (floats ? Push_float_4 : Push_double_4)
                     : block.width() == 8 ? (floats ? Push_float_8 : Push_double_8)
                                          : (floats ? Push_float_16 : Push_double_16);
  return solve(context, limits, workspace, block, pushed);
}

}  // namespace coden
