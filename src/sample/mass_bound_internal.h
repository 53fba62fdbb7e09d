// The bounds that need degrees and x_max only; shift_bound.cc defines all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "coden/sample/shift_bound.h"

namespace coden {

/// What all bounds share: x_max by node, its sum over the nodes present, and the L1 norm
/// of the change of one column of P.
template <typename Graph>
class MassAccumulator : public BasicShiftAccumulator<Graph> {
 public:
  void SetLargestEntry(NodeId node, float largest) override {
    Grow(node + 1);
    if (present_[node]) mass_ += static_cast<double>(largest) - x_max_[node];
    x_max_[node] = largest;
  }

  void SetPresent(NodeId node) override {
    Grow(node + 1);
    if (present_[node]) return;
    present_[node] = true;
    ++num_present_;
    mass_ += x_max_[node];
  }

  void Prefetch(NodeId node) const override {
    if (node < static_cast<NodeId>(x_max_.size())) __builtin_prefetch(&x_max_[node]);
  }

  double mass() const override { return mass_; }
  // The sum as it was, to the last bit: it depends on the order of its terms.
  void Restart(const Graph& graph, double mass) override {
    mass_ = mass;
    this->Reset(graph);
  }

  void BeforeChange(const Graph& graph, NodeId node) override {
    degree_before_ = graph.out_degree(node);
  }

  void AfterChange(const Graph& graph, NodeId node) override {
    const std::int64_t after = graph.out_degree(node);
    const bool to_or_from_zero = degree_before_ == 0 || after == 0;
    const auto larger = static_cast<double>(std::max(degree_before_, after));
    ColumnChange(node, to_or_from_zero ? 1.0 : 2.0 / larger);
  }

 protected:
  // Column `node` of P has changed by `norm` in the L1 norm.
  virtual void ColumnChange(NodeId node, double norm) = 0;

  virtual void Grow(NodeId num_nodes) {
    if (num_nodes <= static_cast<NodeId>(x_max_.size())) return;
    x_max_.resize(num_nodes, 0.0);
    present_.resize(num_nodes, false);
  }

  double x_max(NodeId node) const { return x_max_[node]; }
  std::int64_t num_present() const { return num_present_; }

 private:
  std::vector<double> x_max_;
  std::vector<bool> present_;
  std::int64_t num_present_ = 0;
  double mass_ = 0.0;
  std::int64_t degree_before_ = 0;
};

template <typename Graph>
class RelativeBound final : public MassAccumulator<Graph> {
 public:
  explicit RelativeBound(double alpha) : factor_((1.0 - alpha) / alpha) {}

  void FeatureChange(NodeId, float largest_change) override { Add(largest_change); }
  void EndEvent(const Graph&) override {}
  double sigma() const override { return sigma_; }
  void Reset(const Graph&) override { sigma_ = 0.0; }

 private:
  void ColumnChange(NodeId node, double norm) override {
    Add(factor_ * norm * this->x_max(node));
  }
  // Relative to the mass at the time of the event: what comes later is not known then.
  void Add(double shift) { sigma_ += this->mass() > 0.0 ? shift / this->mass() : 0.0; }

  double factor_;
  double sigma_ = 0.0;
};

template <typename Graph>
class PaperBound final : public MassAccumulator<Graph> {
 public:
  PaperBound(double alpha, double epsilon)
      : factor_((1.0 - alpha) / alpha), epsilon_(epsilon) {}

  void FeatureChange(NodeId, float largest_change) override { sigma_ += largest_change; }
  void EndEvent(const Graph&) override {
    sigma_ += 2.0 * static_cast<double>(this->num_present()) * epsilon_;
  }
  double sigma() const override { return sigma_; }
  void Reset(const Graph&) override { sigma_ = 0.0; }

 private:
  void ColumnChange(NodeId node, double norm) override {
    sigma_ += factor_ * norm * this->x_max(node);
  }

  double factor_;
  double epsilon_;
  double sigma_ = 0.0;
};

}  // namespace coden
