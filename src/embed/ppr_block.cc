// Personalised PageRank of a block of columns, kept up to date while the graph changes.
//
// Returns h with ||h - z||_1 <= ||r||_1 <= n * epsilon per column, where
//     z = sum_l alpha (1-alpha)^l P^l x = alpha (I - (1-alpha) P)^-1 x,
//     P[v,u] = 1/d(u) for an arc u -> v; the column of a node without out-arcs is zero.
//
// Invariant, before and after every member function:
//     h + alpha (I - (1-alpha) P)^-1 r = z.
// It holds at the start with h = 0, r = x. A push at s moves r(s) on: h(s) += alpha r(s),
// r(v) += (1-alpha) r(s)/d(s) for every out-neighbour v, r(s) = 0. A change of the graph
// from P to P' moves the invariant to P' when r += ((1-alpha)/alpha) (P' - P) h. A change
// of the features by dx moves z when r += dx. What is left of r after an update is kept:
// it is part of the invariant. docs/corrections.md derives this and says where the paper
// differs.
//
// Method: forward push (Andersen, Chung, Lang 2006) in sweeps over the nodes in index
// order, in place, so that a residue which arrives ahead of the sweep is pushed in the
// same sweep (Gauss-Seidel). One bitmap holds the nodes whose residue may be too large,
// so a sweep costs what is active and not what exists.
//
// Why all columns of a block at once: a node's residues of 16 columns are two cache
// lines, so an arc is followed once for 16 columns. Each column is pushed at a node only
// where its own residue is above epsilon, which makes its numbers independent of
// its neighbours in the block. Arithmetic is in double; fused multiply-add is off for the
// whole project, so all vector variants agree to the last bit.

#include "coden/embed/ppr_block.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace coden {

namespace {

struct Columns {
  double* h;
  double* r;
  std::uint64_t* dirty;
  NodeId num_nodes;
};

// One ascending sweep: push every dirty node's columns whose |r| is above epsilon.
// Returns the number of nodes pushed.
template <int kWidth>
[[gnu::always_inline]] inline std::int64_t Sweep(const DynamicGraph& graph, double alpha,
                                                 double epsilon, const Columns& columns,
                                                 SolveWork* work) {
  std::int64_t pushes = 0;
  const std::size_t num_words = (static_cast<std::size_t>(columns.num_nodes) + 63) / 64;
  for (std::size_t word = 0; word < num_words; ++word) {
    std::uint64_t ahead = ~std::uint64_t{0};  // bits of this word not yet passed
    while (const std::uint64_t open = columns.dirty[word] & ahead) {
      const int bit = std::countr_zero(open);
      // A bit that turns dirty behind the sweep waits for the next one.
      ahead = bit == 63 ? 0 : ~std::uint64_t{0} << (bit + 1);
      columns.dirty[word] &= ~(std::uint64_t{1} << bit);
      const std::size_t node = word * 64 + static_cast<std::size_t>(bit);
      double* residue = columns.r + node * kWidth;
      double largest = 0.0;
      for (int j = 0; j < kWidth; ++j) largest = std::max(largest, std::abs(residue[j]));
      if (largest <= epsilon) continue;
      ++pushes;
      const auto neighbours = graph.out_neighbours(static_cast<NodeId>(node));
      const double share = neighbours.empty()
                               ? 0.0
                               : (1.0 - alpha) / static_cast<double>(neighbours.size());
      double* reserve = columns.h + node * kWidth;
      double moved[kWidth];
      for (int j = 0; j < kWidth; ++j) {
        const double pushed = std::abs(residue[j]) > epsilon ? residue[j] : 0.0;
        reserve[j] += alpha * pushed;
        residue[j] -= pushed;
        moved[j] = share * pushed;
      }
      for (const NodeId neighbour : neighbours) {
        double* target = columns.r + static_cast<std::size_t>(neighbour) * kWidth;
        for (int j = 0; j < kWidth; ++j) target[j] += moved[j];
        columns.dirty[neighbour >> 6] |= std::uint64_t{1} << (neighbour & 63);
      }
      work->arcs += static_cast<std::int64_t>(neighbours.size());
    }
  }
  ++work->sweeps;
  work->pushes += pushes;
  return pushes;
}

template <int kWidth>
[[gnu::always_inline]] inline SolveWork PushToTolerance(const DynamicGraph& graph,
                                                        double alpha, double epsilon,
                                                        const Columns& columns,
                                                        const StopCheck& stopped) {
  SolveWork work;
  while (!stopped() && Sweep<kWidth>(graph, alpha, epsilon, columns, &work) > 0) {
  }
  return work;
}

// The program carries one variant per instruction set and takes the best at load time.
[[gnu::target_clones("avx512f", "avx2", "default")]] SolveWork PushBlock(
    const DynamicGraph& graph, double alpha, double epsilon, const Columns& columns,
    const StopCheck& stopped) {
  return PushToTolerance<PprBlock::kWidth>(graph, alpha, epsilon, columns, stopped);
}

SolveWork PushSingle(const DynamicGraph& graph, double alpha, double epsilon,
                     const Columns& columns, const StopCheck& stopped) {
  return PushToTolerance<1>(graph, alpha, epsilon, columns, stopped);
}

// Call `visit(neighbour, weight)` for every entry of column `change.node` of P' - P.
template <typename Visit>
void ForEachColumnDifference(const DynamicGraph& graph,
                             const NeighbourhoodChanges::Change& change, Visit visit) {
  const auto after = graph.out_neighbours(change.node);
  const auto& before = change.before;
  const double old_weight =
      before.empty() ? 0.0 : 1.0 / static_cast<double>(before.size());
  const double new_weight = after.empty() ? 0.0 : 1.0 / static_cast<double>(after.size());
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < before.size() || j < after.size()) {
    if (j == after.size() || (i < before.size() && before[i] < after[j])) {
      visit(before[i++], -old_weight);
    } else if (i == before.size() || after[j] < before[i]) {
      visit(after[j++], new_weight);
    } else {
      if (new_weight != old_weight) visit(after[j], new_weight - old_weight);
      ++i;
      ++j;
    }
  }
}

}  // namespace

PprBlock::PprBlock(int num_columns, double alpha, double epsilon)
    : num_columns_(num_columns),
      width_(num_columns == 1 ? 1 : PprBlock::kWidth),
      alpha_(alpha),
      epsilon_(epsilon) {}

void PprBlock::Grow(NodeId num_nodes) {
  if (num_nodes <= num_nodes_) return;
  num_nodes_ = num_nodes;
  h_.resize(Offset(num_nodes));
  r_.resize(Offset(num_nodes));
  dirty_.resize((static_cast<std::size_t>(num_nodes) + 63) / 64);
}

void PprBlock::AddFeatures(NodeId node, std::span<const float> delta, double scale) {
  double* residue = r_.data() + Offset(node);
  for (int j = 0; j < num_columns_; ++j) {
    residue[j] += scale * static_cast<double>(delta[j]);
  }
  MarkDirty(node);
}

template <int kWidth>
void PprBlock::CompensateColumns(const DynamicGraph& graph,
                                 std::span<const NeighbourhoodChanges::Change> changes) {
  const double factor = (1.0 - alpha_) / alpha_;
  for (const auto& change : changes) {
    const double* reserve = h_.data() + Offset(change.node);
    ForEachColumnDifference(graph, change, [&](NodeId neighbour, double weight) {
      double* residue = r_.data() + Offset(neighbour);
      const double scale = factor * weight;
      for (int j = 0; j < kWidth; ++j) residue[j] += scale * reserve[j];
      MarkDirty(neighbour);
    });
  }
}

void PprBlock::Compensate(const DynamicGraph& graph,
                          std::span<const NeighbourhoodChanges::Change> changes) {
  if (width_ == 1) {
    CompensateColumns<1>(graph, changes);
  } else {
    CompensateColumns<PprBlock::kWidth>(graph, changes);
  }
}

SolveWork PprBlock::Solve(const DynamicGraph& graph, const StopCheck& stopped) {
  const Columns columns{h_.data(), r_.data(), dirty_.data(), num_nodes_};
  return width_ == 1 ? PushSingle(graph, alpha_, epsilon_, columns, stopped)
                     : PushBlock(graph, alpha_, epsilon_, columns, stopped);
}

double PprBlock::ErrorBound() const {
  std::vector<double> norms(width_, 0.0);
  for (NodeId node = 0; node < num_nodes_; ++node) {
    const double* residue = r_.data() + Offset(node);
    for (int j = 0; j < width_; ++j) norms[j] += std::abs(residue[j]);
  }
  return *std::max_element(norms.begin(), norms.end());
}

}  // namespace coden
