// An engine that follows a log, beside a model of the graph and of the features.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <tbb/global_control.h>

#include "property/check_property.h"
#include "property/exact_solver.h"
#include "property/log_case.h"
#include "property/model_graph.h"
#include "support/event_fed_graph.h"

namespace coden::property {

/// Numbers of all nodes, column by column.
using Columns = std::vector<std::vector<double>>;

/// As many threads as the case says, while it lives.
class Threads {
 public:
  explicit Threads(int threads)
      : control_(tbb::global_control::max_allowed_parallelism,
                 static_cast<std::size_t>(threads)) {}

 private:
  tbb::global_control control_;
};

/// By node, its place in the order of first events; -1 for nodes without an event.
inline std::shared_ptr<const std::vector<std::int32_t>> ArrivalsOf(const Log& log) {
  auto arrivals = std::make_shared<std::vector<std::int32_t>>(log.features.size(), -1);
  std::int32_t arrived = 0;
  for (const Batch& batch : log.batches) {
    for (const Item& item : batch.items) {
      if (!item.is_event()) continue;
      for (const NodeId node : {item.event.src, item.event.dst})
        if ((*arrivals)[node] < 0) (*arrivals)[node] = arrived++;
    }
  }
  return arrivals;
}

class EngineReplay {
 public:
  EngineReplay(const Case& setup, const Log& log)
      : EngineReplay(setup, log, setup.embed, 0, setup.num_columns) {}

  /// An engine of some of the columns.
  EngineReplay(const Case& setup, const Log& log, const EmbedOptions& options,
               int first_column, int num_columns)
      : setup_(setup),
        log_(log),
        first_column_(first_column),
        num_columns_(num_columns),
        graph_(setup.graph),
        model_(setup.graph),
        engine_(options, num_columns, setup.solver),
        features_(setup.num_nodes, std::vector<float>(num_columns, 0.0f)),
        largest_(num_columns, 0) {
    engine_.SetArrivals(ArrivalsOf(log));
  }

  /// Apply a batch and bring the engine up to date.
  SolveWork Run(const Batch& batch) {
    Apply(batch);
    return Update();
  }

  /// The nodes that have arrived, their features, and the rows of a batch.
  void Apply(const Batch& batch) {
    Arrive(batch.num_nodes);
    for (const Item& item : batch.items) {
      if (item.is_event()) {
        Apply(item.event);
      } else {
        SetFeatures(item.event.src, item.vector);
      }
    }
    graph_.ExpireUntil(batch.end);
    model_.ExpireUntil(batch.end);
  }
  void Apply(const EdgeEvent& event) {
    Must(graph_.Apply(event));
    RC_ASSERT(model_.Apply(event));
  }
  SolveWork Update() {
    const SolveWork work =
        engine_.Update(graph_.Follow(), [] { return false; }, num_nodes_);
    graph_.Settle();
    for (int column = 0; column < num_columns_; ++column) {
      const Real size = SizeOf(Features(column)) + SizeOf(Embedding(column));
      largest_[column] = std::max(largest_[column], size);
    }
    return work;
  }

  /// Bring the graph up to date without the engine, which the caller restores.
  void SkipUpdate() {
    graph_.Follow();
    graph_.Settle();
  }

  void Arrive(NodeId num_nodes) {
    graph_.Grow(num_nodes);
    engine_.Grow(num_nodes);
    for (; num_nodes_ < num_nodes; ++num_nodes_) {
      if (!log_.features[num_nodes_].empty())
        SetFeatures(num_nodes_, log_.features[num_nodes_]);
    }
  }

  void SetFeatures(NodeId node, const std::vector<float>& vector) {
    const std::span<const float> slice(vector.data() + first_column_,
                                       static_cast<std::size_t>(num_columns_));
    features_[node].assign(slice.begin(), slice.end());
    engine_.SetFeatures(node, slice);
  }

  NodeId num_nodes() const { return num_nodes_; }
  int num_columns() const { return num_columns_; }
  const ModelGraph& model() const { return model_; }
  /// As of the last update.
  const SnapshotGraph& graph() const { return graph_.graph(); }
  EmbeddingEngine& engine() { return engine_; }
  const EmbeddingEngine& engine() const { return engine_; }

  ExactSolver Solver() const {
    return ExactSolver(model_.Arcs(), num_nodes_, setup_.embed.alpha,
                       test::PowerOf(setup_.embed.propagation));
  }
  Column Features(int column) const {
    Column x(num_nodes_);
    for (NodeId node = 0; node < num_nodes_; ++node) x[node] = features_[node][column];
    return x;
  }
  Column Embedding(int column) const {
    Column h(num_nodes_);
    for (NodeId node = 0; node < num_nodes_; ++node)
      h[node] = engine_.Value(node, column);
    return h;
  }
  Columns Values() const {
    Columns values(num_columns_);
    for (int column = 0; column < num_columns_; ++column) {
      for (NodeId node = 0; node < num_nodes_; ++node)
        values[column].push_back(engine_.Value(node, column));
    }
    return values;
  }

  /// What float64 may lose in a residue. A residue that is pushed is the difference of
  /// what was and what is, so the largest numbers so far count.
  Real RoundingOf(int column) const {
    Real weight = 1;
    if (setup_.embed.propagation != Propagation::kMass) weight = num_nodes_;
    return 0x1p-53L * weight * largest_[column] * (1 + 2 / setup_.embed.alpha);
  }
  /// Whether float64 can hold epsilon: no bound is below a small multiple of the
  /// rounding.
  bool EpsilonIsAttainable() const {
    Real most = 0;
    for (int column = 0; column < num_columns_; ++column)
      most = std::max(most, RoundingOf(column));
    return 64 * most <= num_nodes_ * Real(setup_.embed.epsilon);
  }

 private:
  const Case& setup_;
  const Log& log_;
  const int first_column_;
  const int num_columns_;
  test::EventFedGraph graph_;
  ModelGraph model_;
  EmbeddingEngine engine_;
  std::vector<std::vector<float>> features_;  // by node
  std::vector<Real> largest_;                 // by column
  NodeId num_nodes_ = 0;
};

/// What an engine says of its first nodes.
struct Said {
  Columns values;
  std::vector<double> bounds;  ///< by column
};

inline Said WhatIsSaid(const EngineReplay& replay) {
  return {replay.Values(), replay.engine().ErrorBounds()};
}

/// The distance of the two, column by column, is within what both of them claim. Nodes
/// that only one of them has are left out.
inline void AssertWithinBounds(const Said& left, const Said& right) {
  RC_ASSERT(left.values.size() == right.values.size());
  for (std::size_t column = 0; column < left.values.size(); ++column) {
    const auto& a = left.values[column];
    const auto& b = right.values[column];
    Real distance = 0, size = 0;
    for (std::size_t node = 0; node < std::min(a.size(), b.size()); ++node) {
      distance += std::abs(Real(a[node]) - b[node]);
      size += std::abs(Real(a[node]));
    }
    const Real allowed = Real(left.bounds[column]) + right.bounds[column];
    RC_LOG() << "column " << column << ": distance " << distance << " of " << allowed
             << "\n";
    RC_ASSERT(distance <= allowed + 0x1p-48L * size);
  }
}

/// The same to the last bit, the signs of zeros included.
inline void AssertSameBits(const Said& left, const Said& right) {
  const auto bits = [](const Said& said) {
    std::vector<std::uint64_t> all;
    for (const auto& column : said.values) {
      for (const double value : column)
        all.push_back(std::bit_cast<std::uint64_t>(value));
    }
    return all;
  };
  RC_ASSERT(bits(left) == bits(right));
  RC_ASSERT(left.bounds == right.bounds);
}

}  // namespace coden::property
