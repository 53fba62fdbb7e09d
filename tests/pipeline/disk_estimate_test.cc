#include "coden/pipeline/disk_estimate.h"

#include <random>

#include "coden/pipeline/pipeline.h"
#include "coden/state/fingerprint.h"
#include "store/run_store_internal.h"
#include "support/parquet.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

// A log of nodes that arrive over time, half of them with features. `string_ids` names
// them by long strings.
class DiskEstimateTest : public ::testing::Test {
 protected:
  static constexpr int kNodes = 1500;
  static constexpr int kWidth = 40;

  explicit DiskEstimateTest(bool string_ids = false) {
    std::mt19937 random(5);
    arrow::Int64Builder src, dst, time, labelled, labels;
    for (int row = 0; row < 6000; ++row) {
      const int known = 20 + row * kNodes / 6000;
      EXPECT_TRUE(src.Append(static_cast<std::int64_t>(random() % known)).ok());
      EXPECT_TRUE(dst.Append(static_cast<std::int64_t>(random() % known)).ok());
      EXPECT_TRUE(time.Append(row).ok());
    }
    arrow::Int64Builder nodes;
    auto numbers = std::make_shared<arrow::FloatBuilder>();
    arrow::ListBuilder vectors(arrow::default_memory_pool(), numbers);
    for (int node = 0; node < kNodes; node += 2) {
      EXPECT_TRUE(nodes.Append(node).ok());
      EXPECT_TRUE(vectors.Append().ok());
      for (int column = 0; column < kWidth; ++column) {
        // Columns differ: some are zero for most nodes.
        const bool zero = column % 3 == 0 && random() % 10 > 0;
        EXPECT_TRUE(
            numbers->Append(zero ? 0.0f : static_cast<float>(random()) * 1e-9f).ok());
      }
      if (node % 5 > 0) continue;
      EXPECT_TRUE(labelled.Append(node).ok());
      EXPECT_TRUE(labels.Append(node % 3).ok());
    }
    const auto ids = [&](arrow::Int64Builder& builder) -> std::shared_ptr<arrow::Array> {
      const auto array = builder.Finish().ValueOrDie();
      if (!string_ids) return array;
      arrow::StringBuilder text;
      for (std::int64_t i = 0; i < array->length(); ++i) {
        const auto id = array->GetScalar(i).ValueOrDie()->ToString();
        EXPECT_TRUE(
            text.Append(id + "/" + std::to_string(std::hash<std::string>()(id))).ok());
      }
      return text.Finish().ValueOrDie();
    };
    settings_.input.edges = WriteParquet(
        folder_ / "edges.parquet", *TableOf({{"src", ids(src)},
                                             {"dst", ids(dst)},
                                             {"time", time.Finish().ValueOrDie()}}));
    settings_.input.features = WriteParquet(
        folder_ / "features.parquet",
        *TableOf({{"node", ids(nodes)}, {"x", vectors.Finish().ValueOrDie()}}));
    settings_.input.labels = WriteParquet(
        folder_ / "labels.parquet",
        *TableOf({{"node", ids(labelled)}, {"label", labels.Finish().ValueOrDie()}}));
    settings_.sample.max_per_interval = 1;
  }

  DiskEstimate Estimate() {
    RunInputs inputs = RunInputs::Open(settings_).ValueOrDie();
    const auto store = MakeMemoryRunStore().ValueOrDie();
    const auto pass =
        RunSchedulePass(settings_, inputs, context_, store.get()).ValueOrDie();
    return EstimateDisk(settings_, inputs, pass, *store, context_).ValueOrDie();
  }

  // What a run leaves, by the sizes that its manifest names.
  DiskEstimate Written() {
    settings_.run.directory = folder_ / ("run" + std::to_string(num_runs_++));
    RunRequest request;
    request.goal = Goal::kEmbed;
    const auto manifest = RunPipeline(settings_, request, context_);
    EXPECT_TRUE(manifest.ok()) << manifest.status().ToString();
    DiskEstimate written;
    for (const FileRecord& file : manifest->Find(kEmbedPart)->files) {
      (file.path.starts_with("snapshots/") ? written.snapshot_bytes
                                           : written.state_bytes) += file.size;
    }
    return written;
  }

  void ExpectWithin(double share) {
    const DiskEstimate said = Estimate();
    const DiskEstimate written = Written();
    EXPECT_NEAR(static_cast<double>(said.snapshot_bytes),
                static_cast<double>(written.snapshot_bytes),
                share * static_cast<double>(written.snapshot_bytes));
    EXPECT_NEAR(static_cast<double>(said.state_bytes),
                static_cast<double>(written.state_bytes),
                share * static_cast<double>(written.state_bytes));
  }

  TempDir folder_;
  Settings settings_;
  SilentProgress progress_;
  RunContext context_{&progress_};
  int num_runs_ = 0;
};

class DiskEstimateOfStringIds : public DiskEstimateTest {
 protected:
  DiskEstimateOfStringIds() : DiskEstimateTest(/*string_ids=*/true) {}
};

TEST_F(DiskEstimateTest, IsNearForEveryFormOfFile) {
  for (const auto layout :
       {SnapshotLayout::kList, SnapshotLayout::kFixed, SnapshotLayout::kColumns}) {
    for (const auto precision :
         {SnapshotPrecision::kFloat32, SnapshotPrecision::kFloat16}) {
      for (const auto compression :
           {SnapshotCompression::kZstd, SnapshotCompression::kNone}) {
        SCOPED_TRACE(testing::Message()
                     << static_cast<int>(layout) << " " << static_cast<int>(precision)
                     << " " << static_cast<int>(compression));
        settings_.snapshot.layout = layout;
        settings_.snapshot.precision = precision;
        settings_.snapshot.compression = compression;
        ExpectWithin(0.1);
      }
    }
  }
}

TEST_F(DiskEstimateTest, IsNearForLabelledNodes) {
  settings_.snapshot.nodes = SnapshotNodes::kLabelled;
  ExpectWithin(0.1);
}

TEST_F(DiskEstimateTest, IsNearForASliceOfColumns) {
  settings_.embed.columns = ColumnRange{10, 17};
  ExpectWithin(0.1);
}

TEST_F(DiskEstimateOfStringIds, IsNear) { ExpectWithin(0.1); }

TEST_F(DiskEstimateTest, DeltasAreTakenForFullSnapshots) {
  const DiskEstimate full = Estimate();
  settings_.snapshot.mode = SnapshotMode::kDelta;
  const DiskEstimate delta = Estimate();
  EXPECT_NEAR(static_cast<double>(delta.snapshot_bytes),
              static_cast<double>(full.snapshot_bytes),
              0.01 * static_cast<double>(full.snapshot_bytes));
}

TEST(DiskEstimateOfRest, TakesTheBytesPerNodeOfTheSnapshotsThatAreThere) {
  PartRecord part;
  part.files = {{"snapshots/snapshot=000000/part-0.parquet", 1000, 10, ""},
                {"state/nodes.parquet", 300, 10, ""},
                {"schedule.parquet", 200, 1, ""}};
  Schedule schedule(3);
  schedule[0].num_nodes = 10;
  schedule[1].num_nodes = 20;
  schedule[2].num_nodes = 40;
  const DiskEstimate rest = EstimateDiskOfRest(part, schedule, /*num_done=*/1);
  EXPECT_EQ(rest.snapshot_bytes, 6000);
  EXPECT_EQ(rest.state_bytes, 2000);
}

}  // namespace
}  // namespace coden
