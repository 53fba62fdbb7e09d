// An upper bound on one non-negative column z = alpha (I - (1-alpha) P)^-1 x.
//
// Keeps h and r with the invariant h + PPR(r) = z (docs/corrections.md) by two steps:
// r += ((1-alpha)/alpha) (P' - P) h for a change of the graph, then pushes. Since PPR is
// linear and non-negative, z(w) <= h(w) + PPR(r+)(w) with r+ the positive part.
//
// Undirected: random walks are reversible, d(v) PPR(e_v)(w) = d(w) PPR(e_w)(v), so when
// r(v) <= tolerance * d(v) for every v,
//     PPR(r+)(w) <= d(w) * tolerance * sum_v PPR(e_w)(v) <= tolerance * d(w).
// The push that keeps this is local: an event costs at most the residue it makes divided
// by alpha * tolerance arcs, whatever the size of the graph (Andersen, Chung, Lang 2006).
// The tolerance is a share of mass / arcs, which is what z(w) / d(w) is on average.
//
// Directed: a walk gives a node at most alpha / (1 - (1-alpha)^2) = 1 / (2-alpha) of the
// mass it starts with, because it needs two steps to come back (all of it where there are
// loops). So PPR(r+)(w) <= ||r+||_1 / (2-alpha). Pushing this sum down reaches every part
// of the graph, so it is left to grow until it makes up a good part of the bound.

#include "sample/column_bound_internal.h"

#include <algorithm>
#include <cmath>

namespace coden {

namespace {

// How close the bound stays, weighed on DBLP (28,085 nodes, 150,568 edges, lambda 0.1):
// undirected, a share of 1 / 0.1 / 0.01 gives 363 / 173 / 150 snapshots in 0.2 / 0.3 /
// 0.9 s. Directed, the sum of residues is pushed to that share of the mean feature.
constexpr double kUndirectedShare = 0.1;
constexpr double kDirectedShare = 3.0;
// Directed: push when the residue has given more than this part of what h has.
constexpr double kResiduePart = 0.5;

}  // namespace

ColumnBound::ColumnBound(double alpha, bool directed)
    : alpha_(alpha), directed_(directed), largest_share_(1.0 / (2.0 - alpha)) {}

void ColumnBound::Grow(NodeId num_nodes) {
  if (num_nodes <= static_cast<NodeId>(h_.size())) return;
  h_.resize(num_nodes, 0.0);
  r_.resize(num_nodes, 0.0);
  queued_.resize(num_nodes, false);
}

void ColumnBound::SetFirst(NodeId node, double x) { h_[node] += alpha_ * x; }

void ColumnBound::Change(NodeId node, double difference) { AddResidue(node, difference); }

void ColumnBound::Clear(const DynamicGraph& graph) {
  std::fill(h_.begin(), h_.end(), 0.0);
  std::fill(r_.begin(), r_.end(), 0.0);
  positive_residue_ = 0.0;
  for (NodeId node = 0; node < graph.num_nodes(); ++node) {
    if (graph.HasArc(node, node)) largest_share_ = 1.0;
  }
}

void ColumnBound::AddResidue(NodeId node, double amount) {
  const double before = r_[node];
  r_[node] += amount;
  positive_residue_ += std::max(r_[node], 0.0) - std::max(before, 0.0);
  if (queued_[node]) return;
  queued_[node] = true;
  queue_.push_back(node);
}

void ColumnBound::EnqueueAll() {
  positive_residue_ = 0.0;
  for (NodeId node = 0; node < static_cast<NodeId>(r_.size()); ++node) {
    positive_residue_ += std::max(r_[node], 0.0);
    if (r_[node] == 0.0 || queued_[node]) continue;
    queued_[node] = true;
    queue_.push_back(node);
  }
}

void ColumnBound::Settle(const DynamicGraph& graph, const NeighbourhoodChanges& changes,
                         double mass) {
  const double factor = (1.0 - alpha_) / alpha_;
  // Both ends of an undirected edge change, so a node whose degree, and with it its
  // tolerance, has changed is among the neighbours of another one and is looked at again.
  for (const auto& change : changes.changes()) {
    const auto after = graph.out_neighbours(change.node);
    const double amount = factor * h_[change.node];
    for (const NodeId node : change.before) {
      AddResidue(node, -amount / static_cast<double>(change.before.size()));
    }
    for (const NodeId node : after) {
      AddResidue(node, amount / static_cast<double>(after.size()));
      if (node == change.node) largest_share_ = 1.0;
    }
  }
  if (graph.num_arcs() >= 2 * tuned_arcs_) {
    Tune(graph, mass);
  } else if (!directed_ || from_residue_ > kResiduePart * from_reserve_) {
    Push(graph);
  }
}

void ColumnBound::Tune(const DynamicGraph& graph, double mass) {
  if (mass > 0.0) {
    tuned_arcs_ = std::max<std::int64_t>(graph.num_arcs(), 1);
    const auto num_nodes = static_cast<double>(graph.num_nodes());
    tolerance_ = directed_ ? kDirectedShare * mass / (num_nodes * num_nodes)
                           : kUndirectedShare * mass / static_cast<double>(tuned_arcs_);
  }
  EnqueueAll();
  Push(graph);
}

void ColumnBound::Push(const DynamicGraph& graph) {
  for (std::size_t next = 0; next < queue_.size(); ++next) {
    const NodeId node = queue_[next];
    queued_[node] = false;
    const auto neighbours = graph.out_neighbours(node);
    const auto degree = static_cast<double>(neighbours.size());
    const double residue = r_[node];
    if (std::abs(residue) <= tolerance_ * (directed_ ? 1.0 : degree)) continue;
    h_[node] += alpha_ * residue;
    r_[node] = 0.0;
    positive_residue_ -= std::max(residue, 0.0);
    for (const NodeId neighbour : neighbours) {
      AddResidue(neighbour, (1.0 - alpha_) * residue / degree);
    }
  }
  queue_.clear();
  from_reserve_ = from_residue_ = 0.0;
}

double ColumnBound::Upper(NodeId node, std::int64_t degree) {
  const double residue = directed_ ? largest_share_ * positive_residue_
                                   : tolerance_ * static_cast<double>(degree);
  from_reserve_ += std::abs(h_[node]);
  from_residue_ += residue;
  // A sum of residues that cancel may be a rounding below zero; z is not.
  return std::max(0.0, h_[node] + residue);
}

}  // namespace coden
