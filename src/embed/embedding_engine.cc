// All columns of the embedding: blocks of columns in parallel, and the choice of solver.
//
// An update is first followed (FollowChanges keeps h while degrees change) or pushed
// (push_solver.cc) where it is small; whatever column is then not proven to be within the
// budget is swept (sweep_solver.cc). Both solvers start from what is there, so they mix
// freely: a push that turned out to be too long leaves a better start for the sweeps.
//
// All choices depend on the graph, the change and one column, never on the blocks or the
// threads, so neither changes a bit of the result.

#include "coden/embed/embedding_engine.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "embed/engine_state_internal.h"
#include "embed/residue_audit_internal.h"
#include "embed/solver_choice_internal.h"
#include "embed/sweep_plan_internal.h"
#include "embed/sweep_solver_internal.h"

namespace coden {

namespace {

// The rest of n * epsilon is left to the rounding of what is written to files.
constexpr double kSolverShare = 0.9;

constexpr std::size_t kCopyRows = 1024;

}  // namespace

EmbeddingEngine::EmbeddingEngine(const EmbedOptions& options, int num_columns,
                                 SolverChoice choice)
    : state_(std::make_unique<State>(options, num_columns, choice)) {}
EmbeddingEngine::EmbeddingEngine(EmbeddingEngine&&) noexcept = default;
EmbeddingEngine& EmbeddingEngine::operator=(EmbeddingEngine&&) noexcept = default;
EmbeddingEngine::~EmbeddingEngine() = default;

int EmbeddingEngine::num_columns() const { return state_->num_columns; }
NodeId EmbeddingEngine::num_nodes() const { return state_->order.num_nodes(); }
int EmbeddingEngine::num_double_columns() const { return state_->num_double; }

void EmbeddingEngine::Grow(NodeId num_nodes) {
  if (num_nodes <= this->num_nodes()) return;
  state_->order.Grow(num_nodes);
  for (ColumnBlock& block : state_->blocks) {
    if (!block.empty()) block.Grow(num_nodes);
  }
}

void EmbeddingEngine::SetFeatures(NodeId node, std::span<const float> features) {
  State& state = *state_;
  const Row row = state.order.row_of(node);
  // Nodes without arcs are embedded by their features alone, so nothing depends on what
  // they were. Of several changes before an update, the first says what they were.
  if (state.order.connected(node) && state.pending_nodes.insert(node).second) {
    auto& pending = state.pending_features.emplace_back(
        State::PendingFeatures{node, std::vector<float>(state.num_columns)});
    for (int column = 0; column < state.num_columns; ++column) {
      const auto [block, lane] = state.places[column];
      pending.before[column] = state.blocks[block].Feature(row, lane);
    }
  }
  for (int column = 0; column < state.num_columns; ++column) {
    const auto [block, lane] = state.places[column];
    state.blocks[block].SetFeature(row, lane, features[column]);
  }
}

void EmbeddingEngine::SetArrivals(
    std::shared_ptr<const std::vector<std::int32_t>> arrivals) {
  state_->arrivals = std::move(arrivals);
}

SolveWork EmbeddingEngine::Update(const SnapshotGraph& graph, const StopCheck& stopped,
                                  std::optional<std::int64_t> num_present) {
  State& state = *state_;
  const double residue = state.CollectChanges(graph);
  const RowGraph rows(graph, state.order);
  const UpdateContext context{rows, state.degrees, state.rule, state.row_changes};
  const std::int64_t n = num_present.value_or(num_nodes());
  const double budget = kSolverShare * state.options.epsilon * static_cast<double>(n);

  const UpdateStrategy strategy =
      ChooseSolver(state.choice, residue, {n, state.options.epsilon, budget, state.left});
  state.left = strategy.left;
  // `mass` weighs every residue alike on every graph. For the others the weights are the
  // graph's, so a bound does not outlive a change and has to be proven again.
  const bool keeps_bound =
      state.rule.kind == Propagation::kMass || state.row_changes.empty();

  std::vector<SolveWork> work(state.blocks.size());
  std::vector<std::vector<ColumnTask>> tasks(state.blocks.size());
  tbb::parallel_for(std::size_t{0}, state.blocks.size(), [&](std::size_t i) {
    ColumnBlock& block = state.blocks[i];
    tasks[i].assign(block.width(), ColumnTask::kLeave);
    if (block.empty()) return;
    std::vector<bool> pushed(block.width(), false);
    if (strategy.push && !stopped()) {
      work[i] =
          SolveByPush(context, strategy.limits, state.workspaces.local(), block, pushed);
    } else {
      FollowChanges(context, block);
    }
    for (int lane = 0; lane < block.width(); ++lane) {
      if (!block.holds(lane)) continue;
      const bool within = block.bounds()[lane] <= budget;
      if (pushed[lane] && within && keeps_bound) continue;
      tasks[i][lane] = pushed[lane] && within ? ColumnTask::kProve : ColumnTask::kSolve;
    }
  });
  state.pending_features.clear();
  state.pending_nodes.clear();

  const auto open = [](const std::vector<ColumnTask>& columns) {
    return std::any_of(columns.begin(), columns.end(),
                       [](ColumnTask task) { return task != ColumnTask::kLeave; });
  };
  if (rows.size() > 0 && std::any_of(tasks.begin(), tasks.end(), open)) {
    // The plan takes the place of what the pushes have kept.
    state.workspaces.clear();
    const SweepPlan plan =
        PlanSweeps(rows, state.degrees, state.rule, state.IsSymmetric(graph));
    const auto sweep = [&](std::size_t first) {
      work.resize(state.blocks.size());
      tbb::parallel_for(first, state.blocks.size(), [&](std::size_t i) {
        if (!open(tasks[i])) return;
        work[i].Add(
            SolveBySweeps(plan, tasks[i], strategy.goal, stopped, state.blocks[i]));
      });
    };
    sweep(0);
    const std::size_t before = state.blocks.size();
    if (!stopped() && state.Promote(budget)) {
      for (std::size_t i = before; i < state.blocks.size(); ++i) {
        tasks.emplace_back(state.blocks[i].width(), ColumnTask::kLeave);
        std::fill_n(tasks[i].begin(), state.blocks[i].columns().size(),
                    ColumnTask::kSolve);
      }
      sweep(before);
    }
  }
  SolveWork total;
  for (const SolveWork& part : work) total.Add(part);
  return total;
}

void EmbeddingEngine::CopyRows(std::span<const NodeId> nodes, float* out,
                               std::span<double> rounding) const {
  const State& state = *state_;
  const auto width = static_cast<std::size_t>(state.num_columns);
  const std::size_t num_chunks = (nodes.size() + kCopyRows - 1) / kCopyRows;
  // Sums by chunks of fixed size, so that they do not depend on the threads.
  std::vector<double> lost(num_chunks * width, 0.0);
  tbb::parallel_for(std::size_t{0}, num_chunks, [&](std::size_t chunk) {
    const std::size_t begin = chunk * kCopyRows;
    const std::size_t end = std::min(nodes.size(), begin + kCopyRows);
    double scales[kCopyRows];
    for (std::size_t i = begin; i < end; ++i) {
      const Row row = state.order.row_of(nodes[i]);
      scales[i - begin] = state.order.connected(nodes[i])
                              ? 1.0 / state.rule.OutScale(state.degrees[row])
                              : state.rule.alpha;
    }
    for (const ColumnBlock& block : state.blocks) {
      if (block.empty()) continue;
      block.Dispatch([&]<typename T, int kWidth>() {
        double block_lost[kWidth] = {};
        for (std::size_t i = begin; i < end; ++i) {
          const Row row = state.order.row_of(nodes[i]);
          const bool connected = row < state.order.num_connected();
          const std::size_t at = static_cast<std::size_t>(row) * kWidth;
          const double scale = scales[i - begin];
          float rounded[kWidth];
          const auto scaled = [&](const auto* values) {
            for (int lane = 0; lane < kWidth; ++lane) {
              const double value = values[lane] * scale;
              rounded[lane] = static_cast<float>(value);
              block_lost[lane] += std::abs(rounded[lane] - value);
            }
          };
          connected ? scaled(block.g<T>() + at) : scaled(block.x() + at);
          for (std::size_t lane = 0; lane < block.columns().size(); ++lane) {
            const int column = block.columns()[lane];
            if (column >= 0) out[i * width + column] = rounded[lane];
          }
        }
        for (std::size_t lane = 0; lane < block.columns().size(); ++lane) {
          const int column = block.columns()[lane];
          if (column >= 0) lost[chunk * width + column] = block_lost[lane];
        }
      });
    }
  });
  for (std::size_t chunk = 0; chunk < num_chunks; ++chunk) {
    for (std::size_t column = 0; column < width; ++column)
      rounding[column] += lost[chunk * width + column];
  }
}

double EmbeddingEngine::Value(NodeId node, int column) const {
  const State& state = *state_;
  const Row row = state.order.row_of(node);
  const auto [block, lane] = state.places[column];
  if (!state.order.connected(node)) {
    return state.rule.alpha * state.blocks[block].Feature(row, lane);
  }
  return state.blocks[block].Value(row, lane) / state.rule.OutScale(state.degrees[row]);
}

std::vector<double> EmbeddingEngine::ErrorBounds() const {
  std::vector<double> bounds;
  for (const auto& [block, lane] : state_->places)
    bounds.push_back(state_->blocks[block].bounds()[lane]);
  return bounds;
}

double EmbeddingEngine::ErrorBound() const {
  const std::vector<double> bounds = ErrorBounds();
  return bounds.empty() ? 0.0 : *std::max_element(bounds.begin(), bounds.end());
}

double EmbeddingEngine::Audit(const SnapshotGraph& graph) {
  State& state = *state_;
  const RowGraph rows(graph, state.order);
  std::vector<double> ratios(state.num_columns, 0.0);
  const std::vector<double> weights = AuditWeights(rows, state.degrees, state.rule);
  tbb::parallel_for(0, state.num_columns, [&](int column) {
    const auto [index, lane] = state.places[column];
    ColumnBlock& block = state.blocks[index];
    const AuditedBound found =
        AuditColumn(rows, state.degrees, state.rule, weights, block, lane);
    double& bound = block.bounds()[lane];
    const double surely = found.value - found.rounding;
    ratios[column] = surely <= 0.0 ? 0.0 : surely / bound;
    bound = found.value + found.rounding;
  });
  return ratios.empty() ? 0.0 : *std::max_element(ratios.begin(), ratios.end());
}

}  // namespace coden
