#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "base/random_internal.h"
#include "coden/sample/schedule.h"
#include "coden/settings/settings.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "support/run_store.h"

namespace coden {

/// A finished run in a folder of its own, as `embed` leaves it: four snapshots,
/// prediction times 10 and 20 at snapshots 1 and 3, and labels that the embeddings tell.
///
/// Node i has id 1000 + 7 i, class i % 3 and its first event at time i % 15, except node
/// 0, which has none. Members may be changed before Write.
class RunFixture : public ::testing::Test {
 protected:
  static constexpr int kNumNodes = 120;
  static constexpr int kNumChannels = 4;

  void SetUp() override {
    namespace fs = std::filesystem;
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    const fs::path root = fs::path(::testing::TempDir()) / "coden_train";
    directory_ = (root / info->name()).string();
    fs::remove_all(directory_);
    fs::create_directories(directory_);
    store_ = StoreAt(directory_);
    settings_.run.directory = directory_;
    settings_.run.seed = 5;
    settings_.run.threads = 1;
    settings_.input.labels = directory_ + "/labels.parquet";
    settings_.train.states = 2;
    settings_.train.hidden = 16;
    settings_.train.epochs = 15;
    settings_.train.learning_rate = 0.02;
    settings_.train.batch = 32;
    for (int snapshot = 0; snapshot < 4; ++snapshot) {
      schedule_.push_back({snapshot, 1 + snapshot / 2, snapshot % 2 == 1,
                           5 * (snapshot + 1), 10 * (snapshot + 1), kNumNodes, 50, 0.1});
    }
    for (int node = 0; node < kNumNodes; ++node) {
      label_nodes_.push_back(Id(node));
      label_values_.push_back(100 + node % 3);
    }
  }

  void TearDown() override { std::filesystem::remove_all(directory_); }

  static std::int64_t Id(int node) { return 1000 + 7 * node; }

  void Write() {
    Put(RunLayout::kSchedule, *ScheduleToBatch(schedule_).ValueOrDie());
    for (const SchedulePoint& point : schedule_) WriteSnapshot(point.snapshot);
    WriteNodes();
    WriteLabels();
  }

  void WriteSnapshot(int snapshot) {
    std::vector<std::int64_t> ids;
    std::vector<std::vector<float>> rows;
    SplitMix64 random(99 + static_cast<std::uint64_t>(snapshot));
    for (int node = 0; node < kNumNodes; ++node) {
      std::vector<float> row;
      for (int channel = 0; channel < kNumChannels; ++channel) {
        const double noise = static_cast<double>(random.Below(1000)) / 1000.0;
        row.push_back(static_cast<float>((channel == node % 3) + noise));
      }
      if (first_missing_ >= 0 && node >= first_missing_ && snapshot < 3) continue;
      ids.push_back(Id(node));
      rows.push_back(row);
    }
    if (change_rows_) change_rows_(snapshot, rows);
    std::vector<std::shared_ptr<arrow::Field>> fields = {
        arrow::field("node", IdType(), false)};
    std::vector<std::shared_ptr<arrow::Array>> columns = {Ids(ids)};
    AppendEmbedding(rows, fields, columns);
    Put(RunLayout::Snapshot(snapshot),
        *arrow::RecordBatch::Make(arrow::schema(fields),
                                  static_cast<std::int64_t>(ids.size()), columns));
  }

  void WriteNodes() {
    arrow::Int64Builder first_events;
    std::vector<std::int64_t> ids;
    for (int node = 0; node < kNumNodes; ++node) {
      ids.push_back(Id(node));
      EXPECT_TRUE((node == 0 || no_events_ ? first_events.AppendNull()
                                           : first_events.Append(node % 15))
                      .ok());
    }
    const auto schema = arrow::schema({arrow::field("node", IdType(), false),
                                       arrow::field("first_event", arrow::int64())});
    Put(RunLayout::kNodes,
        *arrow::RecordBatch::Make(schema, kNumNodes,
                                  {Ids(ids), first_events.Finish().ValueOrDie()}));
  }

  void WriteLabels() {
    arrow::Int64Builder values, times;
    EXPECT_TRUE(values.AppendValues(label_values_).ok());
    EXPECT_TRUE(times.AppendValues(label_times_).ok());
    std::vector<std::shared_ptr<arrow::Field>> fields = {
        arrow::field("node", label_id_type_ ? label_id_type_ : IdType(), false),
        arrow::field("label", arrow::int64(), false)};
    std::vector<std::shared_ptr<arrow::Array>> columns = {
        Ids(label_nodes_, label_id_type_), values.Finish().ValueOrDie()};
    if (!label_times_.empty()) {
      fields.push_back(arrow::field("time", arrow::int64()));
      columns.push_back(times.Finish().ValueOrDie());
    }
    Put("labels.parquet", *arrow::RecordBatch::Make(
                              arrow::schema(fields),
                              static_cast<std::int64_t>(label_nodes_.size()), columns));
  }

  std::shared_ptr<arrow::DataType> IdType() const {
    return string_ids_ ? arrow::utf8() : arrow::int64();
  }

  std::shared_ptr<arrow::Array> Ids(
      const std::vector<std::int64_t>& ids,
      const std::shared_ptr<arrow::DataType>& type = nullptr) const {
    if (type ? type->id() == arrow::Type::STRING : string_ids_) {
      arrow::StringBuilder builder;
      for (const std::int64_t id : ids) {
        EXPECT_TRUE(builder.Append("node " + std::to_string(id)).ok());
      }
      return builder.Finish().ValueOrDie();
    }
    arrow::Int64Builder builder;
    EXPECT_TRUE(builder.AppendValues(ids).ok());
    return builder.Finish().ValueOrDie();
  }

  void AppendEmbedding(const std::vector<std::vector<float>>& rows,
                       std::vector<std::shared_ptr<arrow::Field>>& fields,
                       std::vector<std::shared_ptr<arrow::Array>>& columns) const {
    if (settings_.snapshot.layout == SnapshotLayout::kColumns) {
      for (int channel = 0; channel < kNumChannels; ++channel) {
        arrow::FloatBuilder builder;
        for (const auto& row : rows) EXPECT_TRUE(builder.Append(row[channel]).ok());
        fields.push_back(
            arrow::field("e" + std::to_string(channel), arrow::float32(), false));
        columns.push_back(builder.Finish().ValueOrDie());
      }
      return;
    }
    const auto element = arrow::field("element", arrow::float32(), false);
    const auto values = std::make_shared<arrow::FloatBuilder>();
    arrow::ListBuilder list(arrow::default_memory_pool(), values, arrow::list(element));
    arrow::FixedSizeListBuilder fixed(arrow::default_memory_pool(), values,
                                      arrow::fixed_size_list(element, kNumChannels));
    const bool is_fixed = settings_.snapshot.layout == SnapshotLayout::kFixed;
    for (const auto& row : rows) {
      EXPECT_TRUE((is_fixed ? fixed.Append() : list.Append()).ok());
      EXPECT_TRUE(values->AppendValues(row).ok());
    }
    const auto column = (is_fixed ? fixed.Finish() : list.Finish()).ValueOrDie();
    fields.push_back(arrow::field("embedding", column->type(), false));
    columns.push_back(column);
  }

  void Put(std::string_view name, const arrow::RecordBatch& batch) {
    Move(StageParquetFile(*store_, name, batch).ValueOrDie());
  }
  // Do what a commit does with a staged file.
  void Move(const FileRecord& file) {
    ASSERT_TRUE(store_->Move(file.staged, file.path).ok());
  }

  std::string directory_;
  std::shared_ptr<RunStore> store_;
  Settings settings_;
  Schedule schedule_;
  std::vector<std::int64_t> label_nodes_, label_values_;
  std::vector<std::int64_t> label_times_;           // empty: labels without times
  std::shared_ptr<arrow::DataType> label_id_type_;  // null: that of the run
  bool string_ids_ = false;
  bool no_events_ = false;
  int first_missing_ = -1;  // nodes from here on are in the last snapshot only
  std::function<void(int snapshot, std::vector<std::vector<float>>& rows)> change_rows_;
};

}  // namespace coden
