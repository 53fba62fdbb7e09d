#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "coden/embed/label_embedder.h"
#include "support/dense_ppr.h"
#include "support/event_fed_graph.h"

namespace coden::test {

inline constexpr NodeId kNumNodes = 30;
// The last ones have no event; some of them have labels.
inline constexpr NodeId kInEvents = 26;
inline constexpr int kNumClasses = 3;
inline constexpr int kNumEvents = 240;
inline constexpr double kEpsilon = 1e-9;
inline constexpr EventTime kAlways = std::numeric_limits<EventTime>::min();

/// A log, its schedule and labels. Every third node is not in training.
struct LabelTask {
  explicit LabelTask(unsigned seed, int num_folds) {
    std::mt19937 random(seed);
    for (int i = 0; i < kNumEvents; ++i) {
      // A node's edges come in bursts, so that some windows leave it without any.
      const auto near = static_cast<NodeId>(i / 20);
      events.push_back({static_cast<NodeId>((near + random() % 8) % kInEvents),
                        static_cast<NodeId>(random() % kInEvents), i / 3,
                        EventKind::kInsert});
    }
    Add(0, /*at_prediction=*/false, 0);
    for (std::int64_t count = 40; count <= kNumEvents; count += 40) {
      const EventTime last = events[count - 1].time;
      Add(count, /*at_prediction=*/false, last);
      if (count % 80 != 0) continue;
      // Nothing new but the time, twice: expiry alone, and no change at all.
      Add(count, /*at_prediction=*/true, last + 9);
      Add(count, /*at_prediction=*/true, last + 9);
      for (std::int64_t later = count; later < kNumEvents; ++later)
        events[later].time += 10;
    }
    for (NodeId node = 0; node < kNumNodes; ++node) {
      if (node % 3 == 2) continue;
      const auto fold = static_cast<int>(random() % num_folds);
      const auto label = [&] { return static_cast<int>(random() % kNumClasses); };
      const EventTime from =
          node % 4 == 0 ? static_cast<EventTime>(random() % 80) : kAlways;
      seeds.push_back({node, fold, label(), from});
      if (node % 5 == 0) seeds.push_back({node, fold, label(), 50});
    }
  }

  void Add(std::int64_t num_events, bool at_prediction, EventTime time) {
    SchedulePoint point;
    point.snapshot = static_cast<int>(schedule.size());
    point.at_prediction = at_prediction;
    point.time = time;
    point.events = num_events;
    point.num_nodes = num_events == 0 ? 0 : kNumNodes;
    schedule.push_back(point);
  }

  /// The edges that are there at a snapshot.
  ArcSet ArcsAt(const SchedulePoint& point, const GraphOptions& graph) const {
    const EventTime now = point.at_prediction ? point.time
                          : point.events == 0 ? 0
                                              : events[point.events - 1].time;
    ArcSet arcs;
    for (std::int64_t i = 0; i < point.events; ++i) {
      const EdgeEvent& event = events[i];
      if (event.src == event.dst) continue;
      if (graph.window > 0 && event.time <= now - graph.window) continue;
      arcs.insert({event.src, event.dst});
      if (!graph.directed) arcs.insert({event.dst, event.src});
    }
    return arcs;
  }

  /// One-hot labels known at `time` of the nodes outside `fold`.
  Matrix LabelsWithout(int fold, EventTime time) const {
    std::map<NodeId, LabelSeed> known;
    for (const LabelSeed& seed : seeds) {
      if (seed.from > time) continue;
      const auto found = known.find(seed.node);
      if (found == known.end() || found->second.from <= seed.from)
        known[seed.node] = seed;
    }
    Matrix labels = Zeros(kNumNodes, kNumClasses);
    for (const auto& [node, seed] : known)
      if (seed.fold != fold && seed.label >= 0) labels[node][seed.label] = 1.0;
    return labels;
  }

  /// The history of the graph with one window, as the first pass over the log leaves it.
  Followed Follow(GraphOptions graph, EventTime window) const {
    graph.window = window;
    return FollowEvents(events, schedule, graph, kNumNodes);
  }
  /// A source of graphs for every window.
  std::vector<std::unique_ptr<GraphSource>> Graphs(
      const LabelEmbedderOptions& options) const {
    std::vector<std::unique_ptr<GraphSource>> graphs;
    for (const EventTime window : options.windows)
      graphs.push_back(Follow(options.graph, window).Graphs());
    return graphs;
  }
  /// When the nodes came, which no window changes.
  std::shared_ptr<const NodeTimes> Times() const { return Follow({}, 0).times; }

  std::map<NodeId, int> Folds() const {
    std::map<NodeId, int> folds;
    for (const LabelSeed& seed : seeds) folds[seed.node] = seed.fold;
    return folds;
  }

  std::vector<EdgeEvent> events;
  Schedule schedule;
  std::vector<LabelSeed> seeds;
};

/// Two alphas, two windows.
inline LabelEmbedderOptions LabelOptions(int num_folds) {
  LabelEmbedderOptions options;
  options.embed.epsilon = kEpsilon;
  options.alphas = {0.15, 0.5};
  options.windows = {0, 12};
  options.num_folds = num_folds;
  options.num_classes = kNumClasses;
  return options;
}

inline std::vector<NodeId> AllNodes() {
  std::vector<NodeId> nodes(kNumNodes);
  for (NodeId node = 0; node < kNumNodes; ++node) nodes[node] = node;
  return nodes;
}

}  // namespace coden::test
