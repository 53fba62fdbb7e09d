#include "coden/state/saved_labels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "embed/label_task.h"
#include "support/event_fed_graph.h"
#include "support/parquet.h"
#include "support/run_store.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

using test::AllNodes;
using test::kNumNodes;
using test::LabelOptions;
using test::LabelTask;

using Rows = std::vector<std::vector<float>>;  // of all nodes, by snapshot

// An embedder of the labels of `task`, for a schedule that may end before that of it.
std::unique_ptr<LabelEmbedder> MakeLabels(const LabelTask& task,
                                          const LabelEmbedderOptions& options,
                                          const Schedule& schedule,
                                          NodeId num_nodes = kNumNodes) {
  std::vector<std::unique_ptr<GraphSource>> graphs;
  std::shared_ptr<const NodeTimes> times;
  for (const EventTime window : options.windows) {
    GraphOptions graph = options.graph;
    graph.window = window;
    const auto followed = test::FollowEvents(task.events, schedule, graph, num_nodes);
    graphs.push_back(followed.Graphs());
    times = followed.times;
  }
  return LabelEmbedder::Make(options, schedule, task.seeds, times, std::move(graphs))
      .ValueOrDie();
}

class SavedLabelsTest : public ::testing::Test {
 protected:
  // Embed the first `num_snapshots` and save them; the schedule may go on after them.
  void Save(const LabelTask& task, const LabelEmbedderOptions& options, int num_snapshots,
            NodeId num_nodes = kNumNodes) {
    const Schedule begun(task.schedule.begin(), task.schedule.begin() + num_snapshots);
    const auto labels = MakeLabels(task, options, begun, num_nodes);
    CODEN_EXPECT_OK(labels->Run());
    Place(StageLabelState(*store_, *labels));
  }

  void Place(const arrow::Result<std::vector<FileRecord>>& files) {
    ASSERT_TRUE(files.ok()) << files.status().ToString();
    for (const FileRecord& file : *files)
      CODEN_EXPECT_OK(store_->Move(file.staged, file.path));
  }

  // The snapshots after those that were saved, or all of them. `end` is what the engines
  // remember at the end.
  Rows Run(const LabelTask& task, LabelEmbedderOptions options, bool go_on,
           std::vector<EngineMemory>* end = nullptr) {
    Rows rows;
    LabelEmbedder* embedder = nullptr;
    options.after_snapshot = [&](const SchedulePoint&) {
      rows.emplace_back(static_cast<std::size_t>(kNumNodes) * embedder->width());
      embedder->CopyRows(AllNodes(), rows.back().data());
      return arrow::Status::OK();
    };
    const auto labels = MakeLabels(task, options, task.schedule);
    embedder = labels.get();
    if (go_on) CODEN_EXPECT_OK(LoadLabelState(*store_, *labels));
    CODEN_EXPECT_OK(labels->Run());
    if (end == nullptr) return rows;
    end->clear();
    for (int window = 0; window < 2; ++window)
      for (int alpha = 0; alpha < 2; ++alpha)
        end->push_back(labels->engine(window, alpha).Memory());
    return rows;
  }

  static void ExpectSameBits(const Rows& actual, const Rows& expected,
                             std::size_t skipped) {
    ASSERT_EQ(actual.size() + skipped, expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
      const auto& a = actual[i];
      const auto& b = expected[skipped + i];
      EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end(),
                             [](float x, float y) {
                               return std::bit_cast<std::uint32_t>(x) ==
                                      std::bit_cast<std::uint32_t>(y);
                             }))
          << "snapshot " << skipped + i;
    }
  }

  void ExpectDamaged(const LabelTask& task, const LabelEmbedderOptions& options,
                     std::string_view name) {
    const auto labels = MakeLabels(task, options, task.schedule);
    const arrow::Status status = LoadLabelState(*store_, *labels);
    EXPECT_EQ(FaultOf(status), Fault::kCorruption) << status.ToString();
    EXPECT_EQ(status.message(), "'" + store_->Show(name) +
                                    "' is not the state of this run; rebuild it with "
                                    "--force");
  }

  void WriteLabels(const std::string& nodes, const std::string& columns, int rows) {
    const auto schema = arrow::schema({arrow::field("node", arrow::int32(), false),
                                       arrow::field("column", arrow::int32(), false)});
    const auto batch = arrow::RecordBatch::Make(
        schema, rows, {ArrayOf(arrow::int32(), nodes), ArrayOf(arrow::int32(), columns)});
    const FileRecord file =
        StageParquetFile(*store_, RunLayout::kLabels, *batch).ValueOrDie();
    CODEN_EXPECT_OK(store_->Move(file.staged, file.path));
  }

  TempDir folder_;
  std::shared_ptr<RunStore> store_ = StoreAt(folder_.path());
};

TEST_F(SavedLabelsTest, OneThatGoesOnHasTheSameBits) {
  unsigned seed = 0;
  int in_double = 0, in_float = 0, num_pushed = 0;
  for (const int num_folds : {2, 5}) {
    for (const bool directed : {false, true}) {
      for (const double epsilon : {0.5, 1e-5, 3e-8, 1e-9}) {
        const LabelTask task(++seed, num_folds);
        LabelEmbedderOptions options = LabelOptions(num_folds);
        options.graph.directed = directed;
        options.embed.epsilon = epsilon;
        std::vector<EngineMemory> expected_end, end;
        const Rows expected = Run(task, options, /*go_on=*/false, &expected_end);
        const auto num_snapshots = static_cast<int>(task.schedule.size());
        const auto turn = static_cast<int>(seed);
        for (const int stop : {turn % num_snapshots, num_snapshots - turn / 2}) {
          SCOPED_TRACE(::testing::Message()
                       << num_folds << " folds, directed " << directed << " " << epsilon
                       << " stopped " << stop);
          Save(task, options, stop);
          ExpectSameBits(Run(task, options, /*go_on=*/true, &end), expected, stop);
          for (std::size_t i = 0; i < end.size(); ++i) {
            EXPECT_EQ(end[i].pushed, expected_end[i].pushed);
            EXPECT_EQ(end[i].bounds, expected_end[i].bounds);
            EXPECT_EQ(end[i].in_double, expected_end[i].in_double);
          }
        }
        for (const EngineMemory& memory : end) {
          num_pushed += memory.pushed > 0.0;
          for (const bool is_double : memory.in_double)
            ++(is_double ? in_double : in_float);
        }
      }
    }
  }
  EXPECT_GT(in_double, 0);
  EXPECT_GT(in_float, 0);
  EXPECT_GT(num_pushed, 0);
}

TEST_F(SavedLabelsTest, MaySaveWhileItRuns) {
  const LabelTask task(31, 2);
  LabelEmbedderOptions options = LabelOptions(2);
  const Rows expected = Run(task, options, /*go_on=*/false);
  LabelEmbedder* embedder = nullptr;
  options.after_snapshot = [&](const SchedulePoint& point) {
    if (point.snapshot == 3) Place(StageLabelState(*store_, *embedder));
    return arrow::Status::OK();
  };
  const auto labels = MakeLabels(task, options, task.schedule);
  embedder = labels.get();
  CODEN_EXPECT_OK(labels->Run());
  ExpectSameBits(Run(task, LabelOptions(2), /*go_on=*/true), expected, 4);
}

// Nodes that come later, with labels that were known all along.
TEST_F(SavedLabelsTest, NodesMayHaveCome) {
  const LabelTask task(41, 5);
  LabelTask earlier = task;
  constexpr NodeId kEarlier = test::kInEvents + 1;
  std::erase_if(earlier.seeds, [](const LabelSeed& s) { return s.node >= kEarlier; });
  ASSERT_LT(earlier.seeds.size(), task.seeds.size());
  Save(earlier, LabelOptions(5), 4, kEarlier);
  ExpectSameBits(Run(task, LabelOptions(5), /*go_on=*/true),
                 Run(task, LabelOptions(5), /*go_on=*/false), 4);
}

// Labels of the past that were another one, not there yet, or are there no more.
TEST_F(SavedLabelsTest, OtherLabelsEnterAtTheNextSnapshot) {
  const LabelTask task(51, 2);
  LabelTask earlier = task;
  earlier.seeds[2].label = (earlier.seeds[2].label + 1) % test::kNumClasses;
  earlier.seeds.erase(earlier.seeds.begin() + 3);
  earlier.seeds.push_back({/*node=*/2, /*fold=*/0, /*label=*/1});
  const Rows expected = Run(task, LabelOptions(2), /*go_on=*/false);
  const Rows before = Run(earlier, LabelOptions(2), /*go_on=*/false);
  Save(earlier, LabelOptions(2), 4);
  const Rows rows = Run(task, LabelOptions(2), /*go_on=*/true);
  ASSERT_EQ(rows.size() + 4, expected.size());
  double most = 0.0;
  const std::size_t width = expected[0].size() / kNumNodes;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows[i].size(); ++j) {
      // Node 2 does not read the fold that its label was in.
      if (j / width == 2) continue;
      ASSERT_NEAR(rows[i][j], expected[4 + i][j], 3e-7) << i << " node " << j / width;
      most = std::max(most, std::abs(double{before[4 + i][j]} - expected[4 + i][j]));
    }
  }
  EXPECT_GT(most, 0.01);
}

TEST_F(SavedLabelsTest, ANodeMayNotChangeItsFold) {
  const LabelTask task(61, 2);
  Save(task, LabelOptions(2), 4);
  LabelTask other = task;
  other.seeds[2].fold = 1 - other.seeds[2].fold;
  const auto labels = MakeLabels(other, LabelOptions(2), other.schedule);
  const arrow::Status status = LoadLabelState(*store_, *labels);
  EXPECT_EQ(status.message(),
            "a node has changed its fold since its label was used: node " +
                std::to_string(task.seeds[2].node) + ", folds " +
                std::to_string(task.seeds[2].fold) + " and " +
                std::to_string(other.seeds[2].fold));
}

TEST_F(SavedLabelsTest, OtherOptionsAndSchedulesAreRefused) {
  const LabelTask task(71, 2);
  Save(task, LabelOptions(2), 4);
  EXPECT_FALSE(Run(task, LabelOptions(2), /*go_on=*/true).empty());
  LabelEmbedderOptions other = LabelOptions(3);
  ExpectDamaged(task, other, RunLayout::kLabelProgress);
  other = LabelOptions(2);
  other.alphas[1] = 0.4;
  ExpectDamaged(task, other, RunLayout::kLabelProgress);
  other = LabelOptions(2);
  other.windows[1] = 13;
  ExpectDamaged(task, other, RunLayout::kLabelProgress);
  LabelTask shorter = task;
  shorter.schedule.resize(3);
  ExpectDamaged(shorter, LabelOptions(2), RunLayout::kLabelProgress);
  LabelTask moved = task;
  moved.schedule[3].snapshot += 1;
  ExpectDamaged(moved, LabelOptions(2), RunLayout::kLabelProgress);
}

TEST_F(SavedLabelsTest, DamagedFilesAreCorruption) {
  const LabelTask task(81, 2);
  const LabelEmbedderOptions options = LabelOptions(2);
  Save(task, options, 4);
  const std::string text = store_->ReadText(RunLayout::kLabelProgress).ValueOrDie();
  for (const std::string damaged : {"", "{}", "[1]", "{\"num_snapshots\": \"4\"}"}) {
    SCOPED_TRACE(damaged);
    CODEN_EXPECT_OK(store_->WriteText(RunLayout::kLabelProgress, damaged));
    ExpectDamaged(task, options, RunLayout::kLabelProgress);
  }
  for (const std::string name : {"bounds", "in_double", "engines", "pushed"}) {
    SCOPED_TRACE(name);
    std::string without = text;
    without.replace(without.find("\"" + name + "\""), name.size() + 2, "\"none\"");
    CODEN_EXPECT_OK(store_->WriteText(RunLayout::kLabelProgress, without));
    ExpectDamaged(task, options, RunLayout::kLabelProgress);
  }
  CODEN_EXPECT_OK(store_->WriteText(RunLayout::kLabelProgress, text));
  for (const auto& [nodes, columns] :
       std::vector<std::pair<std::string, std::string>>{{"[0, 0]", "[1, 1]"},
                                                        {"[0, 30]", "[1, 1]"},
                                                        {"[0, -1]", "[1, 1]"},
                                                        {"[0, 1]", "[1, 6]"},
                                                        {"[0, 1]", "[1, -1]"}}) {
    SCOPED_TRACE(nodes + columns);
    WriteLabels(nodes, columns, 2);
    ExpectDamaged(task, options, RunLayout::kLabels);
  }
  Save(task, options, 4);
  CODEN_EXPECT_OK(store_->Remove(RunLayout::LabelColumns(1, 1)));
  const auto labels = MakeLabels(task, options, task.schedule);
  const arrow::Status status = LoadLabelState(*store_, *labels);
  EXPECT_EQ(FaultOf(status), Fault::kCorruption) << status.ToString();
}

}  // namespace
}  // namespace coden
