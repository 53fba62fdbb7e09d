#pragma once

#include <bit>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <gtest/gtest.h>

#include "coden/embed/embedder.h"
#include "coden/read/event_batch.h"
#include "coden/sample/lazy_sampler.h"
#include "support/status.h"

namespace coden::test {

/// A small random log with its schedule, for embedders that are stopped and go on. Nodes
/// have the ids 0, 10, 20, ..., and random features.
class EmbedderRun {
 public:
  EmbedderRun(const GraphOptions& graph, double epsilon, int num_columns, unsigned seed,
              NodeId num_nodes = 30, int num_events = 400)
      : graph_(graph), epsilon_(epsilon), num_columns_(num_columns) {
    nodes_ = NodeIdMap::Make(arrow::int64()).ValueOrDie();
    arrow::Int64Builder ids;
    for (NodeId node = 0; node < num_nodes; ++node)
      EXPECT_TRUE(ids.Append(10 * node).ok());
    std::vector<NodeId> ignored;
    EXPECT_TRUE(nodes_->Encode(*ids.Finish().ValueOrDie(), &ignored).ok());
    InputOptions input;
    input.random_features = num_columns;
    input.random_seed = seed;
    features_ = NodeFeatures::Open(input, *nodes_).ValueOrDie();
    std::mt19937 random(seed);
    for (int i = 0; i < num_events; ++i) {
      // Not every node has an event by the first snapshots.
      const auto seen =
          static_cast<unsigned>(num_nodes / 2 + num_nodes * i / 2 / num_events);
      events_.push_back({static_cast<NodeId>(random() % seen),
                         static_cast<NodeId>(random() % seen), i / 4,
                         EventKind::kToggle});
    }
    LazySampler sampler({.bound = ShiftBound::kRelative, .lambda = 1.0}, {}, graph,
                        [](NodeId) { return 1.0f; });
    for (std::size_t i = 0; i < events_.size(); ++i) {
      EXPECT_TRUE(sampler.OnEvent(events_[i], &schedule_).ok());
      if (i == 99) sampler.OnStart(events_[i].time, &schedule_);
      if (i % 100 == 99 && i > 99) sampler.OnPredict(events_[i].time, &schedule_);
    }
  }

  const Schedule& schedule() const { return schedule_; }
  NodeIdMap& nodes() { return *nodes_; }

  /// An embedder of some of the columns that has taken the first `num_snapshots`
  /// snapshots, or waits after them to be given what another one had become.
  std::unique_ptr<Embedder> Make(const ColumnRange& columns) {
    EmbedderOptions options;
    options.embed.epsilon = epsilon_;
    options.graph = graph_;
    options.columns = columns;
    auto embedder = Embedder::Make(options, schedule_, features_, *nodes_).ValueOrDie();
    EXPECT_TRUE(embedder->Bind(nullptr).ok());
    return embedder;
  }
  std::unique_ptr<Embedder> MakeAll() { return Make({0, num_columns_}); }

  /// Push the events between two snapshots; take all numbers that come out as bits.
  std::vector<std::uint32_t> Push(Embedder& embedder, int from_snapshot,
                                  int to_snapshot) {
    const std::int64_t begin =
        from_snapshot == 0 ? 0 : schedule_[from_snapshot - 1].events;
    EventBatchBuilder events;
    for (std::int64_t i = begin; i < schedule_[to_snapshot - 1].events; ++i)
      events.Append(events_[i]);
    std::vector<std::uint32_t> bits;
    CODEN_EXPECT_OK(embedder.Push(events.Finish(), [&](const BatchPtr& batch) {
      const auto& lists = static_cast<const arrow::ListArray&>(*batch->column(2));
      const auto& floats = static_cast<const arrow::FloatArray&>(*lists.values());
      for (std::int64_t row = 0; row < batch->num_rows(); ++row) {
        bits.push_back(static_cast<std::uint32_t>(
            static_cast<const arrow::Int64Array&>(*batch->column(1)).Value(row)));
      }
      for (std::int64_t i = 0; i < floats.length(); ++i)
        bits.push_back(std::bit_cast<std::uint32_t>(floats.Value(i)));
      return arrow::Status::OK();
    }));
    return bits;
  }

 private:
  GraphOptions graph_;
  double epsilon_;
  int num_columns_;
  std::unique_ptr<NodeIdMap> nodes_;
  NodeFeatures features_;
  std::vector<EdgeEvent> events_;
  Schedule schedule_;
};

/// Directed or not, with loops or not, with a window or not.
inline std::vector<GraphOptions> AllGraphs() {
  std::vector<GraphOptions> graphs;
  for (const bool directed : {false, true}) {
    for (const bool self_loops : {false, true}) {
      for (const EventTime window : {0, 30}) {
        graphs.push_back({.events = EventMode::kToggle,
                          .directed = directed,
                          .self_loops = self_loops,
                          .window = window});
      }
    }
  }
  return graphs;
}

}  // namespace coden::test
