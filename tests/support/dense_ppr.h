#pragma once

#include <vector>

#include "coden/graph/dynamic_graph.h"

namespace coden {

// Personalised PageRank by dense matrices: the oracle for everything that approximates
// it. Cubic in the number of nodes.

using Matrix = std::vector<std::vector<double>>;

inline Matrix Zeros(NodeId rows, int columns) {
  return Matrix(rows, std::vector<double>(columns, 0.0));
}

/// P[v][u] = 1/d(u) for an arc u -> v.
inline Matrix Transitions(const DynamicGraph& graph) {
  Matrix p = Zeros(graph.num_nodes(), graph.num_nodes());
  for (NodeId u = 0; u < graph.num_nodes(); ++u) {
    for (const NodeId v : graph.out_neighbours(u)) {
      p[v][u] = 1.0 / static_cast<double>(graph.out_degree(u));
    }
  }
  return p;
}

/// Solve (I - (1-alpha) P) Z = alpha X by Gaussian elimination. The matrix is diagonally
/// dominant by columns, so no pivoting is needed. X has a row for every node of `graph`.
inline Matrix ExactPpr(const DynamicGraph& graph, const Matrix& x, double alpha) {
  const NodeId n = graph.num_nodes();
  Matrix a = Transitions(graph);
  Matrix z = x;
  for (NodeId i = 0; i < n; ++i) {
    for (NodeId j = 0; j < n; ++j) a[i][j] = (i == j) - (1.0 - alpha) * a[i][j];
    for (double& value : z[i]) value *= alpha;
  }
  for (NodeId k = 0; k < n; ++k) {
    for (NodeId i = 0; i < n; ++i) {
      if (i == k) continue;
      const double ratio = a[i][k] / a[k][k];
      for (NodeId j = k; j < n; ++j) a[i][j] -= ratio * a[k][j];
      for (std::size_t c = 0; c < z[i].size(); ++c) z[i][c] -= ratio * z[k][c];
    }
  }
  for (NodeId i = 0; i < n; ++i) {
    for (double& value : z[i]) value /= a[i][i];
  }
  return z;
}

}  // namespace coden
