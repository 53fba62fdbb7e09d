#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <arrow/status.h>

#include "coden/graph/event_graph.h"
#include "coden/settings/embed_options.h"
#include "coden/settings/sample_options.h"

namespace coden {

/// The graph of the events so far with a bound on how far the embeddings have moved since
/// the last Reset: an event graph and the ShiftAccumulator that watches it. Keeps
/// neighbours only where the bound needs them.
class ShiftedGraph {
 public:
  static std::unique_ptr<ShiftedGraph> Make(const SampleOptions& sample,
                                            const EmbedOptions& embed,
                                            const GraphOptions& graph);
  virtual ~ShiftedGraph() = default;

  virtual const GraphOptions& options() const = 0;
  virtual void Grow(NodeId num_nodes) = 0;
  /// See BasicEventGraph.
  virtual arrow::Status Apply(const EdgeEvent& event) = 0;
  virtual void ExpireUntil(EventTime time) = 0;
  /// `event` comes soon.
  virtual void Prefetch(const EdgeEvent& event) const = 0;
  virtual const EventCounts& counts() const = 0;
  virtual std::int64_t num_edges() const = 0;
  /// With a window: the insertions that will still expire, oldest first.
  virtual const std::deque<PendingExpiry>& pending_expiries() const = 0;
  /// All edges, sorted.
  virtual std::vector<EdgeChange> Edges() const = 0;
  virtual void RecordTo(NetChanges* changes) = 0;

  /// See BasicShiftAccumulator.
  virtual void SetLargestEntry(NodeId node, float largest) = 0;
  virtual void SetPresent(NodeId node) = 0;
  virtual void FeatureChange(NodeId node, float largest_change) = 0;
  virtual double sigma() const = 0;
  virtual void Reset() = 0;
  virtual double mass() const = 0;

  /// Put back what another one had become (BasicEventGraph), after every node has got its
  /// largest entry; Restart comes last.
  virtual void RestoreEdge(NodeId src, NodeId dst) = 0;
  virtual void RestoreExpiry(const PendingExpiry& insertion) = 0;
  virtual void Restart(const EventCounts& counts, double mass) = 0;
};

}  // namespace coden
