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

#include <tbb/enumerable_thread_specific.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "embed/column_block_internal.h"
#include "embed/propagation_internal.h"
#include "embed/push_solver_internal.h"
#include "embed/residue_audit_internal.h"
#include "embed/row_changes_internal.h"
#include "embed/row_order_internal.h"
#include "embed/solver_choice_internal.h"
#include "embed/sweep_plan_internal.h"
#include "embed/sweep_solver_internal.h"
#include "embed/symmetry_internal.h"

namespace coden {

namespace {

// The rest of n * epsilon is left to the rounding of what is written to files.
constexpr double kSolverShare = 0.9;
// Narrow blocks where there are fewer full ones than threads.
constexpr int kNarrowest = 4;

constexpr std::size_t kCopyRows = 1024;
// Of an embedding whose features have unit scale.
constexpr double kTypicalValue = 0.3;

}  // namespace

struct EmbeddingEngine::State {
  struct Place {
    int block;
    int lane;
  };
  struct PendingFeatures {
    NodeId node;
    std::vector<float> before;
  };

  State(const EmbedOptions& embed, int columns, SolverChoice solver)
      : options(embed),
        num_columns(columns),
        choice(solver),
        rule{embed.alpha, embed.propagation},
        places(columns) {
    std::vector<int> all(columns);
    for (int column = 0; column < columns; ++column) all[column] = column;
    // An arena has as many slots as the machine has cores, whatever it may use.
    const int threads = std::min<int>(tbb::this_task_arena::max_concurrency(),
                                      static_cast<int>(tbb::global_control::active_value(
                                          tbb::global_control::max_allowed_parallelism)));
    int width = ColumnBlock::kMostColumns;
    while (width > kNarrowest && (columns + width - 1) / width < threads) width /= 2;
    AddBlocks(all, width, Precision::kFloat);
  }

  void AddBlocks(const std::vector<int>& columns, int width, Precision precision) {
    for (std::size_t first = 0; first < columns.size(); first += width) {
      const std::size_t last = std::min(columns.size(), first + width);
      std::vector<int> part(columns.begin() + first, columns.begin() + last);
      for (std::size_t lane = 0; lane < part.size(); ++lane) {
        places[part[lane]] = {static_cast<int>(blocks.size()), static_cast<int>(lane)};
      }
      blocks.emplace_back(std::move(part), precision);
      blocks.back().Grow(order.num_nodes());
    }
  }

  void Connect(NodeId node) {
    if (order.connected(node)) return;
    const Row from = order.Connect(node);
    const Row to = order.num_connected() - 1;
    for (ColumnBlock& block : blocks) {
      if (!block.empty()) block.SwapRows(from, to);
    }
    row_changes.arrived.push_back(to);
  }

  /// Rows, degrees and old feature vectors for everything that changed. Returns an
  /// estimate of the residue that it makes.
  double CollectChanges(const DynamicGraph& graph, const NeighbourhoodChanges& changes) {
    assert(graph.num_nodes() <= order.num_nodes());
    row_changes.Clear();
    const Row connected_before = order.num_connected();
    for (const auto& change : changes.changes()) {
      Connect(change.node);
      for (const NodeId node : graph.out_neighbours(change.node)) Connect(node);
    }
    degrees.resize(order.num_connected(), 0);
    // The 1-norm of what changed in the columns of P, one per row.
    double changed = static_cast<double>(row_changes.arrived.size());
    for (const auto& change : changes.changes()) {
      const Row row = order.row_of(change.node);
      const auto now = graph.out_neighbours(change.node);
      degrees[row] = static_cast<std::int32_t>(now.size());
      std::size_t num_removed = 0;
      std::size_t num_added = 0;
      ForEachDifference(
          change.before, now,
          [&](NodeId node) {
            ++num_removed;
            symmetry.Remove(change.node, node);
          },
          [&](NodeId node) {
            ++num_added;
            symmetry.Add(change.node, node);
          });
      if (row >= connected_before || num_removed + num_added == 0) continue;
      changed +=
          ColumnDifference(change.before.size(), now.size(), num_removed, num_added);
      row_changes.changed.push_back(
          {row, static_cast<std::int32_t>(change.before.size()), change.before});
    }
    for (const PendingFeatures& pending : pending_features)
      row_changes.updated.push_back({order.row_of(pending.node), pending.before});
    return kTypicalValue * (1.0 - rule.alpha) / rule.alpha * changed +
           static_cast<double>(row_changes.updated.size());
  }

  /// Columns that float32 cannot hold within the budget move into float64 blocks.
  /// Returns whether there were any.
  bool Promote(double budget) {
    std::vector<int> moving;
    for (const ColumnBlock& block : blocks) {
      if (block.precision() != Precision::kFloat) continue;
      for (int lane = 0; lane < block.width(); ++lane) {
        if (block.holds(lane) && !(block.bounds()[lane] <= budget))
          moving.push_back(block.columns()[lane]);
      }
    }
    if (moving.empty()) return false;
    std::sort(moving.begin(), moving.end());
    MoveToDouble(moving);
    return true;
  }

  /// `moving` is sorted. The columns have no bound until they are proven again.
  void MoveToDouble(const std::vector<int>& moving) {
    const std::vector<Place> from = places;
    AddBlocks(moving, ColumnBlock::kMostColumns, Precision::kDouble);
    for (const int column : moving) {
      ColumnBlock& source = blocks[from[column].block];
      const int lane = from[column].lane;
      ColumnBlock& target = blocks[places[column].block];
      const int to = places[column].lane;
      for (Row row = 0; row < order.num_nodes(); ++row) {
        const float x = source.Feature(row, lane);
        target.SetFeature(row, to, x);
        if (row >= order.num_connected()) continue;
        // What overflowed in float32 starts anew.
        const double g = source.Value(row, lane);
        target.SetValue(
            row, to, std::isfinite(g) ? g : rule.alpha * rule.OutScale(degrees[row]) * x);
      }
      target.bounds()[to] = std::numeric_limits<double>::infinity();
      source.Release(lane);
    }
    for (ColumnBlock& block : blocks) block.FreeIfEmpty();
    num_double += static_cast<int>(moving.size());
  }

  EmbedOptions options;
  int num_columns;
  SolverChoice choice;
  PropagationRule rule;
  RowOrder order;
  Symmetry symmetry;
  std::vector<std::int32_t> degrees;  // out-degree by connected row
  std::vector<ColumnBlock> blocks;
  std::vector<Place> places;  // by column
  std::vector<PendingFeatures> pending_features;
  std::unordered_set<NodeId> pending_nodes;
  RowChanges row_changes;
  tbb::enumerable_thread_specific<PushWorkspace> workspaces;
  double left = 0.0;  // parts of the budget that pushes have used since the last sweep
  int num_double = 0;
};

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

SolveWork EmbeddingEngine::Update(const DynamicGraph& graph,
                                  const NeighbourhoodChanges& changes,
                                  const StopCheck& stopped,
                                  std::optional<std::int64_t> num_present) {
  State& state = *state_;
  const double residue = state.CollectChanges(graph, changes);
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
    const SweepPlan plan =
        PlanSweeps(rows, state.degrees, state.rule, state.symmetry.holds());
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

double EmbeddingEngine::Audit(const DynamicGraph& graph) {
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

EngineMemory EmbeddingEngine::Memory() const {
  EngineMemory memory;
  memory.pushed = state_->left;
  memory.bounds = ErrorBounds();
  for (const auto& [block, lane] : state_->places)
    memory.in_double.push_back(state_->blocks[block].precision() == Precision::kDouble);
  return memory;
}

std::vector<NodeId> EmbeddingEngine::ConnectedNodes() const {
  std::vector<NodeId> nodes;
  for (Row row = 0; row < state_->order.num_connected(); ++row)
    nodes.push_back(state_->order.node_at(row));
  return nodes;
}

void EmbeddingEngine::CopyNumbers(int column, std::int64_t first_row,
                                  std::span<double> out) const {
  const auto [block, lane] = state_->places[column];
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = state_->blocks[block].Value(static_cast<Row>(first_row + i), lane);
}

void EmbeddingEngine::Restore(const DynamicGraph& graph,
                              std::span<const NodeId> connected,
                              const EngineMemory& memory) {
  State& state = *state_;
  assert(state.order.num_connected() == 0 && graph.num_nodes() <= num_nodes());
  for (const NodeId node : connected) state.Connect(node);
  state.row_changes.Clear();
  state.degrees.assign(connected.size(), 0);
  for (std::size_t row = 0; row < connected.size(); ++row) {
    const auto neighbours = graph.out_neighbours(connected[row]);
    state.degrees[row] = static_cast<std::int32_t>(neighbours.size());
    for (const NodeId neighbour : neighbours)
      state.symmetry.Add(connected[row], neighbour);
  }
  std::vector<int> moving;
  for (int column = 0; column < state.num_columns; ++column) {
    if (memory.in_double[column]) moving.push_back(column);
  }
  if (!moving.empty()) state.MoveToDouble(moving);
  for (int column = 0; column < state.num_columns; ++column) {
    const auto [block, lane] = state.places[column];
    state.blocks[block].bounds()[lane] = memory.bounds[column];
  }
  state.left = memory.pushed;
}

void EmbeddingEngine::RestoreNumbers(int column, std::int64_t first_row,
                                     std::span<const double> numbers) {
  const auto [block, lane] = state_->places[column];
  for (std::size_t i = 0; i < numbers.size(); ++i)
    state_->blocks[block].SetValue(static_cast<Row>(first_row + i), lane, numbers[i]);
}

}  // namespace coden
