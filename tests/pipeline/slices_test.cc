// A run in slices: scheduled once, embedded by calls that know nothing of each other,
// committed when all are there.

#include "pipeline/growing_run.h"

namespace coden {
namespace {

class SlicesTest : public GrowingRun {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(settings_.input.edges);
    WriteLog("a.parquet", 0, kTimes);
  }

  arrow::Result<Manifest> Bring(const std::string& run, Goal goal, bool force = false) {
    settings_.run.directory = PathOf(run);
    RunRequest request;
    request.goal = goal;
    request.force = force;
    return RunPipeline(settings_, request, {&watched_});
  }
  arrow::Status Slice(const std::string& run, int begin, int end) {
    Settings settings = settings_;
    settings.run.directory = PathOf(run);
    settings.embed.columns = ColumnRange{begin, end};
    ARROW_ASSIGN_OR_RAISE(const bool asks, AsksForSlice(settings));
    EXPECT_TRUE(asks);
    return RunSlice(settings, {&watched_});
  }

  // Hashes of all data files; the state of columns is cut by slices.
  std::map<std::string, std::string> Files(const arrow::Result<Manifest>& manifest) {
    EXPECT_TRUE(manifest.ok()) << manifest.status().ToString();
    std::map<std::string, std::string> hashes;
    if (!manifest.ok()) return hashes;
    for (const FileRecord& file : manifest->AllFiles()) {
      const bool cut = file.path.starts_with("state/columns-");
      if (!cut && file.path != RunLayout::kProgress && file.path != RunLayout::kWork)
        hashes[file.path] = file.xxh3;
    }
    return hashes;
  }
};

TEST_F(SlicesTest, InAnyOrderGiveTheFilesOfOneRun) {
  const auto whole = Files(Bring("whole", Goal::kEmbed));
  EXPECT_GT(whole.size(), 10u);
  const std::vector<std::vector<ColumnRange>> cuts = {
      {{0, 5}}, {{3, 5}, {0, 3}}, {{4, 5}, {2, 4}, {0, 1}, {1, 2}}};
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    SCOPED_TRACE(i);
    const std::string run = "run-" + std::to_string(i);
    ASSERT_TRUE(Bring(run, Goal::kSchedule).ok());
    EXPECT_FALSE(std::filesystem::exists(PathOf(run) + "/_SUCCESS"));
    for (const ColumnRange& columns : cuts[i])
      CODEN_EXPECT_OK(Slice(run, columns.begin, columns.end));
    EXPECT_EQ(Files(Bring(run, Goal::kCommit)), whole);
    EXPECT_TRUE(std::filesystem::exists(PathOf(run) + "/_SUCCESS"));
    EXPECT_FALSE(std::filesystem::exists(PathOf(run) + "/_coden/slices"));
  }
}

TEST_F(SlicesTest, ThatAreMissingAreNamed) {
  const auto none = Bring("none", Goal::kCommit).status();
  EXPECT_EQ(FaultOf(none), Fault::kInput);
  EXPECT_NE(none.message().find("make it with `coden schedule` first"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(PathOf("none")));
  ASSERT_TRUE(Bring("run", Goal::kSchedule).ok());
  CODEN_EXPECT_OK(Slice("run", 1, 3));
  const auto status = Bring("run", Goal::kCommit).status();
  EXPECT_EQ(FaultOf(status), Fault::kUnavailable);
  EXPECT_TRUE(status.message().ends_with(": 0:1, 3:5")) << status.message();
}

TEST_F(SlicesTest, ThatAreThereAreNotMadeAgain) {
  ASSERT_TRUE(Bring("run", Goal::kSchedule).ok());
  CODEN_EXPECT_OK(Slice("run", 0, 3));
  const int advances = watched_.num_advances;
  CODEN_EXPECT_OK(Slice("run", 0, 3));
  EXPECT_EQ(watched_.num_advances, advances);
  EXPECT_TRUE(watched_.Said("slice 0:3 is there already"));
}

TEST_F(SlicesTest, AWholeRunTakesThoseThatAreThere) {
  const auto whole = Files(Bring("whole", Goal::kEmbed));
  ASSERT_TRUE(Bring("run", Goal::kSchedule).ok());
  CODEN_EXPECT_OK(Slice("run", 1, 3));
  watched_.steps.clear();
  EXPECT_EQ(Files(Bring("run", Goal::kEmbed)), whole);
  EXPECT_EQ(watched_.steps,
            (std::vector<std::string>{"embed 2/3", "embed 3/3", "snapshot"}));
}

TEST_F(SlicesTest, OfAddedRowsGoOnFromTheLastCommit) {
  ClearLog();
  std::filesystem::create_directories(settings_.input.edges);
  WriteLog("a.parquet", 0, 240);
  ASSERT_TRUE(Bring("whole", Goal::kEmbed).ok());
  ASSERT_TRUE(Bring("run", Goal::kSchedule).ok());
  CODEN_EXPECT_OK(Slice("run", 0, 2));
  CODEN_EXPECT_OK(Slice("run", 2, 5));
  ASSERT_TRUE(Bring("run", Goal::kCommit).ok());
  WriteLog("b.parquet", 240, kTimes);
  const auto whole = Files(Bring("whole", Goal::kEmbed));
  ASSERT_TRUE(Bring("run", Goal::kSchedule).ok());
  CODEN_EXPECT_OK(Slice("run", 0, 4));
  CODEN_EXPECT_OK(Slice("run", 4, 5));
  EXPECT_EQ(Files(Bring("run", Goal::kCommit)), whole);
}

TEST_F(SlicesTest, OfOtherSettingsOrColumnsAreRefused) {
  ASSERT_TRUE(Bring("run", Goal::kSchedule).ok());
  const auto outside = Slice("run", 3, 6);
  EXPECT_EQ(FaultOf(outside), Fault::kUsage);
  EXPECT_NE(outside.message().find("within the columns 0:5"), std::string::npos)
      << outside.message();
  settings_.embed.alpha = 0.3;
  const auto other = Slice("run", 0, 3);
  EXPECT_EQ(FaultOf(other), Fault::kHistory);
  EXPECT_NE(other.message().find("embed.alpha"), std::string::npos) << other.message();
  EXPECT_EQ(FaultOf(Bring("run", Goal::kCommit).status()), Fault::kHistory);
}

TEST_F(SlicesTest, AreSomethingToLose) {
  ASSERT_TRUE(Bring("run", Goal::kSchedule).ok());
  CODEN_EXPECT_OK(Slice("run", 0, 3));
  settings_.embed.alpha = 0.3;
  EXPECT_EQ(FaultOf(Bring("run", Goal::kEmbed).status()), Fault::kHistory);
  EXPECT_TRUE(Bring("run", Goal::kEmbed, /*force=*/true).ok());
  EXPECT_FALSE(std::filesystem::exists(PathOf("run") + "/_coden/slices"));
}

TEST_F(SlicesTest, DoNotFitARunThatHasGoneOn) {
  ASSERT_TRUE(Bring("run", Goal::kSchedule).ok());
  bool finished = false;
  watched_.on_advance = [&](const std::string& step) {
    if (finished || step != "embed 0:3") return;
    finished = true;
    Watched other;
    Settings settings = settings_;
    settings.run.directory = PathOf("run");
    RunRequest request;
    request.goal = Goal::kEmbed;
    EXPECT_TRUE(RunPipeline(settings, request, {&other}).ok());
  };
  const auto status = Slice("run", 0, 3);
  EXPECT_TRUE(finished);
  EXPECT_NE(status.message().find("has gone on without this slice"), std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace coden
