#pragma once

#include <cstdint>
#include <memory>

#include "coden/graph/event_graph.h"
#include "coden/settings/embed_options.h"
#include "coden/settings/sample_options.h"

namespace coden {

/// Bound how far the embeddings have moved since the last Reset. One of three bounds,
/// chosen by `sample.bound`; their definitions are at the head of shift_bound.cc.
///
/// The owner forwards every arc change of its graph (ArcObserver) and every change of
/// features.
template <typename Graph>
class BasicShiftAccumulator : public BasicArcObserver<Graph> {
 public:
  /// The features of `node` now have this largest absolute entry. Its first call for a
  /// node comes before the node's first arc.
  virtual void SetLargestEntry(NodeId node, float largest) = 0;

  /// `node` is present from now on: it counts in the mass that relative bounds are
  /// relative to.
  virtual void SetPresent(NodeId node) = 0;

  /// The features of `node` move by at most `largest_change` per column.
  virtual void FeatureChange(NodeId node, float largest_change) = 0;

  /// An arc of `node` changes soon.
  virtual void Prefetch(NodeId node) const = 0;

  /// One row of the log has been applied to `graph`.
  virtual void EndEvent(const Graph& graph) = 0;

  /// The bound since the last Reset.
  virtual double sigma() const = 0;

  /// A snapshot of `graph` is taken: start again at zero.
  virtual void Reset(const Graph& graph) = 0;

  /// The sum of the largest entries of the nodes present.
  virtual double mass() const = 0;
  /// `graph` was put back without a word to the accumulator, after every node got its
  /// largest entry; the sum was `mass`. Go on as after a Reset.
  virtual void Restart(const Graph& graph, double mass) = 0;
};

using ShiftAccumulator = BasicShiftAccumulator<DynamicGraph>;

std::unique_ptr<ShiftAccumulator> MakeShiftAccumulator(const SampleOptions& sample,
                                                       const EmbedOptions& embed,
                                                       bool directed);

}  // namespace coden
