#include "coden/partition/partitioner.h"

#include <arrow/type.h>
#include <gtest/gtest.h>

#include "coden/base/error.h"
#include "support/recut.h"

namespace coden {
namespace {

constexpr auto kInsert = EventKind::kInsert;
constexpr auto kStart = EventKind::kStart;
constexpr auto kPredict = EventKind::kPredict;

// One row of the punctuated stream, without its nodes.
struct Row {
  EventKind kind;
  EventTime time;
  bool operator==(const Row&) const = default;
};

BatchPtr EventsAt(const std::vector<EventTime>& times) {
  EventBatchBuilder builder;
  for (std::size_t row = 0; row < times.size(); ++row) {
    const auto node = static_cast<NodeId>(row);
    builder.Append({node, node + 1, times[row], kInsert});
  }
  return builder.Finish();
}

arrow::Result<std::vector<Row>> Partition(const PartitionOptions& options,
                                          const BatchPtr& events, std::uint32_t seed) {
  ARROW_ASSIGN_OR_RAISE(auto clock, PredictionClock::Make(options, events->num_rows()));
  Partitioner partitioner(std::move(clock));
  ARROW_ASSIGN_OR_RAISE(const auto schema, partitioner.Bind(EventSchema()));
  EXPECT_TRUE(schema->Equals(*EventSchema()));
  std::vector<Row> rows;
  NodeId next_node = 0;
  const Emit collect = [&](const BatchPtr& batch) {
    const EventView view(*batch);
    for (std::int64_t row = 0; row < view.size(); ++row) {
      const EdgeEvent event = view[row];
      const bool is_mark = event.kind == kStart || event.kind == kPredict;
      EXPECT_EQ(event.src, is_mark ? kNoNode : next_node);
      EXPECT_EQ(event.dst, is_mark ? kNoNode : next_node + 1);
      if (!is_mark) ++next_node;
      rows.push_back({event.kind, event.time});
    }
    return arrow::Status::OK();
  };
  const Emit push = [&](BatchPtr batch) {
    return partitioner.Push(std::move(batch), collect);
  };
  if (seed == 0) {
    ARROW_RETURN_NOT_OK(push(events));
  } else {
    Recut recut(seed);
    ARROW_RETURN_NOT_OK(recut.Push(events, push));
  }
  ARROW_RETURN_NOT_OK(partitioner.Finish(collect));
  return rows;
}

void CheckStream(const PartitionOptions& options, const std::vector<EventTime>& times,
                 const std::vector<Row>& expected) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const auto rows = Partition(options, EventsAt(times), seed);
    ASSERT_TRUE(rows.ok()) << rows.status().ToString();
    EXPECT_EQ(*rows, expected);
  }
}

TEST(Partitioner, SetsPunctuationBetweenEvents) {
  CheckStream({.initial = InitialBefore{2}, .predictions = 0, .width = 2, .times = {}},
              {0, 1, 2, 3, 3, 4},
              {{kInsert, 0},
               {kInsert, 1},
               {kStart, 1},
               {kInsert, 2},
               {kInsert, 3},
               {kInsert, 3},
               {kPredict, 3},
               {kInsert, 4},
               {kPredict, 5}});
}

TEST(Partitioner, StartsBeforeTheFirstEventOfAnEmptyInitialGraph) {
  CheckStream(
      {.initial = InitialFraction{0.0}, .predictions = 2, .width = 0, .times = {}},
      {7, 8}, {{kStart, 6}, {kInsert, 7}, {kPredict, 7}, {kInsert, 8}, {kPredict, 8}});
}

TEST(Partitioner, EmptyIntervalsFollowEachOther) {
  CheckStream(
      {.initial = InitialBefore{1}, .predictions = 0, .width = 0, .times = {1, 2, 3}},
      {0, 1, 9},
      {{kInsert, 0},
       {kStart, 0},
       {kInsert, 1},
       {kPredict, 1},
       {kPredict, 2},
       {kPredict, 3}});
}

TEST(Partitioner, LeavesOutEventsAfterTheLastTime) {
  CheckStream({.initial = InitialBefore{1}, .predictions = 0, .width = 0, .times = {4}},
              {0, 4, 5, 6}, {{kInsert, 0}, {kStart, 0}, {kInsert, 4}, {kPredict, 4}});
}

TEST(Partitioner, Invalid) {
  const auto rows = Partition(
      {.initial = InitialFraction{1.0}, .predictions = 2, .width = 0, .times = {}},
      EventsAt({1, 2}), 0);
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(FaultOf(rows.status()), Fault::kUsage);
}

}  // namespace
}  // namespace coden
