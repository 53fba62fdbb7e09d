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
#include "coden/sample/lazy_sampler.h"
#include "support/event_fed_graph.h"
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
    nodes_->Freeze();
    followed_ = FollowEvents(events_, schedule_, graph, num_nodes);
  }

  const Schedule& schedule() const { return schedule_; }

  /// An embedder of some of the columns that goes on after the first `num_done`
  /// snapshots. Its engine waits to be given what another one had become.
  std::unique_ptr<Embedder> Make(const ColumnRange& columns, int num_done = 0) {
    EmbedderOptions options;
    options.embed.epsilon = epsilon_;
    options.directed = graph_.directed;
    options.columns = columns;
    graphs_.push_back(followed_.Graphs());
    return Embedder::Make(options, schedule_, num_done, followed_.times, *graphs_.back(),
                          features_, *nodes_)
        .ValueOrDie();
  }
  std::unique_ptr<Embedder> MakeAll(int num_done = 0) {
    return Make({0, num_columns_}, num_done);
  }

  /// Embed the next `num_snapshots` snapshots. Returns the nodes and all numbers that
  /// come out as bits.
  static std::vector<std::uint32_t> Take(Embedder& embedder, int num_snapshots) {
    std::vector<std::uint32_t> bits;
    for (int i = 0; i < num_snapshots; ++i) {
      // A snapshot of so few rows is one batch.
      BatchPtr batch;
      CODEN_EXPECT_OK(embedder.ReadNext(&batch));
      const auto& nodes = static_cast<const arrow::Int32Array&>(*batch->column(1));
      const auto& lists = static_cast<const arrow::ListArray&>(*batch->column(2));
      const auto& floats = static_cast<const arrow::FloatArray&>(*lists.values());
      for (std::int64_t row = 0; row < batch->num_rows(); ++row)
        bits.push_back(static_cast<std::uint32_t>(nodes.Value(row)));
      for (std::int64_t at = 0; at < floats.length(); ++at)
        bits.push_back(std::bit_cast<std::uint32_t>(floats.Value(at)));
    }
    return bits;
  }
  std::vector<std::uint32_t> TakeAllAfter(Embedder& embedder, int num_done) const {
    return Take(embedder, static_cast<int>(schedule_.size()) - num_done);
  }

 private:
  GraphOptions graph_;
  double epsilon_;
  int num_columns_;
  std::unique_ptr<NodeIdMap> nodes_;
  NodeFeatures features_;
  std::vector<EdgeEvent> events_;
  Schedule schedule_;
  Followed followed_;
  std::vector<std::unique_ptr<GraphSource>> graphs_;  // of the embedders
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
