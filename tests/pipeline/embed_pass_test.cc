// The embedding in several passes over the history against the same in one.

#include "coden/pipeline/embed_pass.h"

#include <map>
#include <random>

#include "coden/pipeline/pipeline.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "support/parquet.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

constexpr int kNodes = 300;
constexpr int kColumns = 40;

// Remember the steps, and call `on_advance` as one goes on.
class Steps : public SilentProgress {
 public:
  void Begin(std::string_view step, std::string_view, std::int64_t) override {
    names.emplace_back(step);
  }
  void Advance(std::int64_t) override { on_advance(names.back()); }

  std::vector<std::string> names;
  std::function<void(const std::string&)> on_advance = [](const std::string&) {};
};

class EmbedPassTest : public ::testing::Test {
 protected:
  EmbedPassTest() {
    std::mt19937 random(4);
    arrow::Int64Builder src, dst, time, labelled, label;
    for (int row = 0; row < 600; ++row) {
      EXPECT_TRUE(src.Append(random() % kNodes).ok());
      EXPECT_TRUE(dst.Append(random() % kNodes).ok());
      EXPECT_TRUE(time.Append(row / 3).ok());
    }
    for (int node = 0; node < kNodes; node += 3) {
      EXPECT_TRUE(labelled.Append(node).ok());
      EXPECT_TRUE(label.Append(node % 2).ok());
    }
    const auto done = [](auto& builder) { return builder.Finish().ValueOrDie(); };
    settings_.input.edges = WriteParquet(
        folder_ / "edges.parquet",
        *TableOf({{"src", done(src)}, {"dst", done(dst)}, {"time", done(time)}}));
    settings_.input.labels =
        WriteParquet(folder_ / "labels.parquet",
                     *TableOf({{"node", done(labelled)}, {"label", done(label)}}));
    settings_.input.random_features = kColumns;
    settings_.run.threads = 2;
    settings_.partition.predictions = 4;
    settings_.sample.max_per_interval = 1;
  }

  // The limit that a pass of `columns` columns just keeps.
  std::int64_t LimitFor(int columns) {
    settings_.run.memory_limit = 0;
    const auto plan = PlanPipeline(settings_, {&steps_}).ValueOrDie();
    EXPECT_EQ(plan.resources.num_passes, 1);
    const int all = settings_.embed.columns.value_or(ColumnRange{0, kColumns}).size();
    const auto size = [&](std::int64_t id_bytes) {
      return EmbeddingSizeOf(settings_, plan.num_nodes, id_bytes, all,
                             plan.scheduled.schedule, /*num_labelled=*/kNodes / 3);
    };
    const std::int64_t id_bytes = plan.resources.memory_bytes - PassBytes(size(0), all);
    return PassBytes(size(id_bytes), columns);
  }

  arrow::Result<Manifest> Embed(const std::string& name,
                                arrow::StopToken stop = arrow::StopToken::Unstoppable()) {
    settings_.run.directory = folder_ / name;
    steps_.names.clear();
    RunRequest request;
    request.goal = Goal::kEmbed;
    return RunPipeline(settings_, request, {&steps_, std::move(stop)});
  }

  // The hash of every data file, by name, but for what the work took. Only the state is
  // cut as the passes are.
  std::map<std::string, std::string> Hashes(const std::string& name) {
    const auto manifest = Embed(name);
    EXPECT_TRUE(manifest.ok()) << manifest.status().ToString();
    std::map<std::string, std::string> hashes;
    for (const FileRecord& file : manifest->parts.at(0).files) {
      const bool cut = file.path.starts_with("state/columns-");
      if (!cut && file.path != RunLayout::kProgress) hashes[file.path] = file.xxh3;
    }
    hashes.erase(std::string(RunLayout::kWork));
    EXPECT_GT(hashes.size(), 5u);
    return hashes;
  }

  std::string Stage() const {
    return settings_.run.directory + "/" + std::string(RunLayout::kStage);
  }
  std::string Slices() const {
    return settings_.run.directory + "/" + std::string(RunLayout::kSlices);
  }

  TempDir folder_;
  Settings settings_;
  Steps steps_;
};

TEST_F(EmbedPassTest, TheFilesDoNotDependOnTheNumberOfPasses) {
  for (const SnapshotNodes nodes : {SnapshotNodes::kAll, SnapshotNodes::kLabelled}) {
    for (const SnapshotLayout layout :
         {SnapshotLayout::kList, SnapshotLayout::kFixed, SnapshotLayout::kColumns}) {
      const std::string name = "run-" + std::to_string(static_cast<int>(nodes)) + "-" +
                               std::to_string(static_cast<int>(layout)) + "-";
      SCOPED_TRACE(name);
      settings_.snapshot.nodes = nodes;
      settings_.snapshot.layout = layout;
      const std::int64_t two = LimitFor(32), three = LimitFor(16);
      settings_.run.memory_limit = 0;
      const auto whole = Hashes(name + "1");
      EXPECT_EQ(steps_.names, (std::vector<std::string>{"schedule", "embed"}));
      settings_.run.memory_limit = two;
      EXPECT_EQ(Hashes(name + "2"), whole);
      EXPECT_EQ(steps_.names, (std::vector<std::string>{"schedule", "embed 1/2",
                                                        "embed 2/2", "snapshot"}));
      settings_.run.memory_limit = three;
      EXPECT_EQ(Hashes(name + "3"), whole);
      EXPECT_EQ(steps_.names.size(), 5u);
      EXPECT_TRUE(std::filesystem::is_empty(Stage()));
      EXPECT_FALSE(std::filesystem::exists(Slices()));
    }
  }
}

TEST_F(EmbedPassTest, ASliceOfTheColumnsIsCutTheSameWay) {
  settings_.embed.columns = ColumnRange{3, 38};
  settings_.run.memory_limit = LimitFor(16);
  const auto passes = Hashes("passes");
  EXPECT_EQ(steps_.names.size(), 5u);
  settings_.run.memory_limit = 0;
  EXPECT_EQ(Hashes("whole"), passes);
}

TEST_F(EmbedPassTest, AnInterruptKeepsWholeSlicesAndNothingElse) {
  const auto whole = Hashes("whole");
  settings_.run.memory_limit = LimitFor(16);
  arrow::StopSource stop;
  steps_.on_advance = [&](const std::string& step) {
    if (step == "embed 2/3") stop.RequestStop();
  };
  EXPECT_TRUE(Embed("run", stop.token()).status().IsCancelled());
  std::vector<std::string> records;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(Slices())) {
    if (entry.path().extension() == ".json")
      records.push_back(entry.path().filename().string());
    EXPECT_EQ(entry.path().string().find("columns-16-32"), std::string::npos);
  }
  EXPECT_EQ(records, std::vector<std::string>{"columns-0-16.json"});

  steps_.on_advance = [](const std::string&) {};
  EXPECT_EQ(Hashes("run"), whole);
  EXPECT_EQ(steps_.names,
            (std::vector<std::string>{"embed 2/3", "embed 3/3", "snapshot"}));
  EXPECT_FALSE(std::filesystem::exists(Slices()));
}

TEST_F(EmbedPassTest, SnapshotsOfLabelledNodesHaveTheirRowsAlone) {
  const auto rows_of = [&](const std::string& name) {
    EXPECT_TRUE(Embed(name).ok());
    const auto store = RunStore::Open(settings_.run.directory).ValueOrDie();
    const auto table = ReadParquetFile(*store, RunLayout::Snapshot(1)).ValueOrDie();
    const auto batch = table->CombineChunksToBatch().ValueOrDie();
    const auto& ids = static_cast<const arrow::Int64Array&>(*batch->column(0));
    std::map<std::int64_t, std::string> rows;
    for (std::int64_t row = 0; row < batch->num_rows(); ++row) {
      rows[ids.Value(row)] = batch->column(1)->GetScalar(row).ValueOrDie()->ToString();
    }
    return rows;
  };
  auto all = rows_of("all");
  settings_.snapshot.nodes = SnapshotNodes::kLabelled;
  const auto labelled = rows_of("labelled");
  std::erase_if(all, [](const auto& row) { return row.first % 3 != 0; });
  EXPECT_GT(all.size(), 10u);
  EXPECT_EQ(labelled, all);
}

TEST_F(EmbedPassTest, ChosenNodesAreTheLabelledOnesThatTheRunHas) {
  const auto nodes = NodeIdMap::Make(arrow::int64()).ValueOrDie();
  std::vector<NodeId> ignored;
  CODEN_EXPECT_OK(
      nodes->Encode(*ArrayOf(arrow::int64(), "[7, 6, 1, 299, 0, 3]"), &ignored));
  EXPECT_FALSE(ChosenNodes(settings_, *nodes).ValueOrDie().has_value());
  settings_.snapshot.nodes = SnapshotNodes::kLabelled;
  EXPECT_EQ(ChosenNodes(settings_, *nodes).ValueOrDie(), (std::vector<NodeId>{1, 4, 5}));
  // Ids of another type are refused by the training.
  const auto strings = NodeIdMap::Make(arrow::utf8()).ValueOrDie();
  EXPECT_EQ(ChosenNodes(settings_, *strings).ValueOrDie(), std::vector<NodeId>());
}

TEST(RowCounts, AreTheNodesThatArePresentOfTheChosenOnes) {
  NodeTimes times;
  times.since = {0, 2, -1, 1, 2, 4};
  const auto counts = [&](const std::vector<int>& snapshots, int num_done,
                          const std::optional<std::vector<NodeId>>& chosen = {}) {
    Schedule schedule(snapshots.size());
    for (std::size_t i = 0; i < snapshots.size(); ++i)
      schedule[i].snapshot = snapshots[i];
    return RowCounts(schedule, num_done, times, chosen);
  };
  using Counts = std::vector<std::int64_t>;
  EXPECT_EQ(counts({0, 1, 2, 3}, 0), (Counts{1, 2, 4, 4}));
  EXPECT_EQ(counts({0, 1, 2, 3}, 2), (Counts{4, 4}));
  EXPECT_EQ(counts({0, 1, 2, 3}, 0, {{1, 2, 3}}), (Counts{0, 1, 2, 2}));
  EXPECT_EQ(counts({0, 1, 2, 3}, 4), Counts());
  // Snapshots may be left out.
  EXPECT_EQ(counts({1, 4}, 0), (Counts{2, 5}));
}

TEST_F(EmbedPassTest, TheLimitBelowTheSmallestPassIsRefused) {
  settings_.run.memory_limit = LimitFor(16) - 1;
  const arrow::Status status = Embed("run").status();
  EXPECT_EQ(FaultOf(status), Fault::kResources);
  EXPECT_NE(status.message().find("even in passes of 16 columns; raise "
                                  "`run.memory_limit`: "),
            std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace coden
