#include "coden/embed/embedding_engine.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>

namespace coden {

EmbeddingEngine::EmbeddingEngine(const EmbedOptions& options, int num_columns)
    : options_(options), num_columns_(num_columns) {
  for (int first = 0; first < num_columns; first += PprBlock::kWidth) {
    const int count = std::min(PprBlock::kWidth, num_columns - first);
    blocks_.push_back({first, PprBlock(count, options.alpha, options.epsilon)});
  }
}

void EmbeddingEngine::Grow(NodeId num_nodes) {
  if (num_nodes <= this->num_nodes()) return;
  features_.resize(static_cast<std::size_t>(num_nodes) * num_columns_);
  scale_.resize(num_nodes, 1.0);
  for (Block& block : blocks_) block.solver.Grow(num_nodes);
}

void EmbeddingEngine::SetFeatures(NodeId node, std::span<const float> features) {
  const auto current = Features(node);
  for (Block& block : blocks_) {
    const auto first = static_cast<std::size_t>(block.first_column);
    const auto count = static_cast<std::size_t>(block.solver.num_columns());
    // Two steps instead of one difference: the difference of two floats may need
    // rounding.
    block.solver.AddFeatures(node, current.subspan(first, count), -scale_[node]);
    block.solver.AddFeatures(node, features.subspan(first, count), scale_[node]);
  }
  std::copy(features.begin(), features.end(), current.begin());
}

double EmbeddingEngine::ScaleFor(std::int64_t degree) const {
  const auto clamped = static_cast<double>(std::max<std::int64_t>(degree, 1));
  switch (options_.propagation) {
    case Propagation::kMass:
      return 1.0;
    case Propagation::kAverage:
      return clamped;
    case Propagation::kSymmetric:
      return std::sqrt(clamped);
  }
  return 1.0;
}

SolveWork EmbeddingEngine::Update(const DynamicGraph& graph,
                                  const NeighbourhoodChanges& changes,
                                  const StopCheck& stopped) {
  struct Rescaled {
    NodeId node;
    double difference;
  };
  std::vector<Rescaled> rescaled;
  for (const auto& change : changes.changes()) {
    const double scale = ScaleFor(graph.out_degree(change.node));
    if (scale == scale_[change.node]) continue;
    rescaled.push_back({change.node, scale - scale_[change.node]});
    scale_[change.node] = scale;
  }

  std::vector<SolveWork> work(blocks_.size());
  tbb::parallel_for(std::size_t{0}, blocks_.size(), [&](std::size_t i) {
    PprBlock& solver = blocks_[i].solver;
    solver.Compensate(graph, changes.changes());
    for (const auto& [node, difference] : rescaled) {
      const auto features =
          Features(node).subspan(static_cast<std::size_t>(blocks_[i].first_column),
                                 static_cast<std::size_t>(solver.num_columns()));
      solver.AddFeatures(node, features, difference);
    }
    work[i] = solver.Solve(graph, stopped);
  });
  SolveWork total;
  for (const SolveWork& part : work) {
    total.sweeps = std::max(total.sweeps, part.sweeps);
    total.pushes += part.pushes;
    total.arcs += part.arcs;
  }
  return total;
}

void EmbeddingEngine::CopyRow(NodeId node, float* out) const {
  for (const Block& block : blocks_) {
    for (const double value : block.solver.Row(node)) {
      *out++ = static_cast<float>(value / scale_[node]);
    }
  }
}

double EmbeddingEngine::Value(NodeId node, int column) const {
  const Block& block = blocks_[column / PprBlock::kWidth];
  return block.solver.Row(node)[column - block.first_column] / scale_[node];
}

double EmbeddingEngine::ErrorBound() const {
  double largest = 0.0;
  for (const Block& block : blocks_)
    largest = std::max(largest, block.solver.ErrorBound());
  return largest;
}

}  // namespace coden
