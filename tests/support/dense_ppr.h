// Exact personalised PageRank of a small graph by another route than the engine's: write
// the matrix down and solve alpha (I - (1-alpha) P)^-1 x by Gaussian elimination with
// pivoting.
#pragma once

#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "coden/base/types.h"
#include "coden/settings/embed_options.h"

namespace coden::test {

/// Arcs of a graph as a plain set: the model that the real graph is compared with.
using ArcSet = std::set<std::pair<int, int>>;

using Matrix = std::vector<std::vector<double>>;

inline std::vector<double> OutDegrees(const ArcSet& arcs, int num_nodes) {
  std::vector<double> degrees(num_nodes, 0.0);
  for (const auto& [src, dst] : arcs) degrees[src] += 1.0;
  return degrees;
}

/// P[v][u] = 1/d(u) for an arc u -> v.
inline Matrix Transition(const ArcSet& arcs, int num_nodes) {
  const auto degrees = OutDegrees(arcs, num_nodes);
  Matrix matrix(num_nodes, std::vector<double>(num_nodes, 0.0));
  for (const auto& [src, dst] : arcs) matrix[dst][src] = 1.0 / degrees[src];
  return matrix;
}

/// Solve M z = b in place of b, for several right-hand sides (columns of b).
inline Matrix Solve(Matrix m, Matrix b) {
  const int n = static_cast<int>(m.size());
  for (int pivot = 0; pivot < n; ++pivot) {
    int best = pivot;
    for (int row = pivot + 1; row < n; ++row) {
      if (std::abs(m[row][pivot]) > std::abs(m[best][pivot])) best = row;
    }
    std::swap(m[pivot], m[best]);
    std::swap(b[pivot], b[best]);
    for (int row = 0; row < n; ++row) {
      if (row == pivot) continue;
      const double factor = m[row][pivot] / m[pivot][pivot];
      if (factor == 0.0) continue;
      for (int column = pivot; column < n; ++column)
        m[row][column] -= factor * m[pivot][column];
      for (std::size_t column = 0; column < b[row].size(); ++column) {
        b[row][column] -= factor * b[pivot][column];
      }
    }
  }
  for (int row = 0; row < n; ++row) {
    for (double& value : b[row]) value /= m[row][row];
  }
  return b;
}

/// b of the propagation kinds.
inline double PowerOf(Propagation propagation) {
  return propagation == Propagation::kMass      ? 0.0
         : propagation == Propagation::kAverage ? 1.0
                                                : 0.5;
}

/// alpha (I - (1-alpha) D^-b P D^b)^-1 X, with D = max(degree, 1): `power` b is 0 for
/// mass, 1 for average and 1/2 for symmetric. The operator itself is built, not the
/// scaled features.
inline Matrix ExactEmbedding(const ArcSet& arcs, const Matrix& features, double alpha,
                             double power = 0.0) {
  const int n = static_cast<int>(features.size());
  const auto degrees = OutDegrees(arcs, n);
  Matrix m = Transition(arcs, n);
  for (int v = 0; v < n; ++v) {
    for (int u = 0; u < n; ++u) {
      const double scale =
          std::pow(std::max(degrees[u], 1.0) / std::max(degrees[v], 1.0), power);
      m[v][u] = (v == u ? 1.0 : 0.0) - (1.0 - alpha) * m[v][u] * scale;
    }
  }
  Matrix right = features;
  for (auto& row : right) {
    for (double& value : row) value *= alpha;
  }
  return Solve(std::move(m), std::move(right));
}

inline Matrix Zeros(int rows, int columns) {
  return Matrix(rows, std::vector<double>(columns, 0.0));
}

/// The arcs of a SnapshotGraph or a DynamicGraph, copied into the model.
template <typename Graph>
ArcSet ArcsOf(const Graph& graph) {
  ArcSet arcs;
  for (NodeId node = 0; node < graph.num_nodes(); ++node) {
    for (const NodeId neighbour : graph.out_neighbours(node))
      arcs.insert({node, neighbour});
  }
  return arcs;
}

template <typename Graph>
Matrix Transitions(const Graph& graph) {
  return Transition(ArcsOf(graph), graph.num_nodes());
}

template <typename Graph>
Matrix ExactPpr(const Graph& graph, const Matrix& x, double alpha) {
  return ExactEmbedding(ArcsOf(graph), x, alpha);
}

}  // namespace coden::test
