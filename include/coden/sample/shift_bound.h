#pragma once

#include <cstdint>
#include <memory>

#include "coden/embed/embed_options.h"
#include "coden/graph/event_graph.h"
#include "coden/sample/sample_options.h"

namespace coden {

/// Bound how far the embeddings have moved since the last Reset. One of three bounds,
/// chosen by `sample.bound`; their definitions are at the head of shift_bound.cc.
///
/// The owner forwards every arc change of its graph (ArcObserver) and every change of
/// features.
class ShiftAccumulator : public ArcObserver {
 public:
  static std::unique_ptr<ShiftAccumulator> Make(const SampleOptions& sample,
                                                const EmbedOptions& embed, bool directed);

  /// The features of `node` now have this largest absolute entry. Its first call for a
  /// node comes before the node's first arc.
  virtual void SetLargestEntry(NodeId node, float largest) = 0;

  /// `node` is present from now on: it counts in the mass that relative bounds are
  /// relative to.
  virtual void SetPresent(NodeId node) = 0;

  /// The features of `node` move by at most `largest_change` per column.
  virtual void FeatureChange(NodeId node, float largest_change) = 0;

  /// One row of the log has been applied to `graph`.
  virtual void EndEvent(const DynamicGraph& graph) = 0;

  /// The bound since the last Reset.
  virtual double sigma() const = 0;

  /// A snapshot of `graph` is taken: start again at zero.
  virtual void Reset(const DynamicGraph& graph) = 0;
};

}  // namespace coden
