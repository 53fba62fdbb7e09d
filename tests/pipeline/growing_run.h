#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "coden/pipeline/pipeline.h"
#include "coden/store/commit.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "support/parquet.h"
#include "support/run_store.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {

/// Remember what a run says, and call `on_advance` with the step and how often it has
/// gone on.
class Watched : public SilentProgress {
 public:
  void Begin(std::string_view step, std::string_view, std::int64_t) override {
    step_ = step;
    steps.emplace_back(step);
  }
  void Advance(std::int64_t) override {
    ++num_advances;
    on_advance(step_);
  }
  void Note(std::string_view message) override { notes.emplace_back(message); }

  bool Said(std::string_view part) const {
    for (const std::string& note : notes) {
      if (note.find(part) != std::string::npos) return true;
    }
    return false;
  }

  std::vector<std::string> steps, notes;
  int num_advances = 0;
  std::function<void(const std::string&)> on_advance = [](const std::string&) {};

 private:
  std::string step_;
};

/// Runs of a random log that grows: times 0 to 339, three rows each, prediction times
/// 119, 139, ... after an initial graph of the times before 100.
class GrowingRun : public ::testing::Test {
 protected:
  static constexpr int kNodes = 40;
  static constexpr int kTimes = 340;
  static constexpr double kEpsilon = 1e-6;

  struct Row {
    std::int64_t src, dst, time;
  };

  GrowingRun() {
    std::mt19937 random(11);
    for (int time = 0; time < kTimes; ++time) {
      // New nodes go on arriving.
      const auto seen = static_cast<unsigned>(kNodes / 2 + kNodes * time / 2 / kTimes);
      for (int i = 0; i < 3; ++i) {
        log_.push_back({7 * static_cast<std::int64_t>(random() % seen),
                        7 * static_cast<std::int64_t>(random() % seen), time});
      }
    }
    settings_.input.edges = folder_.path() + "/log";
    settings_.input.random_features = 5;
    settings_.input.batch_rows = 64;
    settings_.graph.events = EventMode::kToggle;
    settings_.partition.initial = InitialBefore{100};
    settings_.partition.width = 20;
    settings_.sample.lambda = 1.5;
    settings_.embed.epsilon = kEpsilon;
    settings_.run.threads = 2;
    settings_.run.commit_interval = 0;
  }

  /// Write the rows with begin <= time < end as the file `name` of the log.
  void WriteLog(const std::string& name, int begin, int end,
                arrow::Compression::type compression = arrow::Compression::UNCOMPRESSED,
                std::int64_t row_group_rows = 1000) {
    arrow::Int64Builder src, dst, time;
    for (const Row& row : log_) {
      if (row.time < begin || row.time >= end) continue;
      EXPECT_TRUE(src.Append(row.src).ok());
      EXPECT_TRUE(dst.Append(row.dst).ok());
      EXPECT_TRUE(time.Append(row.time).ok());
    }
    const auto done = [](auto& builder) { return builder.Finish().ValueOrDie(); };
    const auto table =
        TableOf({{"src", done(src)}, {"dst", done(dst)}, {"time", done(time)}});
    auto file = arrow::io::FileOutputStream::Open(folder_ / ("log/" + name)).ValueOrDie();
    CODEN_EXPECT_OK(parquet::arrow::WriteTable(
        *table, arrow::default_memory_pool(), file, row_group_rows,
        parquet::WriterProperties::Builder().compression(compression)->build()));
    CODEN_EXPECT_OK(file->Close());
  }
  void ClearLog() { std::filesystem::remove_all(settings_.input.edges); }

  /// Write features of the first `num_nodes` nodes.
  void WriteFeatures(int num_nodes, float scale = 1.0f) {
    arrow::Int64Builder nodes;
    const auto values = std::make_shared<arrow::FloatBuilder>();
    arrow::ListBuilder vectors(arrow::default_memory_pool(), values);
    std::mt19937 random(5);
    for (int node = 0; node < num_nodes; ++node) {
      EXPECT_TRUE(nodes.Append(7 * node).ok());
      EXPECT_TRUE(vectors.Append().ok());
      for (int column = 0; column < 4; ++column)
        EXPECT_TRUE(
            values->Append(scale * static_cast<float>(random() % 100) * 0.1f).ok());
    }
    settings_.input.random_features = 0;
    settings_.input.features = WriteParquet(
        folder_ / "features.parquet", *TableOf({{"node", nodes.Finish().ValueOrDie()},
                                                {"x", vectors.Finish().ValueOrDie()}}));
  }

  /// Write an update of some node's features for every other time before `end`.
  void WriteUpdates(int end) {
    std::string nodes = "[0", times = "[0", vectors = "[[1, 1, 1, 1]";
    for (int time = 2; time < end; time += 2) {
      nodes += ", " + std::to_string(7 * (time % kNodes));
      times += ", " + std::to_string(time);
      vectors += ", [1, " + std::to_string(time % 9) + ", -2, 0.5]";
    }
    settings_.input.feature_updates = WriteParquet(
        folder_ / "updates.parquet",
        *TableOf({{"node", ArrayOf(arrow::int64(), nodes + "]")},
                  {"time", ArrayOf(arrow::int64(), times + "]")},
                  {"x", ArrayOf(arrow::list(arrow::float32()), vectors + "]")}}));
  }

  arrow::Result<Manifest> Run(const std::string& name, const RunRequest& request,
                              arrow::StopToken stop = arrow::StopToken::Unstoppable()) {
    settings_.run.directory = PathOf(name);
    watched_.steps.clear();
    watched_.notes.clear();
    watched_.num_advances = 0;
    return RunPipeline(settings_, request, {&watched_, std::move(stop)});
  }
  arrow::Result<Manifest> Embed(const std::string& name, bool force = false,
                                arrow::StopToken stop = arrow::StopToken::Unstoppable()) {
    RunRequest request;
    request.goal = Goal::kEmbed;
    request.force = force;
    return Run(name, request, std::move(stop));
  }
  /// Embed, and expect that it goes well.
  Manifest MustEmbed(const std::string& name, bool force = false) {
    const auto manifest = Embed(name, force);
    EXPECT_TRUE(manifest.ok()) << manifest.status().ToString();
    return manifest.ValueOr(Manifest{});
  }

  std::string PathOf(const std::string& run) const { return folder_.path() + "/" + run; }

  /// Bytes and time of writing of every file of a run but its lock.
  using Tree = std::map<std::string, std::pair<std::string, std::int64_t>>;
  Tree TreeOf(const std::string& run, const std::string& below = {}) const {
    Tree tree;
    const auto store = StoreAt(PathOf(run));
    for (const std::string& name : store->List(below).ValueOrDie()) {
      if (name == RunLayout::kLock) continue;
      const auto written = std::filesystem::last_write_time(store->LocalPath(name));
      tree[name] = {store->ReadText(name).ValueOrDie(),
                    written.time_since_epoch().count()};
    }
    return tree;
  }

  /// The hash of every file that the run's parts name, but for what the work took.
  static std::map<std::string, std::string> Hashes(const Manifest& manifest) {
    std::map<std::string, std::string> hashes;
    for (const PartRecord& part : manifest.parts) {
      for (const FileRecord& file : part.files) hashes[file.path] = file.xxh3;
    }
    hashes.erase(std::string(RunLayout::kWork));
    EXPECT_GT(hashes.size(), 8u);
    return hashes;
  }

  void ExpectSound(const std::string& run) const {
    const auto store = StoreAt(PathOf(run));
    const auto manifest = LoadManifest(*store).ValueOrDie();
    ASSERT_TRUE(manifest.has_value());
    for (const auto& file : VerifyFiles(*store, *manifest).ValueOrDie())
      EXPECT_EQ(file.problem, "") << file.path;
    EXPECT_TRUE(manifest->Find(kEmbedPart)->complete);
    EXPECT_TRUE(store->List(RunLayout::kStage).ValueOrDie().empty());
    EXPECT_TRUE(store->Size(RunLayout::kSuccess).ValueOrDie().has_value());
  }

  Schedule ScheduleOf(const std::string& run) const {
    const auto table =
        ReadParquetFile(*StoreAt(PathOf(run)), RunLayout::kSchedule).ValueOrDie();
    return ScheduleFromTable(*table).ValueOrDie();
  }

  /// The rows of a snapshot by node.
  using Vectors = std::map<std::int64_t, std::vector<float>>;
  Vectors SnapshotOf(const std::string& run, int snapshot) const {
    const auto table =
        ReadParquetFile(*StoreAt(PathOf(run)), RunLayout::Snapshot(snapshot))
            .ValueOrDie();
    const auto batch = table->CombineChunksToBatch().ValueOrDie();
    const auto& nodes = static_cast<const arrow::Int64Array&>(*batch->column(0));
    const auto& lists = static_cast<const arrow::ListArray&>(*batch->column(1));
    const auto& floats = static_cast<const arrow::FloatArray&>(*lists.values());
    Vectors vectors;
    for (std::int64_t row = 0; row < batch->num_rows(); ++row) {
      vectors[nodes.Value(row)].assign(floats.raw_values() + lists.value_offset(row),
                                       floats.raw_values() + lists.value_offset(row + 1));
    }
    return vectors;
  }

  /// Expect the same schedule with the same proven errors, and the same snapshots.
  void ExpectSameBits(const std::string& run, const std::string& other) const {
    const Schedule schedule = ScheduleOf(other);
    EXPECT_GT(schedule.size(), 5u);
    for (const SchedulePoint& point : schedule)
      EXPECT_TRUE(point.error_bound.has_value());
    ASSERT_TRUE(ScheduleOf(run) == schedule);
    for (const SchedulePoint& point : schedule) {
      EXPECT_EQ(SnapshotOf(run, point.snapshot), SnapshotOf(other, point.snapshot))
          << point.snapshot;
    }
  }

  TempDir folder_;
  std::vector<Row> log_;
  Settings settings_;
  Watched watched_;
};

}  // namespace coden
