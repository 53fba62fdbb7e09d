// Rows that are added to the log of a run: the result is that of a run from scratch, and
// what was there stays as it is.

#include <cmath>
#include <set>

#include "pipeline/growing_run.h"

namespace coden {
namespace {

class AppendTest : public GrowingRun {
 protected:
  // Points without what only the embedding knows; of a strict bound, which is put back
  // as good but not to the last bit, the predictions.
  Schedule Comparable(const std::string& run) const {
    Schedule schedule = ScheduleOf(run);
    const bool strict = settings_.sample.bound == ShiftBound::kStrict;
    if (strict) std::erase_if(schedule, [](const auto& p) { return !p.at_prediction; });
    for (SchedulePoint& point : schedule) {
      EXPECT_LE(point.error_bound.value(), kEpsilon);
      point.error_bound.reset();
      if (!strict) continue;
      point.snapshot = 0;
      point.sigma = 0.0;
    }
    return schedule;
  }

  // Compare snapshot `a` of one run with `b` of another, column by column.
  void CompareSnapshots(const std::string& run, int a, const std::string& other, int b) {
    const Vectors left = SnapshotOf(run, a), right = SnapshotOf(other, b);
    ASSERT_FALSE(left.empty());
    ASSERT_EQ(left.size(), right.size());
    std::vector<double> error(left.begin()->second.size(), 0.0);
    for (const auto& [node, vector] : left) {
      ASSERT_TRUE(right.contains(node)) << node;
      for (std::size_t column = 0; column < error.size(); ++column)
        error[column] += std::abs(vector[column] - right.at(node)[column]);
    }
    for (const double sum : error)
      EXPECT_LE(sum, 2 * kEpsilon * static_cast<double>(left.size())) << a << " " << b;
  }

  // A run whose log grows at these times, against one of the whole log.
  void CheckGrowth(const std::vector<int>& ends, bool new_files) {
    ClearLog();
    WriteLog("a.parquet", 0, kTimes);
    MustEmbed("whole");
    ClearLog();
    int begin = 0;
    Tree before;
    for (const int end : ends) {
      if (new_files) {
        WriteLog("part-" + std::to_string(begin) + ".parquet", begin, end);
      } else {
        WriteLog("a.parquet", 0, end);
      }
      MustEmbed("grown");
      ExpectSound("grown");
      // Snapshots that were there have not been touched.
      const Tree after = TreeOf("grown", "snapshots");
      for (const auto& [name, file] : before) {
        ASSERT_TRUE(after.contains(name)) << name;
        EXPECT_TRUE(after.at(name) == file) << name;
      }
      EXPECT_GT(after.size(), before.size());
      EXPECT_EQ(watched_.Said("added to an earlier run: "), begin > 0);
      before = after;
      begin = end;
    }
    const Schedule whole = Comparable("whole"), grown = Comparable("grown");
    ASSERT_TRUE(grown == whole);
    const Schedule left = ScheduleOf("grown"), right = ScheduleOf("whole");
    std::size_t at = 0;
    for (const SchedulePoint& point : left) {
      // In a strict schedule predictions may have other numbers.
      if (settings_.sample.bound == ShiftBound::kStrict && !point.at_prediction) continue;
      while (at < right.size() && (right[at].events != point.events ||
                                   right[at].prediction != point.prediction ||
                                   right[at].at_prediction != point.at_prediction)) {
        ++at;
      }
      ASSERT_LT(at, right.size());
      CompareSnapshots("grown", point.snapshot, "whole", right[at].snapshot);
    }
    std::filesystem::remove_all(PathOf("whole"));
    std::filesystem::remove_all(PathOf("grown"));
  }
};

TEST_F(AppendTest, IsWhatARunFromScratchGives) {
  for (const bool new_files : {true, false}) {
    for (const std::vector<int>& ends : std::vector<std::vector<int>>{
             {120, kTimes}, {220, kTimes}, {320, kTimes}, {140, 180, 260, kTimes}}) {
      SCOPED_TRACE(::testing::Message()
                   << new_files << " " << ends.size() << " parts, " << ends[0]);
      CheckGrowth(ends, new_files);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(AppendTest, IsSoForEveryKindOfGraph) {
  for (const bool directed : {false, true}) {
    for (const auto& [events, window] :
         {std::pair(EventMode::kToggle, 0), std::pair(EventMode::kInsert, 0),
          std::pair(EventMode::kInsert, 45)}) {
      SCOPED_TRACE(::testing::Message()
                   << directed << static_cast<int>(events) << " window " << window);
      settings_.graph = {.events = events,
                         .directed = directed,
                         .self_loops = directed,
                         .window = window};
      CheckGrowth({160, 240, kTimes}, true);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(AppendTest, IsSoForEveryBoundAndPropagation) {
  struct Case {
    ShiftBound bound;
    double lambda;
    Propagation propagation;
  };
  for (const auto& [bound, lambda, propagation] :
       {Case{ShiftBound::kPaper, 40.0, Propagation::kSymmetric},
        Case{ShiftBound::kRelative, 1.5, Propagation::kAverage},
        Case{ShiftBound::kStrict, 5.0, Propagation::kMass}}) {
    SCOPED_TRACE(static_cast<int>(bound));
    settings_.sample.bound = bound;
    settings_.sample.lambda = lambda;
    settings_.sample.max_per_interval = 3;
    settings_.embed.propagation = propagation;
    CheckGrowth({160, 240, kTimes}, false);
    if (HasFatalFailure()) return;
  }
}

// The bits of a run go on as if it had never stopped, where nodes have the same numbers.
// With a wide error and frequent snapshots changes are pushed, otherwise they are swept.
TEST_F(AppendTest, EvenToTheLastBit) {
  for (const auto& [epsilon, lambda] :
       {std::pair(0.3, 0.1), std::pair(1e-5, 1.5), std::pair(1e-9, 1.5)}) {
    SCOPED_TRACE(epsilon);
    settings_.embed.epsilon = epsilon;
    settings_.sample.lambda = lambda;
    ClearLog();
    WriteLog("a.parquet", 0, 220);
    MustEmbed("grown");
    WriteLog("b.parquet", 220, kTimes);
    MustEmbed("grown");
    MustEmbed("whole");
    ExpectSameBits("grown", "whole");
    std::filesystem::remove_all(PathOf("whole"));
    std::filesystem::remove_all(PathOf("grown"));
  }
}

TEST_F(AppendTest, GivenTimesMayGoOn) {
  settings_.partition.width = 0;
  settings_.partition.times = {119, 150};
  WriteLog("a.parquet", 0, 200);
  MustEmbed("grown");
  EXPECT_TRUE(watched_.Said("rows after the last prediction time: not used"));
  // More times without a new row, and then both.
  settings_.partition.times = {119, 150, 180};
  MustEmbed("grown");
  settings_.partition.times = {119, 150, 180, 230, 300, 400};
  WriteLog("b.parquet", 200, kTimes);
  MustEmbed("grown");
  ExpectSound("grown");
  MustEmbed("whole");
  ASSERT_TRUE(Comparable("grown") == Comparable("whole"));
  for (const SchedulePoint& point : ScheduleOf("whole"))
    CompareSnapshots("grown", point.snapshot, "whole", point.snapshot);
}

TEST_F(AppendTest, EqualCountsGoOnWithBatchesOfTheSameSize) {
  settings_.partition.width = 0;
  settings_.partition.predictions = 4;
  WriteLog("a.parquet", 0, 220);
  MustEmbed("grown");
  WriteLog("b.parquet", 220, 282);  // 186 rows; 4 batches had 360
  MustEmbed("grown");
  std::vector<EventTime> times;
  for (const SchedulePoint& point : ScheduleOf("grown")) {
    if (point.at_prediction) times.push_back(point.time);
  }
  EXPECT_EQ(times, (std::vector<EventTime>{129, 159, 189, 219, 250, 281}));
}

TEST_F(AppendTest, NewNodesMayBringFeatures) {
  // Snapshots at predictions alone: features that are known from the start count in the
  // mass that the bound is relative to.
  settings_.sample.lambda = 1e9;
  WriteLog("a.parquet", 0, 220);
  std::set<std::int64_t> old;
  for (const Row& row : log_) {
    if (row.time < 220) old.insert({row.src, row.dst});
  }
  const int num_old = static_cast<int>(*old.rbegin() / 7) + 1;
  ASSERT_LT(num_old, kNodes);
  WriteFeatures(num_old);
  MustEmbed("grown");
  const auto snapshots = static_cast<int>(ScheduleOf("grown").size());
  const Tree before = TreeOf("grown", "snapshots");
  WriteLog("b.parquet", 220, kTimes);
  WriteFeatures(kNodes + 3);  // some of them have no event at all
  MustEmbed("grown");
  ExpectSound("grown");
  MustEmbed("whole");
  const Schedule schedule = ScheduleOf("whole");
  ASSERT_EQ(ScheduleOf("grown").size(), schedule.size());
  const Tree after = TreeOf("grown", "snapshots");
  for (const auto& [name, file] : before) EXPECT_TRUE(after.at(name) == file) << name;
  for (const SchedulePoint& point : schedule) {
    const bool is_old = point.snapshot < snapshots;
    EXPECT_EQ(SnapshotOf("grown", point.snapshot).size(),
              static_cast<std::size_t>(is_old ? num_old : kNodes + 3));
    if (!is_old) CompareSnapshots("grown", point.snapshot, "whole", point.snapshot);
  }
}

TEST_F(AppendTest, FeatureUpdatesGoOn) {
  WriteFeatures(kNodes);
  for (const auto& [epsilon, lambda] : {std::pair(0.3, 0.2), std::pair(1e-6, 3.0)}) {
    SCOPED_TRACE(epsilon);
    settings_.embed.epsilon = epsilon;
    settings_.sample.lambda = lambda;
    ClearLog();
    WriteLog("a.parquet", 0, 220);
    WriteUpdates(220);
    MustEmbed("grown");
    WriteLog("b.parquet", 220, kTimes);
    WriteUpdates(kTimes);
    MustEmbed("grown");
    ExpectSound("grown");
    MustEmbed("whole");
    ExpectSameBits("grown", "whole");
    std::filesystem::remove_all(PathOf("whole"));
    std::filesystem::remove_all(PathOf("grown"));
  }
}

TEST_F(AppendTest, TrainingStandsUntilItIsDoneAgain) {
  WriteLog("a.parquet", 0, 220);
  settings_.input.labels = WriteIntegers(folder_ / "labels.parquet",
                                         {{"node", "[0, 7]"}, {"label", "[1, 2]"}});
  int trained = 0;
  RunRequest request;
  request.train = [&](const Settings&, RunStore& store, const TrainMemory&,
                      const RunContext&) -> arrow::Result<TrainSummary> {
    TrainSummary summary;
    ARROW_ASSIGN_OR_RAISE(
        summary.files.emplace_back(),
        store.StageText(RunLayout::kMetricsLog, "training " + std::to_string(++trained)));
    return summary;
  };
  const auto log = [&] {
    return StoreAt(PathOf("run"))->ReadText(RunLayout::kMetricsLog).ValueOr("missing");
  };
  CODEN_EXPECT_OK(Run("run", request).status());
  EXPECT_EQ(log(), "training 1");
  WriteLog("b.parquet", 220, kTimes);
  const Manifest embedded = MustEmbed("run");
  ASSERT_NE(embedded.Find(kTrainPart), nullptr);
  EXPECT_EQ(log(), "training 1");
  ExpectSound("run");
  const auto all = Run("run", request);
  CODEN_EXPECT_OK(all.status());
  EXPECT_EQ(trained, 2);
  EXPECT_EQ(log(), "training 2");
  ExpectSound("run");
  CODEN_EXPECT_OK(Run("run", request).status());
  EXPECT_EQ(trained, 2);
  EXPECT_TRUE(watched_.Said("training: settings and inputs are unchanged, skipped"));
}

}  // namespace
}  // namespace coden
