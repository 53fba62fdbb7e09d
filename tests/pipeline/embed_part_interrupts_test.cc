// A run that is interrupted and started again gives the files of one that was not, to the
// last byte.

#include <chrono>
#include <thread>

#include "pipeline/growing_run.h"

namespace coden {
namespace {

class InterruptsTest : public GrowingRun {
 protected:
  InterruptsTest() {
    settings_.input.batch_rows = 24;
    settings_.input.random_features = 40;
    WriteLog("a.parquet", 0, 220);
  }

  // Run until `step` has gone on `advances` times and stop there: a schedule by batches
  // of the log, an embedding by snapshots. Whether it was stopped. The thread that goes
  // on is ahead of the one that writes; with `settle` that one may catch up before.
  bool StopAfter(const std::string& run, const std::string& step, int advances,
                 bool settle = true) {
    arrow::StopSource stop;
    int seen = 0;
    watched_.on_advance = [&](const std::string& now) {
      if (!now.starts_with(step) || ++seen != advances) return;
      if (settle) WaitForCommits(run);
      stop.RequestStop();
    };
    const auto manifest = Embed(run, /*force=*/false, stop.token());
    watched_.on_advance = [](const std::string&) {};
    EXPECT_TRUE(manifest.ok() || manifest.status().IsCancelled())
        << manifest.status().ToString();
    return !manifest.ok();
  }

  // Wait until nothing has been committed for a while.
  void WaitForCommits(const std::string& run) const {
    const std::string folder = PathOf(run) + "/_coden";
    auto last = std::filesystem::last_write_time(folder);
    for (int quiet = 0; quiet < 10; ++quiet) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      const auto now = std::filesystem::last_write_time(folder);
      if (now != last) quiet = 0;
      last = now;
    }
  }

  int SnapshotsIn(const std::string& run) const {
    return static_cast<int>(TreeOf(run, "snapshots").size());
  }

  // Of a whole run: how often its embedding goes on.
  int SnapshotsOf(const std::string& run) const {
    return static_cast<int>(ScheduleOf(run).size());
  }

  // The limit that a pass of 16 of the 40 columns just keeps, where `num_done` snapshots
  // are there.
  std::int64_t LimitOfThreePasses(int num_done = 0) {
    settings_.run.memory_limit = 0;
    const auto plan = PlanPipeline(settings_, {&watched_}).ValueOrDie();
    EXPECT_EQ(plan.resources.num_passes, 1);
    const auto size = [&](std::int64_t id_bytes, int done) {
      return EmbeddingSizeOf(settings_, plan.num_nodes, id_bytes, 40,
                             plan.scheduled.schedule, /*num_labelled=*/0, done);
    };
    const std::int64_t id_bytes = plan.resources.memory_bytes - PassBytes(size(0, 0), 40);
    return PassBytes(size(id_bytes, num_done), 16);
  }
};

TEST_F(InterruptsTest, AnywhereInTheScheduleOrTheEmbedding) {
  const auto whole = Hashes(MustEmbed("whole"));
  const int last = SnapshotsOf("whole");
  EXPECT_GT(last, 10);
  int resumed = 0;
  for (const std::string step : {"schedule", "embed"}) {
    const auto stops = step == "embed"
                           ? std::vector{1, 2, 4, 5, last / 2, last - 3, last - 1, last}
                           : std::vector{1, 9, 15, 26};
    for (const int advances : stops) {
      SCOPED_TRACE(step + " " + std::to_string(advances));
      EXPECT_TRUE(StopAfter("run", step, advances, /*settle=*/advances % 3 != 0));
      const int there = SnapshotsIn("run");
      const Tree before = TreeOf("run", "snapshots");
      EXPECT_EQ(Hashes(MustEmbed("run")), whole);
      ExpectSound("run");
      resumed += there > 0;
      // What was committed has not been made again.
      const Tree after = TreeOf("run", "snapshots");
      for (const auto& [name, file] : before) EXPECT_TRUE(after.at(name) == file) << name;
      std::filesystem::remove_all(PathOf("run"));
    }
  }
  EXPECT_GT(resumed, 3);
}

TEST_F(InterruptsTest, AgainAndAgain) {
  settings_.partition.initial = InitialBefore{10};
  const auto whole = Hashes(MustEmbed("whole"));
  int stops = 0, there = 0;
  while (StopAfter("run", "embed", 4)) {
    ASSERT_LT(++stops, 50);
    EXPECT_GE(SnapshotsIn("run"), there);
    there = SnapshotsIn("run");
  }
  EXPECT_GT(stops, 3);
  EXPECT_EQ(Hashes(MustEmbed("run")), whole);
  ExpectSound("run");
}

TEST_F(InterruptsTest, WithEveryKindOfGraphAndPrecision) {
  for (const bool directed : {false, true}) {
    for (const double epsilon : {0.3, 1e-5, 3e-8, 1e-9}) {
      SCOPED_TRACE(::testing::Message() << directed << " " << epsilon);
      settings_.graph = {.events = directed ? EventMode::kToggle : EventMode::kInsert,
                         .directed = directed,
                         .self_loops = directed,
                         .window = directed ? 0 : 45};
      settings_.embed.epsilon = epsilon;
      settings_.sample.lambda = epsilon > 0.1 ? 0.2 : 1.5;
      settings_.embed.audit = epsilon > 0.1 ? 0 : 3;
      const auto whole = Hashes(MustEmbed("whole"));
      EXPECT_TRUE(StopAfter("run", "embed", 3 * SnapshotsOf("whole") / 4));
      EXPECT_GT(SnapshotsIn("run"), 0);
      EXPECT_EQ(Hashes(MustEmbed("run")), whole);
      std::filesystem::remove_all(PathOf("run"));
      std::filesystem::remove_all(PathOf("whole"));
    }
  }
}

// With a wide error and frequent snapshots changes are pushed, otherwise they are swept.
TEST_F(InterruptsTest, WithFeaturesAndUpdates) {
  WriteFeatures(kNodes);
  WriteUpdates(220);
  for (const auto& [epsilon, lambda] : {std::pair(0.3, 0.2), std::pair(1e-6, 1.5)}) {
    settings_.embed.epsilon = epsilon;
    settings_.sample.lambda = lambda;
    const auto whole = Hashes(MustEmbed("whole"));
    const int last = SnapshotsOf("whole");
    for (const int advances : {last / 2, last - 3, last}) {
      SCOPED_TRACE(::testing::Message() << epsilon << " " << advances);
      EXPECT_TRUE(StopAfter("run", "embed", advances));
      EXPECT_GT(SnapshotsIn("run"), 0);
      EXPECT_EQ(Hashes(MustEmbed("run")), whole);
      std::filesystem::remove_all(PathOf("run"));
    }
    std::filesystem::remove_all(PathOf("whole"));
  }
}

TEST_F(InterruptsTest, InSeveralPasses) {
  const std::int64_t three = LimitOfThreePasses();
  settings_.run.memory_limit = three;
  const auto whole = Hashes(MustEmbed("whole"));
  EXPECT_EQ(watched_.steps.back(), "snapshot");
  const int last = SnapshotsOf("whole");
  for (const std::string step : {"embed 1/3", "embed 2/3", "embed 3/3"}) {
    for (const int advances : {1, last / 2, last}) {
      SCOPED_TRACE(step + " " + std::to_string(advances));
      EXPECT_TRUE(StopAfter("run", step, advances));
      EXPECT_EQ(Hashes(MustEmbed("run")), whole);
      ExpectSound("run");
      std::filesystem::remove_all(PathOf("run"));
    }
  }
}

// The files of the state are cut as the passes are; the snapshots do not know it.
TEST_F(InterruptsTest, InOnePassAndGoingOnInSeveral) {
  const auto snapshots = [&](const Manifest& manifest) {
    auto hashes = Hashes(manifest);
    std::erase_if(hashes, [](const auto& file) {
      return file.first.starts_with("state/columns") ||
             file.first == RunLayout::kProgress;
    });
    return hashes;
  };
  const auto whole = snapshots(MustEmbed("whole"));
  const int last = SnapshotsOf("whole");
  for (const int advances : {last / 2, last - 3}) {
    settings_.run.memory_limit = 0;
    EXPECT_TRUE(StopAfter("run", "embed", advances));
    EXPECT_GT(SnapshotsIn("run"), 0);
    settings_.run.memory_limit = LimitOfThreePasses(SnapshotsIn("run"));
    EXPECT_EQ(snapshots(MustEmbed("run")), whole);
    EXPECT_EQ(watched_.steps.back(), "snapshot");
    ExpectSound("run");
    // And an append in one pass again.
    settings_.run.memory_limit = 0;
    WriteLog("b.parquet", 220, kTimes);
    MustEmbed("run");
    ExpectSound("run");
    MustEmbed("longer");
    ExpectSameBits("run", "longer");
    std::filesystem::remove(folder_ / "log/b.parquet");
    std::filesystem::remove_all(PathOf("run"));
    std::filesystem::remove_all(PathOf("longer"));
  }
}

TEST_F(InterruptsTest, WhileRowsAreAppended) {
  MustEmbed("whole");
  const int first = SnapshotsOf("whole");
  std::filesystem::copy(PathOf("whole"), PathOf("base"),
                        std::filesystem::copy_options::recursive);
  WriteLog("b.parquet", 220, kTimes);
  const auto whole = Hashes(MustEmbed("whole"));
  const int added = SnapshotsOf("whole") - first;
  for (const std::string step : {"schedule", "embed"}) {
    const auto stops =
        step == "embed" ? std::vector{1, added / 2, added} : std::vector{1, 6, 12};
    for (const int advances : stops) {
      SCOPED_TRACE(step + " " + std::to_string(advances));
      std::filesystem::copy(PathOf("base"), PathOf("run"),
                            std::filesystem::copy_options::recursive);
      EXPECT_TRUE(StopAfter("run", step, advances));
      EXPECT_EQ(Hashes(MustEmbed("run")), whole);
      ExpectSound("run");
      std::filesystem::remove_all(PathOf("run"));
    }
  }
}

// The log may have grown by the time an interrupted run is started again.
TEST_F(InterruptsTest, AndGoesOnWithALongerLog) {
  EXPECT_TRUE(StopAfter("run", "embed", 6));
  EXPECT_GT(SnapshotsIn("run"), 0);
  WriteLog("b.parquet", 220, kTimes);
  MustEmbed("run");
  ExpectSound("run");
  EXPECT_TRUE(watched_.Said("embedding: going on after "));
  EXPECT_TRUE(watched_.Said("added to an earlier run: "));
  MustEmbed("whole");
  ExpectSameBits("run", "whole");
}

TEST_F(InterruptsTest, ARebuildThatIsInterruptedIsNotTakenForTheRunBefore) {
  const auto whole = Hashes(MustEmbed("whole"));
  settings_.embed.alpha = 0.4;
  MustEmbed("run");
  settings_.embed.alpha = 0.2;
  arrow::StopSource stop;
  int seen = 0;
  watched_.on_advance = [&](const std::string& step) {
    if (step == "embed" && ++seen == 6) stop.RequestStop();
  };
  EXPECT_TRUE(Embed("run", /*force=*/true, stop.token()).status().IsCancelled());
  EXPECT_FALSE(std::filesystem::exists(PathOf("run") + "/_SUCCESS"));
  EXPECT_EQ(Hashes(MustEmbed("run")), whole);
  ExpectSound("run");
}

}  // namespace
}  // namespace coden
