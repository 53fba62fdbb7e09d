// Everything an EmbeddingEngine holds between updates.
#pragma once

#include <tbb/enumerable_thread_specific.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "coden/embed/embedding_engine.h"
#include "embed/column_block_internal.h"
#include "embed/propagation_internal.h"
#include "embed/push_solver_internal.h"
#include "embed/row_changes_internal.h"
#include "embed/row_order_internal.h"
#include "embed/symmetry_internal.h"

namespace coden {

struct EmbeddingEngine::State {
  // Narrow blocks where there are fewer full ones than threads.
  static constexpr int kNarrowest = 4;
  // Of an embedding whose features have unit scale.
  static constexpr double kTypicalValue = 0.3;
  // An update of more changes than a node in so many is large.
  static constexpr NodeId kNodesPerChange = 64;

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

  /// Give rows to nodes that have an arc for the first time, in the order in which they
  /// came in the log.
  void ConnectArriving(const SnapshotGraph& graph) {
    std::vector<std::pair<std::uint32_t, NodeId>> arriving;
    // Targets may be named by many sources. A small update does not pay for all nodes.
    const bool is_large = graph.changes().size() >
                          static_cast<std::size_t>(order.num_nodes() / kNodesPerChange);
    std::vector<bool> noted(
        graph.directed() && is_large ? static_cast<std::size_t>(order.num_nodes()) : 0);
    const auto add = [&](NodeId node) {
      if (order.connected(node)) return;
      if (!noted.empty()) {
        if (noted[node]) return;
        noted[node] = true;
      }
      const bool known =
          arrivals != nullptr && node < static_cast<NodeId>(arrivals->size());
      // No arrival, -1, becomes the latest.
      arriving.emplace_back(static_cast<std::uint32_t>(known ? (*arrivals)[node] : -1),
                            node);
    };
    for (const SnapshotGraph::Change& change : graph.changes()) {
      const auto neighbours = graph.out_neighbours(change.node);
      if (!neighbours.empty()) add(change.node);
      // In an undirected graph they have changed themselves.
      if (!graph.directed()) continue;
      for (const NodeId node : neighbours) add(node);
    }
    std::sort(arriving.begin(), arriving.end());
    for (const auto& [arrival, node] : arriving) Connect(node);  // once
  }

  /// Whether every arc has its reverse.
  bool IsSymmetric(const SnapshotGraph& graph) const {
    return !graph.directed() || symmetry.holds();
  }

  /// Rows, degrees and old feature vectors for everything that changed. Returns an
  /// estimate of the residue that it makes.
  double CollectChanges(const SnapshotGraph& graph) {
    assert(graph.num_nodes() <= order.num_nodes());
    row_changes.Clear();
    const Row connected_before = order.num_connected();
    ConnectArriving(graph);
    degrees.resize(order.num_connected(), 0);
    // The 1-norm of what changed in the columns of P, one per row.
    double changed = static_cast<double>(row_changes.arrived.size());
    for (const SnapshotGraph::Change& change : graph.changes()) {
      if (!order.connected(change.node)) continue;  // came and went
      const Row row = order.row_of(change.node);
      const auto now = graph.out_neighbours(change.node);
      degrees[row] = static_cast<std::int32_t>(now.size());
      std::size_t num_removed = 0;
      std::size_t num_added = 0;
      ForEachDifference(
          change.before, now,
          [&](NodeId node) {
            ++num_removed;
            if (graph.directed()) symmetry.Remove(change.node, node);
          },
          [&](NodeId node) {
            ++num_added;
            if (graph.directed()) symmetry.Add(change.node, node);
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
  std::shared_ptr<const std::vector<std::int32_t>> arrivals;  // by node
  Symmetry symmetry;                                          // of a directed graph
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

}  // namespace coden
