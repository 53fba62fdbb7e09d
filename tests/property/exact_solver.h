// z of a small graph by another route than the engine's: alpha (I - (1-alpha) P)^-1
// written down and factored in long double, whose rounding is far below any bound that
// float64 can prove.
//
// The propagation kinds go by the scaled features of the definition, D^-b M D^b with M of
// `mass`, where the engine has one equation of its own (propagation_internal.h); their
// residue is that of the operator D^-b P D^b itself, summed arc by arc. So the invariant
//     h + alpha (I - (1-alpha) Q)^-1 r = z
// compares two routes.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "support/dense_ppr.h"

namespace coden::property {

using Real = long double;
using Column = std::vector<Real>;

class ExactSolver {
 public:
  ExactSolver(const test::ArcSet& arcs, int num_nodes, double alpha, double power)
      : arcs_(arcs), n_(num_nodes), alpha_(alpha), power_(power), degrees_(num_nodes, 0) {
    for (const auto& [src, dst] : arcs) degrees_[src] += 1;
    for (int node = 0; node < n_; ++node)
      scale_.push_back(std::pow(std::max<Real>(degrees_[node], 1), Real(power_)));
    std::vector<Column> matrix(n_, Column(n_, 0));
    for (int node = 0; node < n_; ++node) matrix[node][node] = 1;
    for (const auto& [src, dst] : arcs)
      matrix[dst][src] -= (1 - Real(alpha_)) / degrees_[src];
    Factor(std::move(matrix));
  }

  /// alpha (I - (1-alpha) Q)^-1 x, with Q the operator of the propagation kind.
  Column Embed(Column x) const {
    for (int node = 0; node < n_; ++node) x[node] *= scale_[node];
    x = SolveMass(std::move(x));
    for (int node = 0; node < n_; ++node) x[node] *= Real(alpha_) / scale_[node];
    return x;
  }

  /// r = x - (h - (1-alpha) Q h) / alpha.
  Column Residue(const Column& x, const Column& h) const {
    Column sent(n_, 0);
    for (const auto& [src, dst] : arcs_)
      sent[dst] += h[src] * scale_[src] / (degrees_[src] * scale_[dst]);
    Column r(n_);
    for (int node = 0; node < n_; ++node)
      r[node] = x[node] - (h[node] - (1 - Real(alpha_)) * sent[node]) / Real(alpha_);
    return r;
  }

  /// By node, how far a residue of one there can move h in the 1-norm: 1 at most for
  /// `mass`; for the others the column sums of alpha (I - (1-alpha) Q)^-1.
  Column Weights() const {
    if (power_ == 0.0) return Column(n_, 1);
    Column weights(n_, 0);
    for (int node = 0; node < n_; ++node) {
      Column unit(n_, 0);
      unit[node] = 1;
      for (const Real value : Embed(std::move(unit))) weights[node] += value;
    }
    return weights;
  }

 private:
  void Factor(std::vector<Column> matrix) {
    order_.resize(n_);
    for (int pivot = 0; pivot < n_; ++pivot) {
      int best = pivot;
      for (int row = pivot + 1; row < n_; ++row) {
        if (std::abs(matrix[row][pivot]) > std::abs(matrix[best][pivot])) best = row;
      }
      order_[pivot] = best;
      std::swap(matrix[pivot], matrix[best]);
      for (int row = pivot + 1; row < n_; ++row) {
        Real& factor = matrix[row][pivot];
        if (factor == 0) continue;
        factor /= matrix[pivot][pivot];
        for (int column = pivot + 1; column < n_; ++column)
          matrix[row][column] -= factor * matrix[pivot][column];
      }
    }
    factors_ = std::move(matrix);
  }

  Column SolveMass(Column b) const {
    for (int pivot = 0; pivot < n_; ++pivot) std::swap(b[pivot], b[order_[pivot]]);
    for (int row = 0; row < n_; ++row) {
      for (int column = 0; column < row; ++column)
        b[row] -= factors_[row][column] * b[column];
    }
    for (int row = n_ - 1; row >= 0; --row) {
      for (int column = row + 1; column < n_; ++column)
        b[row] -= factors_[row][column] * b[column];
      b[row] /= factors_[row][row];
    }
    return b;
  }

  const test::ArcSet arcs_;
  int n_;
  double alpha_;
  double power_;
  Column degrees_;
  Column scale_;  // d^b
  std::vector<Column> factors_;
  std::vector<int> order_;
};

/// The 1-norm.
inline Real SizeOf(const Column& column) {
  Real sum = 0;
  for (const Real value : column) sum += std::abs(value);
  return sum;
}

}  // namespace coden::property
