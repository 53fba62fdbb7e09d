#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <arrow/result.h>

#include "coden/graph/event_graph.h"
#include "coden/sample/schedule.h"
#include "coden/sample/shifted_graph.h"
#include "coden/settings/embed_options.h"
#include "coden/settings/sample_options.h"

namespace coden {

/// Where a sampler stands at the last prediction time of a log, besides its graph.
struct SamplerMemory {
  int num_snapshots = 0;
  int prediction = 0;  ///< interval that opens next
  std::int64_t num_events = 0;
  double mass = 0.0;
  EventCounts counts;
};

/// What it knows of a node.
struct SampledNode {
  std::int32_t since = -1;  ///< the first snapshot that has it; -1: not seen yet
  float largest = 0.0f;     ///< absolute entry of its features
  EventTime first_event = kNever;
  std::int32_t arrival = -1;  ///< its place in the order of first events

  static constexpr EventTime kNever = -1;
  bool seen() const { return since >= 0; }
};

/// Hear of every snapshot that the sampler takes, with the net changes of the graph since
/// the one before. `graph` is that of the snapshot.
using OnSampled =
    std::function<void(const SchedulePoint& point, const std::vector<EdgeChange>& changes,
                       const ShiftedGraph& graph)>;

/// Decide where snapshots are taken: at every prediction time, and between two of them
/// whenever the bound on the shift of the embeddings passes lambda. Needs degrees and
/// x_max, never an embedding. Knows no Arrow; ScheduleSampler wraps it as a stage.
class LazySampler {
 public:
  /// The largest absolute entry of a node's features, asked once, when it is first seen.
  using LargestEntry = std::function<float(NodeId)>;

  LazySampler(const SampleOptions& sample, const EmbedOptions& embed,
              const GraphOptions& graph, LargestEntry largest_entry);

  /// From now on, collect the changes of the graph and hand them to `on_sampled`.
  void Record(OnSampled on_sampled);

  /// `node` is present from now on, because it has features.
  void AddNode(NodeId node) { SeeNode(node); }

  /// Apply one event. Points that are due before it are appended to `schedule`.
  arrow::Status OnEvent(const EdgeEvent& event, Schedule* schedule);

  /// The features of `node` change to a vector with this largest absolute entry.
  void OnFeatureUpdate(NodeId node, float largest, Schedule* schedule);

  /// The initial graph ends at `time`.
  void OnStart(EventTime time, Schedule* schedule);

  /// Prediction time `time` closes.
  void OnPredict(EventTime time, Schedule* schedule);

  /// `event`, which is one of an edge, comes soon.
  void Prefetch(const EdgeEvent& event) const {
    graph_->Prefetch(event);
    if (std::max(event.src, event.dst) < static_cast<NodeId>(nodes_.size())) {
      __builtin_prefetch(&nodes_[event.src]);
      __builtin_prefetch(&nodes_[event.dst]);
    }
  }

  /// Where the sampler stands; only just after a prediction time.
  SamplerMemory Memory() const;
  /// Put another one's state back into a new sampler: nodes, then every edge and expiry
  /// of its graph (graph()), then the rest.
  void RestoreNode(NodeId node, const SampledNode& known);
  ShiftedGraph& graph() { return *graph_; }
  void Restore(const SamplerMemory& memory);

  const EventCounts& counts() const { return graph_->counts(); }
  /// Changes that are recorded and not handed over yet.
  std::int64_t num_recorded() const { return changes_.size(); }
  std::int64_t num_events() const { return num_events_; }
  /// With a window: the most insertions that have waited for their expiry at once.
  std::int64_t most_pending() const { return most_pending_; }
  /// By node; nodes behind the last are not known.
  const std::vector<SampledNode>& nodes() const { return nodes_; }

 private:
  void MakeRoomFor(NodeId node);
  void See(NodeId node, float largest);
  void SeeNode(NodeId node);
  void SeeInEvent(NodeId node, EventTime time);
  SchedulePoint PointAt(EventTime time) const;
  void Take(SchedulePoint point, Schedule* schedule);
  void FlushPending(Schedule* schedule);

  SampleOptions options_;
  bool has_window_;
  std::unique_ptr<ShiftedGraph> graph_;
  LargestEntry largest_entry_;
  OnSampled on_sampled_;
  NetChanges changes_;  // since the last snapshot, where they are recorded
  std::vector<SampledNode> nodes_;
  std::int64_t num_seen_ = 0;
  std::int32_t num_arrived_ = 0;
  std::int64_t num_events_ = 0;
  std::int64_t most_pending_ = 0;
  int prediction_ = 0;         // interval that is open; 0 while the initial graph grows
  int taken_in_interval_ = 0;  // snapshots strictly inside it
  int num_snapshots_ = 0;
  // The bound passed lambda after the last event. The point is taken when the next event
  // shows that the interval goes on; at a prediction time it would be taken twice.
  bool pending_ = false;
  EventTime last_time_ = 0;
};

}  // namespace coden
