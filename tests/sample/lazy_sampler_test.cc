#include "coden/sample/lazy_sampler.h"

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace coden {
namespace {

constexpr double kAlpha = 0.2;
constexpr double kFactor = (1.0 - kAlpha) / kAlpha;
constexpr double kOutOfReach = 1e9;  // a lambda that no bound passes

LazySampler MakeSampler(double lambda, float x_max = 1.0f, int max_per_interval = 0,
                        GraphOptions graph = {},
                        ShiftBound bound = ShiftBound::kRelative) {
  SampleOptions sample;
  sample.bound = bound;
  sample.lambda = lambda;
  sample.max_per_interval = max_per_interval;
  EmbedOptions embed;
  embed.alpha = kAlpha;
  return LazySampler(sample, embed, graph, [x_max](NodeId) { return x_max; });
}

void Insert(LazySampler& sampler, NodeId src, NodeId dst, EventTime time,
            Schedule* schedule) {
  ASSERT_TRUE(sampler.OnEvent({src, dst, time, EventKind::kInsert}, schedule).ok());
}

void CheckPoint(const SchedulePoint& point, const SchedulePoint& expected) {
  EXPECT_EQ(point.snapshot, expected.snapshot);
  EXPECT_EQ(point.prediction, expected.prediction);
  EXPECT_EQ(point.at_prediction, expected.at_prediction);
  EXPECT_EQ(point.time, expected.time);
  EXPECT_EQ(point.events, expected.events);
  EXPECT_EQ(point.num_nodes, expected.num_nodes);
  EXPECT_EQ(point.num_edges, expected.num_edges);
  EXPECT_NEAR(point.sigma, expected.sigma, 1e-12);
}

TEST(LazySampler, EmitsAtPredictionBelowThreshold) {
  // 0 - 1 in the initial graph; 1 - 2, a repeat and a self loop after it.
  LazySampler sampler = MakeSampler(kOutOfReach);
  Schedule schedule;
  Insert(sampler, 0, 1, 3, &schedule);
  sampler.OnStart(3, &schedule);
  Insert(sampler, 1, 2, 4, &schedule);
  Insert(sampler, 2, 1, 5, &schedule);
  Insert(sampler, 4, 4, 5, &schedule);
  sampler.OnPredict(6, &schedule);
  ASSERT_EQ(schedule.size(), 2u);
  CheckPoint(schedule[0], {0, 0, false, 3, 1, 2, 1, 0.0});
  // Node 1 goes from one neighbour to two, node 2 from none to one; three nodes by then.
  CheckPoint(schedule[1], {1, 1, true, 6, 4, 4, 2, kFactor * (2.0 / 2 + 1) / 3});
}

TEST(LazySampler, KnowsWhenNodesCame) {
  LazySampler sampler = MakeSampler(kOutOfReach);
  sampler.AddNode(6);
  Schedule schedule;
  Insert(sampler, 1, 0, 3, &schedule);
  sampler.OnStart(3, &schedule);
  Insert(sampler, 1, 2, 4, &schedule);
  sampler.OnPredict(6, &schedule);
  sampler.OnPredict(7, &schedule);
  Insert(sampler, 4, 4, 8, &schedule);  // a self loop that is dropped
  sampler.OnFeatureUpdate(5, 1.0f, &schedule);
  Insert(sampler, 6, 1, 9, &schedule);
  sampler.OnPredict(9, &schedule);
  std::vector<std::int32_t> since, arrivals;
  std::vector<EventTime> first_events;
  for (const SampledNode& node : sampler.nodes()) {
    since.push_back(node.since);
    arrivals.push_back(node.arrival);
    first_events.push_back(node.first_event);
  }
  // Node 3 was never named; 5 and 6 came with features, and 6 has had an event since.
  constexpr EventTime kNever = SampledNode::kNever;
  EXPECT_EQ(since, (std::vector<std::int32_t>{0, 0, 1, -1, 3, 3, 0}));
  EXPECT_EQ(arrivals, (std::vector<std::int32_t>{1, 0, 2, -1, 3, -1, 4}));
  EXPECT_EQ(first_events, (std::vector<EventTime>{3, 3, 4, kNever, 8, kNever, 9}));
}

TEST(LazySampler, HandsOverTheNetChangesOfEverySnapshot) {
  // 0 - 1 and 1 - 2 at the start. Then 0 - 1 goes and comes again, 1 - 2 goes, 2 - 3
  // comes; then nothing happens.
  GraphOptions graph;
  graph.events = EventMode::kToggle;
  LazySampler sampler = MakeSampler(kOutOfReach, 1.0f, 0, graph);
  std::vector<std::vector<EdgeChange>> changes;
  Schedule recorded;
  sampler.Record(
      [&](const SchedulePoint& point, std::vector<EdgeChange> net, const ShiftedGraph&) {
        recorded.push_back(point);
        changes.push_back(std::move(net));
      });
  Schedule schedule;
  const auto toggle = [&](NodeId src, NodeId dst) {
    ASSERT_TRUE(sampler.OnEvent({src, dst, 1, EventKind::kToggle}, &schedule).ok());
  };
  toggle(2, 1);
  toggle(1, 0);
  sampler.OnStart(1, &schedule);
  toggle(0, 1);
  toggle(1, 2);
  toggle(1, 0);
  toggle(3, 2);
  EXPECT_EQ(sampler.num_recorded(), 4);
  sampler.OnPredict(2, &schedule);
  sampler.OnPredict(3, &schedule);
  EXPECT_EQ(recorded, schedule);
  const std::vector<std::vector<EdgeChange>> expected = {
      {{0, 1, true}, {1, 2, true}}, {{1, 2, false}, {2, 3, true}}, {}};
  EXPECT_EQ(changes, expected);
}

// At every snapshot, wherever it lies, with edges that are toggled and expire.
TEST(LazySampler, NetChangesAddUpToTheGraph) {
  for (const ShiftBound bound : {ShiftBound::kRelative, ShiftBound::kStrict}) {
    for (const bool directed : {false, true}) {
      for (const EventTime window : {0, 40}) {
        SCOPED_TRACE(::testing::Message()
                     << static_cast<int>(bound) << directed << " window " << window);
        const GraphOptions graph{.events = EventMode::kToggle,
                                 .directed = directed,
                                 .self_loops = true,
                                 .window = window};
        LazySampler sampler = MakeSampler(0.5, 1.0f, 0, graph, bound);
        std::set<std::pair<NodeId, NodeId>> edges;
        int num_snapshots = 0, num_between = 0;
        sampler.Record([&](const SchedulePoint& point, std::vector<EdgeChange> changes,
                           const ShiftedGraph& now) {
          EXPECT_EQ(point.snapshot, num_snapshots++);
          num_between += !point.at_prediction;
          EXPECT_TRUE(std::is_sorted(changes.begin(), changes.end()));
          for (const EdgeChange change : changes) {
            const std::pair edge(change.src(), change.dst());
            EXPECT_EQ(change.present() ? edges.insert(edge).second : edges.erase(edge),
                      1u);
          }
          std::vector<EdgeChange> all;
          for (const auto& [src, dst] : edges) all.emplace_back(src, dst, true);
          EXPECT_EQ(now.Edges(), all);
          EXPECT_EQ(point.num_edges, static_cast<std::int64_t>(edges.size()));
        });
        std::mt19937 random(7);
        Schedule schedule;
        for (EventTime time = 0; time < 400; ++time) {
          const auto src = static_cast<NodeId>(random() % 12);
          const auto dst = static_cast<NodeId>(random() % 12);
          ASSERT_TRUE(
              sampler.OnEvent({src, dst, time, EventKind::kToggle}, &schedule).ok());
          if (time == 99) sampler.OnStart(99, &schedule);
          if (time >= 100 && time % 50 == 49) sampler.OnPredict(time, &schedule);
        }
        // All that is left expires, or nothing happens.
        sampler.OnPredict(1000, &schedule);
        EXPECT_EQ(num_snapshots, static_cast<int>(schedule.size()));
        EXPECT_GT(num_between, 5);
        EXPECT_EQ(edges.empty(), window > 0);
      }
    }
  }
}

TEST(LazySampler, EmptyInitialGraphHasNoSnapshot) {
  LazySampler sampler = MakeSampler(kOutOfReach);
  Schedule schedule;
  sampler.OnStart(0, &schedule);
  EXPECT_TRUE(schedule.empty());
  Insert(sampler, 0, 1, 1, &schedule);
  sampler.OnPredict(1, &schedule);
  ASSERT_EQ(schedule.size(), 1u);
  CheckPoint(schedule[0], {0, 1, true, 1, 1, 2, 1, kFactor});
}

TEST(LazySampler, NodesWithFeaturesArePresentFromTheStart) {
  LazySampler sampler = MakeSampler(kOutOfReach);
  for (NodeId node = 0; node < 10; ++node) sampler.AddNode(node);
  Schedule schedule;
  Insert(sampler, 0, 1, 1, &schedule);
  sampler.OnStart(1, &schedule);
  ASSERT_EQ(schedule.size(), 1u);
  EXPECT_EQ(schedule[0].num_nodes, 10);
}

TEST(LazySampler, TakesTheSnapshotAfterTheEventThatPassed) {
  LazySampler sampler = MakeSampler(0.5);
  Schedule schedule;
  sampler.OnStart(0, &schedule);
  Insert(sampler, 0, 1, 5, &schedule);
  EXPECT_TRUE(schedule.empty());
  Insert(sampler, 2, 3, 8, &schedule);
  ASSERT_EQ(schedule.size(), 1u);
  CheckPoint(schedule[0], {0, 1, false, 5, 1, 2, 1, kFactor});
  sampler.OnPredict(9, &schedule);
  ASSERT_EQ(schedule.size(), 2u);
  // No second snapshot where the bound passes at the last event of an interval.
  CheckPoint(schedule[1], {1, 1, true, 9, 2, 4, 2, kFactor * 2 / 4});
  Insert(sampler, 0, 1, 10, &schedule);
  sampler.OnPredict(10, &schedule);
  ASSERT_EQ(schedule.size(), 3u);
  CheckPoint(schedule[2], {2, 2, true, 10, 3, 4, 2, 0.0});
}

TEST(LazySampler, InitialGraphGrowsWithoutSnapshots) {
  LazySampler sampler = MakeSampler(1e-6);
  Schedule schedule;
  for (NodeId node = 0; node < 20; ++node) Insert(sampler, node, node + 1, 1, &schedule);
  sampler.OnStart(1, &schedule);
  ASSERT_EQ(schedule.size(), 1u);
  EXPECT_EQ(schedule[0].prediction, 0);
  EXPECT_EQ(schedule[0].events, 20);
}

TEST(LazySampler, EmptyIntervalHasOneSnapshotOfNoShift) {
  LazySampler sampler = MakeSampler(0.1);
  Schedule schedule;
  Insert(sampler, 0, 1, 1, &schedule);
  sampler.OnStart(1, &schedule);
  sampler.OnPredict(2, &schedule);
  sampler.OnPredict(3, &schedule);
  ASSERT_EQ(schedule.size(), 3u);
  CheckPoint(schedule[1], {1, 1, true, 2, 1, 2, 1, 0.0});
  CheckPoint(schedule[2], {2, 2, true, 3, 1, 2, 1, 0.0});
}

TEST(LazySampler, MaxPerIntervalLeavesThePredictionIn) {
  for (const int max : {1, 2, 5}) {
    SCOPED_TRACE(max);
    LazySampler sampler = MakeSampler(1e-6, 1.0f, max);
    Schedule schedule;
    sampler.OnStart(0, &schedule);
    NodeId node = 0;
    for (EventTime time = 10; time <= 30; time += 10) {
      for (int event = 0; event < 10; ++event, ++node)
        Insert(sampler, node, node + 1, time, &schedule);
      sampler.OnPredict(time, &schedule);
    }
    ASSERT_EQ(schedule.size(), 3u * (max + 1));
    for (std::size_t i = 0; i < schedule.size(); ++i) {
      EXPECT_EQ(schedule[i].snapshot, static_cast<int>(i));
      EXPECT_EQ(schedule[i].at_prediction, i % (max + 1) == static_cast<unsigned>(max));
      EXPECT_EQ(schedule[i].prediction, static_cast<int>(i) / (max + 1) + 1);
    }
  }
}

TEST(LazySampler, FeatureUpdatesMoveTheBound) {
  for (const ShiftBound bound : {ShiftBound::kRelative, ShiftBound::kStrict}) {
    SCOPED_TRACE(static_cast<int>(bound));
    LazySampler sampler = MakeSampler(kOutOfReach, 1.0f, 0, {}, bound);
    Schedule schedule;
    Insert(sampler, 0, 1, 1, &schedule);
    sampler.OnStart(1, &schedule);
    sampler.OnFeatureUpdate(0, 3.0f, &schedule);
    sampler.OnPredict(2, &schedule);
    ASSERT_EQ(schedule.size(), 2u);
    // From [-1, 1] to [-3, 3]: at most 4 per column, of a mass of 4 then.
    EXPECT_NEAR(schedule[1].sigma, 1.0, 1e-12);
  }
}

TEST(LazySampler, FirstFeaturesCount) {
  LazySampler sampler = MakeSampler(0.1, 0.0f);
  Schedule schedule;
  Insert(sampler, 0, 1, 1, &schedule);
  sampler.OnStart(1, &schedule);
  sampler.OnFeatureUpdate(0, 2.0f, &schedule);
  sampler.OnPredict(2, &schedule);
  ASSERT_EQ(schedule.size(), 2u);
  EXPECT_NEAR(schedule[1].sigma, 1.0, 1e-12);
}

TEST(LazySampler, EdgesThatExpireByThePredictionAreGone) {
  GraphOptions graph;
  graph.window = 5;
  LazySampler sampler = MakeSampler(kOutOfReach, 1.0f, 0, graph);
  Schedule schedule;
  sampler.OnStart(0, &schedule);
  Insert(sampler, 0, 1, 1, &schedule);
  sampler.OnPredict(5, &schedule);
  sampler.OnPredict(6, &schedule);
  ASSERT_EQ(schedule.size(), 2u);
  EXPECT_EQ(schedule[0].num_edges, 1);
  CheckPoint(schedule[1], {1, 2, true, 6, 1, 2, 0, kFactor});
}

Schedule RandomSchedule(ShiftBound bound, float scale) {
  SampleOptions sample;
  sample.bound = bound;
  LazySampler sampler(sample, EmbedOptions{}, GraphOptions{}, [scale](NodeId node) {
    return scale * static_cast<float>(1 + node % 4);
  });
  std::mt19937 random(5);
  Schedule schedule;
  for (EventTime time = 0; time < 600; ++time) {
    const auto src = static_cast<NodeId>(random() % 60);
    const auto dst = static_cast<NodeId>(random() % 60);
    if (time == 100) sampler.OnStart(99, &schedule);
    EXPECT_TRUE(sampler.OnEvent({src, dst, time, EventKind::kToggle}, &schedule).ok());
    if (time >= 100 && time % 50 == 49) sampler.OnPredict(time, &schedule);
  }
  return schedule;
}

TEST(LazySampler, ScheduleDoesNotDependOnTheScaleOfFeatures) {
  for (const ShiftBound bound : {ShiftBound::kRelative, ShiftBound::kStrict}) {
    SCOPED_TRACE(static_cast<int>(bound));
    const Schedule schedule = RandomSchedule(bound, 1.0f);
    EXPECT_GT(schedule.size(), 30u);
    // Powers of two scale without rounding.
    EXPECT_TRUE(RandomSchedule(bound, 1024.0f) == schedule);
    EXPECT_TRUE(RandomSchedule(bound, 1.0f / 4096.0f) == schedule);
  }
  EXPECT_TRUE(RandomSchedule(ShiftBound::kPaper, 1024.0f) !=
              RandomSchedule(ShiftBound::kPaper, 1.0f));
}

TEST(LazySampler, RefusesTheDeletionOfAnAbsentEdge) {
  LazySampler sampler = MakeSampler(0.1);
  Schedule schedule;
  const arrow::Status status = sampler.OnEvent({0, 1, 1, EventKind::kDelete}, &schedule);
  ASSERT_FALSE(status.ok());
  EXPECT_TRUE(status.message().starts_with("the row deletes an edge that is not there"));
  EXPECT_EQ(sampler.num_events(), 0);
}

}  // namespace
}  // namespace coden
