// What a run does not go on from: it says what has changed, and touches nothing.

#include <algorithm>

#include "coden/state/run_progress.h"
#include "pipeline/growing_run.h"

namespace coden {
namespace {

class RefusalsTest : public GrowingRun {
 protected:
  void SetUp() override {
    WriteLog("a.parquet", 0, 160);
    WriteLog("b.parquet", 160, 220);
    WriteFeatures(kNodes);
    MustEmbed("run");
  }

  // Expect that the run is refused with a message that names `part`, and is as it was.
  // With --force it becomes what a new run would be.
  void ExpectRefused(Fault fault, const std::string& part) {
    const Tree before = TreeOf("run");
    const arrow::Status status = Embed("run").status();
    EXPECT_EQ(FaultOf(status), fault) << status.ToString();
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("--force"), std::string::npos) << status.message();
    EXPECT_EQ(status.message().find('\n'), std::string::npos) << status.message();
    const Tree after = TreeOf("run");
    for (const auto& [name, file] : before)
      EXPECT_TRUE(after.contains(name) && after.at(name) == file) << name;
    EXPECT_EQ(after.size(), before.size());
    const auto rebuilt = Hashes(MustEmbed("run", /*force=*/true));
    ExpectSound("run");
    EXPECT_EQ(Hashes(MustEmbed("new")), rebuilt);
  }
};

TEST_F(RefusalsTest, AnOldRowThatHasChanged) {
  log_[50].dst = log_[50].dst == 7 ? 14 : 7;
  WriteLog("a.parquet", 0, 160);
  ExpectRefused(Fault::kHistory,
                "rows 0 to 479 of file 'a.parquet' of the log are not what they were");
}

TEST_F(RefusalsTest, AnOldRowThatHasChangedBesideNewOnes) {
  log_[650].src = log_[650].src == 7 ? 14 : 7;
  WriteLog("b.parquet", 160, kTimes);
  ExpectRefused(Fault::kHistory,
                "rows 0 to 179 of file 'b.parquet' of the log are not what they were");
}

TEST_F(RefusalsTest, AnOldRowOfASecondAppend) {
  WriteLog("c.parquet", 220, 280);
  MustEmbed("run");
  log_[700].src = log_[700].src == 7 ? 14 : 7;
  WriteLog("c.parquet", 220, 280);
  ExpectRefused(Fault::kHistory,
                "rows 0 to 179 of file 'c.parquet' of the log are not what they were");
}

TEST_F(RefusalsTest, AShorterLog) {
  WriteLog("b.parquet", 160, 200);
  ExpectRefused(Fault::kHistory,
                "file 'b.parquet' of the log has 120 rows, 180 were used");
}

TEST_F(RefusalsTest, AFileThatIsGone) {
  std::filesystem::remove(folder_ / "log/b.parquet");
  ExpectRefused(Fault::kHistory, "'b.parquet' of `input.edges` is no longer there");
}

TEST_F(RefusalsTest, FeaturesThatHaveChanged) {
  WriteFeatures(kNodes, 2.0f);
  ExpectRefused(Fault::kHistory, "rows of the features are not what they were");
}

TEST_F(RefusalsTest, FeaturesThatAreFewer) {
  WriteFeatures(kNodes - 1);
  ExpectRefused(Fault::kHistory, "rows of the features are not what they were");
}

TEST_F(RefusalsTest, FeaturesOfANodeThatWasThereWithout) {
  WriteFeatures(10);
  MustEmbed("run", /*force=*/true);
  WriteFeatures(11);
  ExpectRefused(Fault::kHistory,
                "row 10: the node was there before without features; give them as "
                "`input.feature_updates`");
}

TEST_F(RefusalsTest, FeatureUpdatesOfThePast) {
  settings_.input.feature_updates = WriteParquet(
      folder_ / "updates.parquet",
      *TableOf({{"node", ArrayOf(arrow::int64(), "[7]")},
                {"time", ArrayOf(arrow::int64(), "[219]")},
                {"x", ArrayOf(arrow::list(arrow::float32()), "[[1, 2, 3, 4]]")}}));
  ExpectRefused(Fault::kHistory, "feature updates up to time 219 are not what they were");
}

TEST_F(RefusalsTest, OtherSettings) {
  settings_.embed.alpha = 0.3;
  settings_.graph.directed = true;
  ExpectRefused(Fault::kHistory, "graph.directed, embed.alpha");
}

TEST_F(RefusalsTest, OtherTimesThanMore) {
  settings_.partition.width = 0;
  settings_.partition.times = {130, 200};
  MustEmbed("run", /*force=*/true);
  settings_.partition.times = {130, 201, 250};
  ExpectRefused(Fault::kHistory, "partition.times");
}

TEST_F(RefusalsTest, AFileOfTheRunThatIsDamaged) {
  const std::string snapshot = PathOf("run") + "/" + RunLayout::Snapshot(1);
  std::filesystem::resize_file(snapshot, std::filesystem::file_size(snapshot) - 1);
  WriteLog("c.parquet", 220, kTimes);
  const arrow::Status status = Embed("run").status();
  EXPECT_EQ(FaultOf(status), Fault::kCorruption);
  EXPECT_NE(status.message().find(snapshot), std::string::npos) << status.message();
}

TEST_F(RefusalsTest, AProgressWithAnotherDigit) {
  const auto store = StoreAt(PathOf("run"));
  std::string text = store->ReadText(RunLayout::kProgress).ValueOrDie();
  const std::size_t place = text.find("\"mass\": ") + 8;
  text[place] = text[place] == '1' ? '2' : '1';
  CODEN_EXPECT_OK(store->WriteText(RunLayout::kProgress, text));
  WriteLog("c.parquet", 220, kTimes);
  ExpectRefused(Fault::kCorruption, std::string(RunLayout::kProgress));
}

TEST_F(RefusalsTest, RowsThatComeLate) {
  // The last prediction was made for time 219.
  log_.insert(log_.begin() + 660, {{7, 14, 219}, {14, 21, 219}});
  WriteLog("c.parquet", 219, kTimes);
  log_.erase(log_.begin() + 660, log_.begin() + 662);
  const Tree before = TreeOf("run");
  const arrow::Status status = Embed("run").status();
  EXPECT_EQ(FaultOf(status), Fault::kInput);
  EXPECT_NE(status.message().find("file 'c.parquet', column 'time', row 0: the row was "
                                  "added late: the run has already made its prediction "
                                  "for this time; set `input.late = drop`"),
            std::string::npos)
      << status.message();
  EXPECT_TRUE(status.message().ends_with("219, and predicted up to 219"));
  EXPECT_TRUE(TreeOf("run") == before);

  // Rows 657 to 659 are in c.parquet as well: five are dropped.
  settings_.input.late = LatePolicy::kDrop;
  const Manifest manifest = MustEmbed("run");
  ExpectSound("run");
  EXPECT_TRUE(watched_.Said("5 rows came late: dropped (`input.late`)"));
  bool noted = false;
  for (const std::string& note : manifest.Find(kEmbedPart)->notes)
    noted = noted || note == "5 rows came late: dropped (`input.late`)";
  EXPECT_TRUE(noted);

  // The rest is as if they had never been there.
  WriteLog("c.parquet", 220, kTimes);
  MustEmbed("new");
  ExpectSameBits("run", "new");
}

TEST_F(RefusalsTest, ARowAtTheTimeOfAPredictionThatWaitsIsNotLate) {
  settings_.partition.unfinished = UnfinishedInterval::kWait;
  MustEmbed("waits");
  // The log ends at 219, and more rows of that time may follow.
  EXPECT_EQ(ScheduleOf("waits").back().time, 199);
  log_.insert(log_.begin() + 660, {{7, 14, 219}, {14, 21, 219}});
  WriteLog("c.parquet", 219, 220);
  EXPECT_EQ(MustEmbed("waits").Find(kEmbedPart)->counts.rows_late, 0);
  EXPECT_EQ(ScheduleOf("waits").back().time, 199);
  WriteLog("d.parquet", 220, kTimes);
  EXPECT_EQ(MustEmbed("waits").Find(kEmbedPart)->counts.rows_late, 0);
  ExpectSound("waits");
  MustEmbed("new");
  ExpectSameBits("waits", "new");
  const Schedule schedule = ScheduleOf("waits");
  const auto point = std::find_if(schedule.begin(), schedule.end(), [](const auto& one) {
    return one.at_prediction && one.time == 219;
  });
  ASSERT_NE(point, schedule.end());
  EXPECT_EQ(point->events, 660 + 5);

  // The same row once the prediction is committed.
  WriteLog("e.parquet", 219, 220);
  const arrow::Status status = Embed("waits").status();
  EXPECT_EQ(FaultOf(status), Fault::kInput);
  EXPECT_NE(status.message().find("the row was added late"), std::string::npos)
      << status.message();
}

TEST_F(RefusalsTest, LateRowsAloneChangeNothing) {
  settings_.input.late = LatePolicy::kDrop;
  WriteLog("c.parquet", 210, 215);
  const Tree before = TreeOf("run", "snapshots");
  MustEmbed("run");
  EXPECT_TRUE(watched_.Said("15 rows came late: dropped (`input.late`)"));
  EXPECT_TRUE(watched_.Said("nothing new to predict"));
  ExpectSound("run");
  EXPECT_TRUE(TreeOf("run", "snapshots") == before);
  // New rows after them are found.
  WriteLog("d.parquet", 220, kTimes);
  MustEmbed("run");
  ExpectSound("run");
  std::filesystem::remove(folder_ / "log/c.parquet");
  MustEmbed("new");
  ExpectSameBits("run", "new");
}

TEST_F(RefusalsTest, AFileThatWasDroppedCanBeRemovedOrKeptAtARebuild) {
  settings_.input.late = LatePolicy::kDrop;
  WriteLog("c.parquet", 210, 215);
  WriteLog("d.parquet", 220, 300);
  EXPECT_EQ(MustEmbed("run").Find(kEmbedPart)->counts.rows_late, 15);
  // Gone, the run goes on without it.
  std::filesystem::remove(folder_ / "log/c.parquet");
  const Tree before = TreeOf("run", "snapshots");
  Manifest manifest = MustEmbed("run");
  EXPECT_TRUE(TreeOf("run", "snapshots") == before);
  EXPECT_EQ(manifest.Find(kEmbedPart)->counts.rows_late, 0);
  WriteLog("e.parquet", 300, kTimes);
  MustEmbed("run");
  ExpectSound("run");
  // There again, a rebuild drops it: its times fall behind those of b.
  WriteLog("c.parquet", 210, 215);
  manifest = MustEmbed("run", /*force=*/true);
  EXPECT_EQ(manifest.Find(kEmbedPart)->counts.rows_late, 15);
  ExpectSound("run");
  std::filesystem::remove(folder_ / "log/c.parquet");
  settings_.input.late = LatePolicy::kRefuse;
  MustEmbed("new");
  ExpectSameBits("run", "new");
}

TEST_F(RefusalsTest, AFileThatRowsWereUsedOfCannotBeRemoved) {
  settings_.input.late = LatePolicy::kDrop;
  WriteLog("c.parquet", 210, 260);
  MustEmbed("run");
  std::filesystem::remove(folder_ / "log/c.parquet");
  ExpectRefused(Fault::kHistory, "'c.parquet' of `input.edges` is no longer there");
}

TEST_F(RefusalsTest, RowsThatFallAreDroppedAmongAddedOnes) {
  settings_.input.late = LatePolicy::kDrop;
  const std::vector<Row> sorted = log_;
  // Rows of times 230, 260 and 300 come after later ones.
  for (const std::size_t at : {980, 860, 760}) {
    const EventTime late = log_[at].time - 23;
    log_.insert(log_.begin() + static_cast<std::ptrdiff_t>(at), Row{7, 14, late});
  }
  const auto write = [&](const std::string& name, std::size_t begin, std::size_t end) {
    arrow::Int64Builder src, dst, time;
    for (std::size_t row = begin; row < end; ++row) {
      EXPECT_TRUE(src.Append(log_[row].src).ok());
      EXPECT_TRUE(dst.Append(log_[row].dst).ok());
      EXPECT_TRUE(time.Append(log_[row].time).ok());
    }
    WriteParquet(folder_ / ("log/" + name),
                 *TableOf({{"src", src.Finish().ValueOrDie()},
                           {"dst", dst.Finish().ValueOrDie()},
                           {"time", time.Finish().ValueOrDie()}}));
  };
  write("c.parquet", 660, 900);
  write("d.parquet", 900, log_.size());
  const Manifest manifest = MustEmbed("run");
  ExpectSound("run");
  const InputCounts& counts = manifest.Find(kEmbedPart)->counts;
  EXPECT_EQ(counts.rows_read, 3 * kTimes + 3);
  EXPECT_EQ(counts.rows_late, 3);
  // The rest is as if they had never been there.
  settings_.input.late = LatePolicy::kRefuse;
  log_ = sorted;
  ClearLog();
  std::filesystem::create_directories(settings_.input.edges);
  WriteLog("a.parquet", 0, kTimes);
  MustEmbed("new");
  ExpectSameBits("run", "new");
}

// Ten batches were asked for; rows that are dropped must not count in them.
TEST_F(RefusalsTest, TheClockCountsRowsThatAreKept) {
  settings_.input.late = LatePolicy::kDrop;
  settings_.partition = {};
  settings_.partition.predictions = 4;
  MustEmbed("counted");
  const std::size_t before = ScheduleOf("counted").size();
  // 100 rows a batch at first, 300 more, half of them late.
  WriteLog("c.parquet", 170, 270);
  const Manifest manifest = MustEmbed("counted");
  EXPECT_EQ(manifest.Find(kEmbedPart)->counts.rows_late, 150);
  EXPECT_FALSE(watched_.Said("fell together"));
  const Schedule schedule = ScheduleOf("counted");
  std::vector<std::int64_t> ends = {660};
  for (std::size_t i = before; i < schedule.size(); ++i) {
    if (schedule[i].at_prediction) ends.push_back(schedule[i].events);
  }
  ASSERT_EQ(ends.size(), 3u);  // 150 rows, about 82 a batch
  EXPECT_NEAR(static_cast<double>(ends[1] - ends[0]), 75.0, 3.0);
  EXPECT_EQ(ends.back(), 660 + 150);
}

TEST_F(RefusalsTest, TheSameRowsInAnotherFormAreNoChange) {
  Tree before = TreeOf("run");
  WriteLog("a.parquet", 0, 160, arrow::Compression::ZSTD, 77);
  MustEmbed("run");
  EXPECT_TRUE(watched_.Said("nothing new to predict: kept as it was"));
  ExpectSound("run");
  const Tree after = TreeOf("run");
  for (const auto& [name, file] : before) {
    if (name.starts_with("_")) continue;  // a new manifest, which knows the new file
    EXPECT_TRUE(after.contains(name) && after.at(name) == file) << name;
  }
  // Next time nothing has to be read.
  MustEmbed("run");
  EXPECT_TRUE(watched_.Said("settings and inputs are unchanged, skipped"));
  EXPECT_TRUE(watched_.steps.empty());
  // And it goes on from there.
  WriteLog("c.parquet", 220, kTimes);
  MustEmbed("run");
  ExpectSound("run");
  MustEmbed("new");
  ExpectSameBits("run", "new");
}

TEST_F(RefusalsTest, AFileThatIsOnlyTouchedIsNoChange) {
  const std::string path = folder_ / "log/a.parquet";
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now());
  MustEmbed("run");
  EXPECT_TRUE(watched_.Said("settings and inputs are unchanged, skipped"));
}

}  // namespace
}  // namespace coden
