#include "coden/partition/prediction_clock.h"

#include <algorithm>
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include "coden/base/error.h"

namespace coden {
namespace {

using Times = std::vector<EventTime>;

constexpr int kUnused = -1;

// Where every event lies (0: the initial graph, k: batch k) and what t_1, t_2, ... are.
struct Cut {
  std::vector<int> batches;
  Times prediction_times;
  bool operator==(const Cut&) const = default;
};

PartitionOptions Count(InitialGraph initial, int predictions) {
  return {.initial = initial, .predictions = predictions, .width = 0, .times = {}};
}
PartitionOptions Width(InitialGraph initial, EventTime width) {
  return {.initial = initial, .predictions = 0, .width = width, .times = {}};
}
PartitionOptions At(InitialGraph initial, Times times) {
  return {.initial = initial, .predictions = 0, .width = 0, .times = std::move(times)};
}

arrow::Result<Cut> RunClock(PredictionClock* clock, const Times& log) {
  Cut cut;
  int batch = 0;
  std::vector<PredictionClock::Mark> marks;
  const auto read_marks = [&] {
    for (const auto& mark : marks) {
      EXPECT_EQ(mark.kind == EventKind::kStart, batch == 0);
      ++batch;
      if (mark.kind == EventKind::kPredict) cut.prediction_times.push_back(mark.time);
    }
    marks.clear();
  };
  for (const EventTime time : log) {
    ARROW_ASSIGN_OR_RAISE(const bool used, clock->Next(time, &marks));
    read_marks();
    cut.batches.push_back(used ? batch : kUnused);
  }
  ARROW_RETURN_NOT_OK(clock->Finish(&marks));
  read_marks();
  EXPECT_EQ(clock->num_predictions(), static_cast<int>(cut.prediction_times.size()));
  EXPECT_EQ(clock->num_unused(),
            std::count(cut.batches.begin(), cut.batches.end(), kUnused));
  return cut;
}

arrow::Result<Cut> CutLog(const PartitionOptions& options, const Times& log) {
  ARROW_ASSIGN_OR_RAISE(
      auto clock, PredictionClock::Make(options, static_cast<std::int64_t>(log.size())));
  return RunClock(&clock, log);
}

void CheckCut(const PartitionOptions& options, const Times& log, const Times& times,
              const std::vector<int>& batches) {
  const auto cut = CutLog(options, log);
  ASSERT_TRUE(cut.ok()) << cut.status().ToString();
  EXPECT_EQ(cut->prediction_times, times);
  EXPECT_EQ(cut->batches, batches);
}

void CheckRejected(const PartitionOptions& options, const Times& log,
                   std::string_view message) {
  const auto cut = CutLog(options, log);
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.status().message(), message);
  EXPECT_EQ(FaultOf(cut.status()), Fault::kUsage);
}

// The same by the definition, from the whole log at once: first t_0 and all t_k, then
// the batch of each event by comparing times. Nothing where the options do not fit.
std::optional<Cut> Oracle(const PartitionOptions& options, const Times& log) {
  const auto rows = static_cast<std::int64_t>(log.size());
  const auto up_to_rise = [&](std::int64_t row) {
    while (row > 0 && row < rows && log[row] == log[row - 1]) ++row;
    return row;
  };
  std::int64_t initial = 0;
  EventTime start = 0;
  if (const auto* before = std::get_if<InitialBefore>(&options.initial)) {
    initial = std::count_if(log.begin(), log.end(),
                            [&](EventTime time) { return time < before->time; });
    start = before->time - 1;
  } else {
    const double fraction = std::get<InitialFraction>(options.initial).fraction;
    initial = up_to_rise(static_cast<std::int64_t>(fraction * static_cast<double>(rows)));
    start = initial == 0 ? log.front() - 1 : log[initial - 1];
  }
  if (initial == rows) return std::nullopt;
  Cut cut;
  Times& times = cut.prediction_times;
  if (!options.times.empty()) {
    times = options.times;
    if (times.front() <= start) return std::nullopt;
  } else if (options.width > 0) {
    do {
      times.push_back((times.empty() ? start : times.back()) + options.width);
    } while (times.back() < log.back());
  } else {
    const int parts = options.predictions > 0 ? options.predictions : 10;
    for (int part = 1; part <= parts; ++part) {
      const std::int64_t share = ((rows - initial) * part + parts - 1) / parts;
      times.push_back(log[up_to_rise(initial + share) - 1]);
    }
    times.erase(std::unique(times.begin(), times.end()), times.end());
  }
  for (const EventTime time : log) {
    const auto batch = std::lower_bound(times.begin(), times.end(), time) - times.begin();
    cut.batches.push_back(time <= start ? 0
                          : batch == static_cast<int>(times.size())
                              ? kUnused
                              : static_cast<int>(batch) + 1);
  }
  return cut;
}

TEST(PredictionClock, EqualCounts) {
  CheckCut(Count(InitialFraction{0.5}, 2), {1, 2, 3, 4, 5, 6, 7, 8}, {6, 8},
           {0, 0, 0, 0, 1, 1, 2, 2});
  CheckCut(Count(InitialFraction{0.0}, 3), {1, 2, 3, 4, 5, 6, 7}, {3, 5, 7},
           {1, 1, 1, 2, 2, 3, 3});
  CheckCut(Count(InitialBefore{3}, 2), {1, 2, 3, 4, 5}, {4, 5}, {0, 0, 1, 1, 2});
}

TEST(PredictionClock, NoWayMeansTenBatches) {
  Times log(30);
  for (int row = 0; row < 30; ++row) log[row] = row;
  const auto cut = CutLog(Count(InitialFraction{0.0}, 0), log);
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut->prediction_times.size(), 10u);
}

TEST(PredictionClock, EqualTimesAreNeverSplit) {
  CheckCut(Count(InitialFraction{0.5}, 2), {1, 2, 2, 2, 3, 3, 3, 4}, {3, 4},
           {0, 0, 0, 0, 1, 1, 1, 2});
  CheckCut(Count(InitialFraction{0.25}, 1), {1, 1, 1, 1, 1, 2}, {2}, {0, 0, 0, 0, 0, 1});
}

TEST(PredictionClock, BatchesThatFallTogetherAreCounted) {
  const Times log = {1, 5, 5, 5, 5, 5, 5, 9};
  auto clock = PredictionClock::Make(Count(InitialFraction{0.0}, 4), 8).ValueOrDie();
  const auto cut = RunClock(&clock, log);
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut->prediction_times, (Times{5, 9}));
  EXPECT_EQ(clock.num_merged(), 2);
}

TEST(PredictionClock, Widths) {
  CheckCut(Width(InitialBefore{1}, 1), {0, 0, 1, 2, 2}, {1, 2}, {0, 0, 1, 2, 2});
  CheckCut(Width(InitialFraction{0.0}, 10), {5, 14, 15, 24}, {14, 24}, {1, 1, 2, 2});
  // The last interval is closed at its full width, past the last event.
  CheckCut(Width(InitialFraction{0.5}, 10), {3, 5, 6, 7}, {15}, {0, 0, 1, 1});
}

TEST(PredictionClock, EmptyIntervalsAreKept) {
  CheckCut(Width(InitialBefore{1}, 2), {0, 1, 8}, {2, 4, 6, 8}, {0, 1, 4});
  CheckCut(At(InitialFraction{0.0}, {4, 5, 6, 20}), {4, 6, 7}, {4, 5, 6, 20}, {1, 3, 4});
}

TEST(PredictionClock, WidthEndsAtTheLargestTime) {
  constexpr EventTime kLargest = INT64_MAX;
  CheckCut(Width(InitialBefore{1}, kLargest - 1), {0, 1, kLargest},
           {kLargest - 1, kLargest}, {0, 1, 2});
}

TEST(PredictionClock, GivenTimes) {
  CheckCut(At(InitialBefore{3}, {3, 5}), {1, 2, 3, 4, 5, 6, 7}, {3, 5},
           {0, 0, 1, 2, 2, kUnused, kUnused});
  CheckCut(At(InitialFraction{0.5}, {8, 9}), {1, 2, 10, 11}, {8, 9},
           {0, 0, kUnused, kUnused});
}

TEST(PredictionClock, AgreesWithTheDefinitionOnRandomLogs) {
  std::mt19937 random(20240607);
  const auto below = [&](int bound) { return static_cast<int>(random() % bound); };
  int accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    SCOPED_TRACE(round);
    Times log = {below(5)};
    const int rows = 1 + below(40);
    const int gap = 1 + below(4);
    while (static_cast<int>(log.size()) < rows) log.push_back(log.back() + below(gap));
    InitialGraph initial = InitialFraction{below(11) / 10.0};
    if (below(2) == 0) initial = InitialBefore{below(12)};
    PartitionOptions options = Count(initial, below(12));
    if (below(3) == 0) options = Width(initial, 1 + below(9));
    if (below(3) == 0) {
      options = At(initial, {1 + below(20)});
      while (below(4) > 0) options.times.push_back(options.times.back() + 1 + below(9));
    }
    const auto expected = Oracle(options, log);
    const auto cut = CutLog(options, log);
    ASSERT_EQ(cut.ok(), expected.has_value()) << cut.status().ToString();
    if (!cut.ok()) continue;
    ++accepted;
    ASSERT_EQ(cut->prediction_times, expected->prediction_times);
    ASSERT_EQ(cut->batches, expected->batches);
  }
  EXPECT_GT(accepted, 2000);
}

TEST(PredictionClock, ALogLongerThanSaidGoesToTheLastBatch) {
  for (const InitialGraph& initial :
       {InitialGraph(InitialFraction{0.0}), InitialGraph(InitialBefore{6})}) {
    auto clock = PredictionClock::Make(Count(initial, 2), /*num_rows=*/4).ValueOrDie();
    const auto cut = RunClock(&clock, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    ASSERT_TRUE(cut.ok());
    EXPECT_EQ(cut->prediction_times.size(), 2u);
    EXPECT_EQ(cut->prediction_times.back(), 9);
  }
}

// A log that comes in two parts: every row is marked as by a clock that saw the whole.
arrow::Result<Cut> CutInParts(const PartitionOptions& first_options,
                              const PartitionOptions& options, const Times& log,
                              std::size_t first_rows) {
  const Times first(log.begin(), log.begin() + static_cast<std::ptrdiff_t>(first_rows));
  ARROW_ASSIGN_OR_RAISE(
      auto clock,
      PredictionClock::Make(first_options, static_cast<std::int64_t>(log.size())));
  ARROW_ASSIGN_OR_RAISE(Cut cut, RunClock(&clock, first));
  const ClockMemory memory = clock.memory();
  EXPECT_EQ(memory.num_predictions, clock.num_predictions());
  // Rows after the last given time were not used: they come again.
  const auto used = static_cast<std::size_t>(memory.rows);
  cut.batches.resize(used);
  ARROW_ASSIGN_OR_RAISE(
      auto next,
      PredictionClock::Continue(options, memory, static_cast<std::int64_t>(log.size())));
  std::vector<PredictionClock::Mark> marks;
  const auto read_marks = [&] {
    for (const auto& mark : marks) {
      EXPECT_EQ(mark.kind, EventKind::kPredict);
      cut.prediction_times.push_back(mark.time);
    }
    marks.clear();
  };
  for (std::size_t row = used; row < log.size(); ++row) {
    ARROW_ASSIGN_OR_RAISE(const bool is_used, next.Next(log[row], &marks));
    read_marks();
    cut.batches.push_back(is_used ? static_cast<int>(cut.prediction_times.size()) + 1
                                  : kUnused);
  }
  ARROW_RETURN_NOT_OK(next.Finish(&marks));
  read_marks();
  const ClockMemory end = next.memory();
  EXPECT_EQ(end.start_time, memory.start_time);
  EXPECT_EQ(end.num_predictions, static_cast<int>(cut.prediction_times.size()));
  EXPECT_EQ(end.last_time, cut.prediction_times.back());
  EXPECT_EQ(end.rows_per_batch, memory.rows_per_batch);
  return cut;
}

TEST(PredictionClock, WidthsAndTimesGoOnAsIfTheyHadNeverStopped) {
  std::mt19937 random(7);
  const auto below = [&](int bound) { return static_cast<int>(random() % bound); };
  int cuts = 0;
  for (int round = 0; round < 500; ++round) {
    SCOPED_TRACE(round);
    Times log = {below(5)};
    const int rows = 5 + below(40);
    while (static_cast<int>(log.size()) < rows) log.push_back(log.back() + below(4));
    const InitialGraph initial = InitialBefore{log[below(3)] + 1};
    PartitionOptions options = Width(initial, 1 + below(9));
    if (round % 2 == 0) {
      options = At(initial, {std::get<InitialBefore>(initial).time + below(20)});
      while (below(4) > 0) options.times.push_back(options.times.back() + 1 + below(9));
    }
    const auto whole = CutLog(options, log);
    if (!whole.ok()) continue;
    const Times& times = whole->prediction_times;
    for (std::size_t first = 1; first < log.size(); ++first) {
      // The first part must end where an interval does, or its rest comes too late.
      const auto closes = std::lower_bound(times.begin(), times.end(), log[first - 1]);
      if (closes != times.end() && log[first] <= *closes) continue;
      PartitionOptions first_options = options;
      if (!options.times.empty() && closes != times.end())
        first_options.times.assign(times.begin(), closes + 1);
      const auto parts = CutInParts(first_options, options, log, first);
      if (!parts.ok()) continue;  // nothing to predict yet
      ++cuts;
      EXPECT_EQ(*parts, *whole) << first;
    }
  }
  EXPECT_GT(cuts, 1000);
}

TEST(PredictionClock, MoreTimesGoOnAfterTheOldOnes) {
  const Times log = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  auto clock = PredictionClock::Make(At(InitialBefore{3}, {3, 5}), 9).ValueOrDie();
  ASSERT_TRUE(RunClock(&clock, log).ok());
  EXPECT_EQ(clock.memory().rows, 5);
  EXPECT_EQ(clock.memory().last_time, 5);
  auto next =
      PredictionClock::Continue(At(InitialBefore{3}, {3, 5, 7, 20}), clock.memory(), 9)
          .ValueOrDie();
  std::vector<PredictionClock::Mark> marks;
  for (const EventTime time : {6, 7, 8, 9}) EXPECT_TRUE(*next.Next(time, &marks));
  ASSERT_TRUE(next.Finish(&marks).ok());
  EXPECT_EQ(marks, (std::vector<PredictionClock::Mark>{{EventKind::kPredict, 7},
                                                       {EventKind::kPredict, 20}}));
  EXPECT_EQ(next.num_unused(), 0);
}

TEST(PredictionClock, AddedRowsAreCutIntoBatchesOfTheSameSize) {
  Times log(100);
  for (int row = 0; row < 100; ++row) log[row] = row;
  auto clock = PredictionClock::Make(Count(InitialFraction{0.5}, 5), 100).ValueOrDie();
  ASSERT_TRUE(RunClock(&clock, log).ok());
  EXPECT_EQ(clock.memory().rows_per_batch, 10.0);
  // Rows added, and how many batches of about ten they make.
  for (const auto& [added, batches] : std::vector<std::pair<int, int>>{
           {1, 1}, {9, 1}, {14, 1}, {16, 2}, {30, 3}, {104, 10}}) {
    SCOPED_TRACE(added);
    auto next = PredictionClock::Continue(Count(InitialFraction{0.5}, 5), clock.memory(),
                                          100 + added)
                    .ValueOrDie();
    std::vector<PredictionClock::Mark> marks;
    for (int row = 0; row < added; ++row) EXPECT_TRUE(*next.Next(100 + row, &marks));
    ASSERT_TRUE(next.Finish(&marks).ok());
    ASSERT_EQ(static_cast<int>(marks.size()), batches);
    EventTime last = 99;
    for (const auto& mark : marks) {
      EXPECT_NEAR(static_cast<double>(mark.time - last), 1.0 * added / batches, 1.0);
      last = mark.time;
    }
    EXPECT_EQ(last, 99 + added);
    EXPECT_EQ(next.num_merged(), 0);
    // The size stays that of the first batches, however often rows are added.
    EXPECT_EQ(next.memory().rows_per_batch, 10.0);
    EXPECT_EQ(next.memory().num_predictions, 5 + batches);
  }
}

TEST(PredictionClock, WithoutNewRowsNothingGoesOn) {
  for (const PartitionOptions& options :
       {Count(InitialFraction{0.5}, 2), Width(InitialFraction{0.5}, 3),
        At(InitialFraction{0.5}, {7, 9})}) {
    auto clock = PredictionClock::Make(options, 6).ValueOrDie();
    ASSERT_TRUE(RunClock(&clock, {1, 2, 3, 5, 7, 8}).ok());
    const ClockMemory memory = clock.memory();
    auto next = PredictionClock::Continue(options, memory, 6).ValueOrDie();
    std::vector<PredictionClock::Mark> marks;
    ASSERT_TRUE(next.Finish(&marks).ok());
    EXPECT_TRUE(marks.empty());
    EXPECT_EQ(next.memory().last_time, memory.last_time);
    EXPECT_EQ(next.memory().num_predictions, memory.num_predictions);
    EXPECT_EQ(next.memory().rows, memory.rows);
    EXPECT_EQ(next.num_merged(), 0);
  }
}

TEST(PredictionClock, Invalid) {
  CheckRejected(Count(InitialFraction{1.0}, 2), {1, 2, 3},
                "`partition.initial` takes the whole log, so there is nothing to "
                "predict: 3 rows, the last at time 3");
  CheckRejected(Width(InitialBefore{9}, 2), {1, 2, 3},
                "`partition.initial` takes the whole log, so there is nothing to "
                "predict: 3 rows, the last at time 3");
  CheckRejected(At(InitialBefore{9}, {9}), {1, 2, 3},
                "`partition.initial` takes the whole log, so there is nothing to "
                "predict: 3 rows, the last at time 3");
  CheckRejected(At(InitialBefore{9}, {8, 20}), {1, 10},
                "the first of `partition.times` must not lie before `partition.initial`: "
                "8 and 9");
  CheckRejected(At(InitialFraction{0.5}, {2, 9}), {1, 2, 3, 4},
                "the first of `partition.times` lies in the initial graph, which ends at "
                "2: 2");
  CheckRejected(Width(InitialFraction{0.0}, 1), {1, 5'000'000},
                "`partition.width` makes more than 1000000 prediction times; choose a "
                "larger one: 1");
}

}  // namespace
}  // namespace coden
