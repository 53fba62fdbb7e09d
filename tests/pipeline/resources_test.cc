#include "coden/pipeline/resources.h"

#include "support/parquet.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

constexpr std::int64_t kTooMuch = std::int64_t{1} << 60;

// What a run needs whose snapshots have these edges, with `nodes` nodes in each.
ResourceEstimate Estimate(int nodes, int columns, const std::vector<std::int64_t>& edges,
                          bool directed = false) {
  Settings settings;
  settings.graph.directed = directed;
  RunInputs inputs;
  inputs.columns = {0, columns};
  inputs.nodes = NodeIdMap::Make(arrow::int64()).ValueOrDie();
  arrow::Int64Builder ids;
  for (int id = 0; id < nodes; ++id) EXPECT_TRUE(ids.Append(id).ok());
  std::vector<NodeId> ignored;
  CODEN_EXPECT_OK(inputs.nodes->Encode(*ids.Finish().ValueOrDie(), &ignored));
  Schedule schedule;
  for (const std::int64_t num_edges : edges) {
    SchedulePoint point;
    point.num_nodes = nodes;
    point.num_edges = num_edges;
    schedule.push_back(point);
  }
  return EstimateResources(settings, inputs, schedule, /*num_labelled=*/0);
}

void ExpectRefused(const arrow::Status& status, const std::string& part) {
  EXPECT_EQ(FaultOf(status), Fault::kResources) << status.ToString();
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

TEST(Resources, MemoryGrowsWithNodesColumnsAndTheLargestGraph) {
  const std::int64_t base = Estimate(1000, 16, {500, 5000}).memory_bytes;
  EXPECT_GE(base, 1000 * 16 * 20);
  EXPECT_GE(Estimate(2000, 16, {500, 5000}).memory_bytes - base, 1000 * 16 * 20);
  EXPECT_GE(Estimate(1000, 32, {500, 5000}).memory_bytes - base, 1000 * 16 * 20);
  EXPECT_GT(Estimate(1000, 16, {500, 6000}).memory_bytes, base);
  EXPECT_LT(Estimate(1000, 16, {500, 5000}, /*directed=*/true).memory_bytes, base);
  EXPECT_EQ(Estimate(1000, 16, {5000, 10, 500}).memory_bytes, base);
}

TEST(Resources, DiskHoldsEverySnapshot) {
  EXPECT_EQ(Estimate(1000, 16, {}).disk_bytes, 0);
  const std::int64_t one = Estimate(1000, 16, {500}).disk_bytes;
  EXPECT_GE(one, 1000 * 16 * 4);
  EXPECT_EQ(Estimate(1000, 16, {500, 600, 700}).disk_bytes, 3 * one);
}

TEST(Resources, TheMemoryLimitIsKept) {
  TempDir folder;
  Settings settings;
  settings.run.directory = folder / "run";
  settings.run.memory_limit = 5'000'000;
  CODEN_EXPECT_OK(CheckResources(settings, {5'000'000, 0}));
  ExpectRefused(CheckResources(settings, {5'000'001, 0}),
                "the embedding needs about 6 MB of memory; embed fewer columns at a time "
                "(`embed.columns`) or raise `run.memory_limit`: 5 MB");
  // Without a limit it is what the machine has.
  settings.run.memory_limit = 0;
  CODEN_EXPECT_OK(CheckResources(settings, {5'000'001, 0}));
  ExpectRefused(CheckResources(settings, {kTooMuch, 0}), "of memory");
}

TEST(Resources, TheDiskOfTheRunDirectoryMustHaveRoom) {
  TempDir folder;
  Settings settings;
  for (const std::string& directory :
       {folder.path(), folder.path() + "/not/there/yet", std::string("relative/run")}) {
    SCOPED_TRACE(directory);
    settings.run.directory = directory;
    CODEN_EXPECT_OK(CheckResources(settings, {0, 1000}));
    ExpectRefused(CheckResources(settings, {0, kTooMuch}), "on disk; free some");
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/not"));
}

}  // namespace
}  // namespace coden
