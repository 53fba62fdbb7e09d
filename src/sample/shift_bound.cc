// Bounds on the shift of the embeddings, ||Z' - Z||_1 per column, event by event.
//
// With P the matrix before an event and P' after it,
//     Z' - Z = ((1-alpha)/alpha) * PPR'((P' - P) z),   so   ||Z' - Z||_1 <=
//     ((1-alpha)/alpha) ||(P'-P) z||_1,
// because PPR' does not enlarge the L1 norm. An event at u changes only column u of P,
// from 1/d on the old neighbours to 1/d' on the new ones: with D the larger of the two
// degrees that is 2/D in the L1 norm, or 1 where one of them is 0. A change dx of
// features moves z by at most |dx|, without the factor.
//
//   relative  sum of ((1-alpha)/alpha) * (2/D or 1) * x_max(u), divided by the sum of
//             x_max over the nodes present. x_max(u) = max_j |X[u,j]| stands for z(u), so
//             this is an estimate: a hub can hold more than its own features.
//   paper     the same sum, not divided, plus 2 n epsilon for every event.
//   strict    z^ = PPR of the non-negative column x_max satisfies |z_j(u)| <= z^(u) for
//             every column j, so with z^(u) in place of x_max(u) the sum is a true bound,
//             divided by the mass of now. z^ is itself bounded from above by a local push
//             after every event (column_bound.cc), with no graph-wide work in between.

#include "coden/sample/shift_bound.h"

#include <algorithm>
#include <vector>

#include "sample/column_bound_internal.h"
#include "sample/mass_bound_internal.h"
#include "sample/neighbourhood_changes_internal.h"

namespace coden {

namespace {

class StrictBound final : public MassAccumulator<DynamicGraph> {
 public:
  StrictBound(double alpha, bool directed)
      : factor_((1.0 - alpha) / alpha), column_(alpha, directed) {}

  void SetLargestEntry(NodeId node, float largest) override {
    Grow(node + 1);
    const double difference = static_cast<double>(largest) - x_max(node);
    if (known_[node]) {
      column_.Change(node, difference);
      features_changed_ = true;
    } else {
      column_.SetFirst(node, difference);
      known_[node] = true;
    }
    MassAccumulator::SetLargestEntry(node, largest);
  }

  void FeatureChange(NodeId, float largest_change) override { shift_ += largest_change; }

  void BeforeChange(const DynamicGraph& graph, NodeId node) override {
    MassAccumulator::BeforeChange(graph, node);
    Grow(graph.num_nodes());
    if (features_changed_ && changes_.empty()) Settle(graph);
    // All changes of one event are measured with z^ before it, on one graph.
    const std::size_t num_changes = changes_.changes().size();
    changes_.BeforeChange(graph, node);
    if (changes_.changes().size() > num_changes) {
      upper_[node] = column_.Upper(node, graph.out_degree(node));
    }
  }

  void EndEvent(const DynamicGraph& graph) override {
    if (!changes_.empty()) Settle(graph);
  }

  double sigma() const override { return mass() > 0.0 ? shift_ / mass() : 0.0; }

  // The bound on z^ is made anew from the features, not put back: it is as good, though
  // not the same to the last bit.
  void Restart(const DynamicGraph& graph, double mass) override {
    column_.Clear(graph);
    for (NodeId node = 0; node < static_cast<NodeId>(known_.size()); ++node) {
      if (known_[node]) column_.Change(node, x_max(node));
    }
    MassAccumulator::Restart(graph, mass);
  }

  void Reset(const DynamicGraph& graph) override {
    shift_ = 0.0;
    Settle(graph);
    column_.Tune(graph, mass());
  }

 private:
  void Grow(NodeId num_nodes) override {
    MassAccumulator::Grow(num_nodes);
    if (num_nodes <= static_cast<NodeId>(known_.size())) return;
    known_.resize(num_nodes, false);
    upper_.resize(num_nodes, 0.0);
    column_.Grow(num_nodes);
  }

  void ColumnChange(NodeId node, double norm) override {
    shift_ += factor_ * norm * upper_[node];
  }

  void Settle(const DynamicGraph& graph) {
    Grow(graph.num_nodes());
    column_.Settle(graph, changes_, mass());
    changes_.Clear();
    features_changed_ = false;
  }

  double factor_;
  ColumnBound column_;
  NeighbourhoodChanges changes_;  // of the event that is under way
  std::vector<bool> known_;       // by node: has been given features
  std::vector<double> upper_;     // by node of `changes_`: at least z^ before the event
  bool features_changed_ = false;
  double shift_ = 0.0;  // not divided by the mass
};

}  // namespace

std::unique_ptr<ShiftAccumulator> MakeShiftAccumulator(const SampleOptions& sample,
                                                       const EmbedOptions& embed,
                                                       bool directed) {
  switch (sample.bound) {
    case ShiftBound::kPaper:
      return std::make_unique<PaperBound<DynamicGraph>>(embed.alpha, embed.epsilon);
    case ShiftBound::kStrict:
      return std::make_unique<StrictBound>(embed.alpha, directed);
    case ShiftBound::kRelative:
      break;
  }
  return std::make_unique<RelativeBound<DynamicGraph>>(embed.alpha);
}

}  // namespace coden
