#include "coden/plan/resources.h"

#include "store/machine_memory_internal.h"
#include "support/parquet.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

constexpr std::int64_t kTooMuch = std::int64_t{1} << 60;

std::unique_ptr<NodeIdMap> MakeNodes(int nodes) {
  auto map = NodeIdMap::Make(arrow::int64()).ValueOrDie();
  arrow::Int64Builder ids;
  for (int id = 0; id < nodes; ++id) EXPECT_TRUE(ids.Append(id).ok());
  std::vector<NodeId> ignored;
  CODEN_EXPECT_OK(map->Encode(*ids.Finish().ValueOrDie(), &ignored));
  return map;
}

std::int64_t IdBytes(int nodes) { return MakeNodes(nodes)->MemoryBytes(); }

// What a run needs whose snapshots have these edges, with `nodes` nodes in each, once the
// first `num_done` of them are there.
ResourceEstimate Estimate(int nodes, int columns, const std::vector<std::int64_t>& edges,
                          bool directed = false, std::int64_t limit = 0,
                          const SnapshotOptions& snapshot = {}, int num_done = 0) {
  Settings settings;
  settings.snapshot = snapshot;
  settings.run.memory_limit = limit;
  settings.graph.directed = directed;
  RunInputs inputs;
  inputs.columns = {0, columns};
  inputs.nodes = MakeNodes(nodes);
  Schedule schedule;
  for (const std::int64_t num_edges : edges) {
    SchedulePoint point;
    point.num_nodes = nodes;
    point.num_edges = num_edges;
    schedule.push_back(point);
  }
  return EstimateResources(settings, inputs, schedule, LabelSize{}, num_done);
}

// Of an undirected graph.
EmbeddingSize SizeOf(std::int64_t nodes, std::int64_t arcs) {
  return {.nodes = nodes,
          .arcs = arcs,
          .snapshot_rows = nodes,
          .threads = NumThreads({}),
          .symmetric = true};
}

// Memory of a pass of `slice` of `columns` columns over a graph of 1000 nodes and 5000
// edges.
std::int64_t PassMemory(int slice, int columns) {
  const EmbeddingSize size = SizeOf(1000, 10'000);
  return Estimate(1000, columns, {5000}).memory_bytes - EmbeddingBytes(size, columns) +
         EmbeddingBytes(size, slice);
}

void ExpectRefused(const arrow::Status& status, const std::string& part) {
  EXPECT_EQ(FaultOf(status), Fault::kResources) << status.ToString();
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

TEST(Resources, MemoryGrowsWithNodesColumnsAndTheLargestGraph) {
  const std::int64_t base = Estimate(1000, 16, {500, 5000}).memory_bytes;
  EXPECT_GE(base, 1000 * 16 * 8);
  EXPECT_GE(Estimate(2000, 16, {500, 5000}).memory_bytes - base, 1000 * 16 * 8);
  EXPECT_GE(Estimate(1000, 32, {500, 5000}).memory_bytes - base, 1000 * 16 * 8);
  EXPECT_GT(Estimate(1000, 16, {500, 6000}).memory_bytes, base);
  EXPECT_LT(Estimate(1000, 16, {500, 50'000}, /*directed=*/true).memory_bytes,
            Estimate(1000, 16, {500, 50'000}).memory_bytes);
}

TEST(Resources, AnUpdateHoldsTheNeighboursOfTheSnapshotBefore) {
  const auto memory = [](const std::vector<std::int64_t>& edges) {
    return Estimate(1000, 16, edges).memory_bytes;
  };
  EXPECT_EQ(memory({500, 5000}) - memory({5000}), 2 * 500 * 4);
  EXPECT_EQ(memory({4000, 5000}) - memory({5000}), 2 * 4000 * 4);
  EXPECT_EQ(memory({4000, 5000, 10}), memory({4000, 5000}));
  EXPECT_EQ(memory({5000, 10, 500}), memory({5000}));
}

TEST(Resources, ARunThatGoesOnHasTheGraphOfTheSnapshotsThatAreThere) {
  const auto memory = [](const std::vector<std::int64_t>& edges, int num_done) {
    return Estimate(1000, 16, edges, false, 0, {}, num_done).memory_bytes;
  };
  EXPECT_EQ(memory({4000, 5000}, 1), memory({4000, 5000}, 0));
  EXPECT_EQ(memory({4000, 5000}, 1) - memory({5000}, 0), 2 * 4000 * 4);
  EXPECT_EQ(memory({9000, 10, 20}, 2), memory({10, 20}, 1));
  // What is there is not written again.
  const auto disk = [](const std::vector<std::int64_t>& edges, int num_done) {
    return Estimate(1000, 16, edges, false, 0, {}, num_done).disk_bytes;
  };
  EXPECT_EQ(disk({500, 500, 500}, 2), disk({500}, 0));
}

TEST(Resources, AWindowHoldsTheInsertionsThatMayStillExpire) {
  Settings settings;
  Schedule schedule;
  for (int i = 0; i < 10; ++i) {
    SchedulePoint point;
    point.time = 100 * (i + 1);
    point.events = 1'000'000 * (i + 1);
    point.num_edges = 1'000'000;
    schedule.push_back(point);
  }
  const auto pending = [&](EventTime window, int num_done = 0) {
    settings.graph.window = window;
    return EmbeddingSizeOf(settings, 0, 0, 16, schedule, 0, num_done).pending_bytes;
  };
  EXPECT_EQ(pending(0), 0);
  // About 65 bytes for an insertion and its edge. Up to a snapshot there are those of one
  // window and of the interval before the snapshot.
  EXPECT_GE(pending(100), 65 * 2'000'000);
  EXPECT_LE(pending(100), 85 * 2'000'000);
  EXPECT_GE(pending(5000), 24 * 10'000'000);
  EXPECT_EQ(pending(100, /*num_done=*/5), pending(100));
  EXPECT_EQ(pending(5000, /*num_done=*/5), pending(5000));
  // What the first pass has counted is the better bound: about 80 bytes for each.
  RunInputs inputs;
  inputs.columns = {0, 16};
  inputs.nodes = MakeNodes(10);
  const auto memory = [&](std::optional<std::int64_t> most_pending) {
    inputs.most_pending = most_pending;
    return EstimateResources(settings, inputs, schedule, LabelSize{}).first_pass_bytes;
  };
  EXPECT_EQ(memory(1'000'000) - memory(500'000), 500'000 * 80);
  EXPECT_EQ(memory(1'000'000'000), memory(std::nullopt));
  // Only the first pass holds it; the embedding does not see it.
  EmbeddingSize size = SizeOf(1000, 10'000);
  size.columns = 16;
  const std::int64_t embedding = PassBytes(size, 16);
  const std::int64_t first_pass = FirstPassBytes(size);
  size.pending_bytes = 12'345;
  EXPECT_EQ(PassBytes(size, 16), embedding);
  EXPECT_EQ(FirstPassBytes(size), first_pass + 12'345);
  ResourceEstimate estimate;
  estimate.memory_bytes = 5;
  estimate.first_pass_bytes = 7;
  EXPECT_EQ(estimate.peak_bytes(), 7);
}

TEST(Resources, ChangesAreTheEventsBetweenSnapshotsAndTheEdgesThatMayExpire) {
  Settings settings;
  Schedule schedule(4);
  const std::int64_t events[] = {100, 400, 450, 1000};
  const std::int64_t edges[] = {90, 300, 700, 200};
  for (int i = 0; i < 4; ++i) {
    schedule[i].snapshot = i;
    schedule[i].time = i;
    schedule[i].events = events[i];
    schedule[i].num_edges = edges[i];
  }
  const auto size = [&](int num_done = 0) {
    return EmbeddingSizeOf(settings, 0, 0, 16, schedule, 0, num_done);
  };
  EXPECT_EQ(size().edges, 700);
  EXPECT_EQ(size().changes, 550);
  EXPECT_EQ(size(/*num_done=*/1).changes, 550);
  EXPECT_EQ(size(/*num_done=*/4).changes, 0);
  settings.graph.window = 1;
  EXPECT_EQ(size().changes, 550 + 700);
}

TEST(Resources, BothPassesHoldTheChangesOfASnapshot) {
  EmbeddingSize size = SizeOf(1000, 10'000);
  size.columns = 16;
  const std::int64_t pass = PassBytes(size, 16);
  const std::int64_t embedding = EmbeddingBytes(size, 16);
  size.changes = 100'000'000;
  EXPECT_GE(EmbeddingBytes(size, 16) - embedding, 100'000'000 * 16);
  EXPECT_GE(PassBytes(size, 16) - pass, 100'000'000 * 16);
  size.changes = 0;
  const std::int64_t first_pass = FirstPassBytes(size);
  size.edges = 100'000'000;
  EXPECT_EQ(EmbeddingBytes(size, 16), embedding);
  EXPECT_GE(FirstPassBytes(size) - first_pass, 100'000'000 * 8);
}

TEST(Resources, ARowGroupOfWholeRowsIsHeldUntilItIsWritten) {
  const auto memory = [](int nodes, int columns) {
    return Estimate(nodes, columns, {10}).memory_bytes -
           EmbeddingBytes(SizeOf(nodes, 20), columns);
  };
  // As pages and as compressed pages. Ten batches of a small snapshot are on their way,
  // and features have been read.
  EXPECT_EQ(memory(1000, 48) - memory(1000, 16), 1000 * 32 * 4 * (2 + 10 + 4));
  // It has at most 2^18 rows; batches have 2^23 numbers; large features come in pieces.
  EXPECT_EQ(memory(600'000, 48) - memory(600'000, 16), (1 << 18) * 32 * 4 * 2);
}

TEST(Resources, PassesAreAsFewAndAsEvenAsTheLimitAllows) {
  // The slice of `columns` columns with `bytes` more than a pass of `fits` of them takes.
  const auto slice = [](int columns, int fits, std::int64_t bytes = 0) {
    EmbeddingSize size = SizeOf(1000, 10'000);
    size.id_bytes = IdBytes(1000);
    size.columns = columns;
    return ColumnsPerPass(size, PassMemory(fits, columns) + bytes);
  };
  EXPECT_EQ(slice(172, 172), 172);
  EXPECT_EQ(slice(172, 172, -1), 96);  // 96 + 76 rather than 160 + 12
  EXPECT_EQ(slice(172, 96), 96);
  EXPECT_EQ(slice(172, 80), 64);  // 64 + 64 + 44
  EXPECT_EQ(slice(172, 16), 16);
  EXPECT_EQ(slice(172, 16, -1), 16);
  EXPECT_EQ(slice(7, 7, -1), 7);
  EXPECT_EQ(slice(1, 1), 1);
}

TEST(Resources, ThePlanSaysWhatThePassesNeed) {
  const auto all = Estimate(1000, 40, {5000, 500});
  EXPECT_EQ(all.num_passes, 1);
  EXPECT_EQ(all.columns_per_pass, 40);
  EXPECT_EQ(all.temporary_bytes, 0);
  const auto cut =
      Estimate(1000, 40, {5000, 500}, /*directed=*/false, PassMemory(16, 40));
  EXPECT_EQ(cut.num_passes, 3);
  EXPECT_EQ(cut.columns_per_pass, 16);
  EXPECT_EQ(cut.memory_bytes, PassMemory(16, 40));
  EXPECT_GE(cut.temporary_bytes, 2 * 1000 * 40 * 4);
  EXPECT_LE(cut.temporary_bytes, 2 * 1000 * 40 * 4 * 5 / 4);
  EXPECT_EQ(cut.disk_bytes, all.disk_bytes);
}

TEST(Resources, DiskHoldsEverySnapshot) {
  EXPECT_EQ(Estimate(1000, 16, {}).disk_bytes, 0);
  const std::int64_t one = Estimate(1000, 16, {700}).disk_bytes;
  // One snapshot, and the state that the next run needs.
  EXPECT_GE(one, 2 * 1000 * 16 * 4);
  const std::int64_t more = Estimate(1000, 16, {700, 700}).disk_bytes - one;
  EXPECT_GE(more, 1000 * 16 * 4);
  EXPECT_EQ(Estimate(1000, 16, {500, 600, 700}).disk_bytes, one + 2 * more);
}

TEST(Resources, HalfPrecisionTakesHalfTheDisk) {
  SnapshotOptions half;
  half.precision = SnapshotPrecision::kFloat16;
  const auto disk = [](const SnapshotOptions& snapshot) {
    return Estimate(1000, 16, {700, 700}, false, 0, snapshot).disk_bytes -
           Estimate(1000, 16, {700}, false, 0, snapshot).disk_bytes;
  };
  EXPECT_EQ(disk({}) - disk(half), 1000 * 16 * 2);
}

TEST(Resources, DeltasKeepTheLastFullSnapshotAndTheOpenOneInMemory) {
  SnapshotOptions delta;
  delta.mode = SnapshotMode::kDelta;
  const auto memory = [](int columns, const SnapshotOptions& snapshot) {
    return Estimate(1000, columns, {700}, false, 0, snapshot).memory_bytes;
  };
  const std::int64_t more = memory(16, delta) - memory(16, {});
  EXPECT_GE(more, 2 * 1000 * 16 * 4);
  EXPECT_EQ(memory(48, delta) - memory(48, {}) - more, 2 * 1000 * 32 * 4);
}

TEST(Resources, TheMemoryLimitIsKept) {
  TempDir folder;
  Settings settings;
  settings.run.directory = folder / "run";
  settings.run.memory_limit = 5'000'000;
  ResourceEstimate estimate;
  estimate.memory_bytes = 5'000'000;
  estimate.columns_per_pass = 16;
  CODEN_EXPECT_OK(CheckResources(settings, estimate));
  estimate.memory_bytes += 1;
  ExpectRefused(CheckResources(settings, estimate),
                "the embedding needs about 6 MB of memory even in passes of 16 columns; "
                "raise `run.memory_limit`: 5 MB");
  // Without a limit it is what the machine has.
  settings.run.memory_limit = 0;
  CODEN_EXPECT_OK(CheckResources(settings, estimate));
  estimate.memory_bytes = kTooMuch;
  ExpectRefused(CheckResources(settings, estimate), "take a larger machine");
}

TEST(Resources, WithoutALimitItIsWhatTheMachineOrItsContainerAllows) {
  Settings settings;
  EXPECT_EQ(MemoryLimit(settings), MachineMemory());
  EXPECT_LE(MemoryLimit(settings), ControlGroupLimit());
  settings.run.memory_limit = 5'000'000;
  EXPECT_EQ(MemoryLimit(settings), 5'000'000);
}

TEST(Resources, TheDiskOfTheRunDirectoryMustHaveRoom) {
  TempDir folder;
  Settings settings;
  for (const std::string& directory :
       {folder.path(), folder.path() + "/not/there/yet", std::string("relative/run")}) {
    SCOPED_TRACE(directory);
    settings.run.directory = directory;
    ResourceEstimate estimate;
    estimate.disk_bytes = 1000;
    CODEN_EXPECT_OK(CheckResources(settings, estimate));
    estimate.temporary_bytes = kTooMuch;
    ExpectRefused(CheckResources(settings, estimate), "MB until the run ends; free some");
    estimate.disk_bytes = std::exchange(estimate.temporary_bytes, 0);
    ExpectRefused(CheckResources(settings, estimate), "on disk; free some");
    // The training's histories come when the slices of the embedding have gone.
    estimate.disk_bytes = 1000;
    estimate.temporary_bytes = 3000;
    estimate.training = TrainingNeeds{.temporary_bytes = 2000};
    EXPECT_EQ(estimate.temporary_disk_bytes(), 3000);
    CODEN_EXPECT_OK(CheckResources(settings, estimate));
    estimate.training->temporary_bytes = kTooMuch;
    EXPECT_EQ(estimate.temporary_disk_bytes(), kTooMuch);
    ExpectRefused(CheckResources(settings, estimate),
                  "the histories that training puts on disk need about ");
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/not"));
}

}  // namespace
}  // namespace coden
