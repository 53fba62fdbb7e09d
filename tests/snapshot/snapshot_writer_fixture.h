// What the tests of the writer share: rows of snapshots, and a run to write them into.
#pragma once

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "coden/embed/embedder.h"
#include "coden/snapshot/snapshot_writer.h"
#include "coden/store/run_layout.h"
#include "support/parquet.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {

inline constexpr int kWidth = 4;

inline std::shared_ptr<arrow::DataType> VectorType() {
  return arrow::list(arrow::field("element", arrow::float32(), /*nullable=*/false));
}

// A node as text and its vector: what a file holds, whatever its layout.
using Rows = std::vector<std::pair<std::string, std::vector<float>>>;

// Rows of one snapshot, with the ids that its file is to have. The embed stage emits the
// same with numbers in their place (SnapshotWriterTest::Push).
inline BatchPtr EmbeddingsOf(int snapshot, const std::shared_ptr<arrow::Array>& ids,
                             const std::vector<float>& values) {
  const std::int64_t rows = ids->length();
  EXPECT_EQ(static_cast<std::int64_t>(values.size()), rows * kWidth);
  std::vector<std::int32_t> numbers(rows, snapshot), offsets = {0};
  for (int row = 0; row < rows; ++row) offsets.push_back((row + 1) * kWidth);
  const auto size = static_cast<std::int64_t>(values.size());
  const auto vectors = std::make_shared<arrow::ListArray>(
      VectorType(), rows, arrow::Buffer::FromVector(offsets),
      std::make_shared<arrow::FloatArray>(size, arrow::Buffer::FromVector(values)));
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field("snapshot", arrow::int32(), /*nullable=*/false),
                     arrow::field("node", ids->type(), /*nullable=*/false),
                     arrow::field("embedding", VectorType(), /*nullable=*/false)}),
      rows,
      {std::make_shared<arrow::Int32Array>(rows, arrow::Buffer::FromVector(numbers)), ids,
       vectors});
}

// Rows with the ids `first`, `first` + 3, ... and random vectors.
inline BatchPtr Embeddings(
    int snapshot, int first, int rows,
    const std::shared_ptr<arrow::DataType>& id_type = arrow::int64()) {
  std::mt19937 random(static_cast<std::uint32_t>(100 * snapshot + first));
  std::vector<float> values;
  arrow::Int64Builder integers;
  arrow::StringBuilder strings;
  for (int row = 0; row < rows; ++row) {
    EXPECT_TRUE(integers.Append(first + 3 * row).ok());
    EXPECT_TRUE(strings.Append("n" + std::to_string(first + 3 * row)).ok());
    for (int column = 0; column < kWidth; ++column) {
      values.push_back(static_cast<float>(random()) * 1e-9f);
    }
  }
  arrow::ArrayBuilder& ids = id_type->id() == arrow::Type::STRING
                                 ? static_cast<arrow::ArrayBuilder&>(strings)
                                 : integers;
  return EmbeddingsOf(snapshot, ids.Finish().ValueOrDie(), values);
}

inline std::string Text(const arrow::Array& array, std::int64_t row) {
  return array.GetScalar(row).ValueOrDie()->ToString();
}

inline std::vector<float> Floats(const arrow::Array& array) {
  const auto& floats = static_cast<const arrow::FloatArray&>(array);
  return {floats.raw_values(), floats.raw_values() + floats.length()};
}

inline Rows RowsOf(const std::vector<BatchPtr>& batches) {
  Rows rows;
  for (const BatchPtr& batch : batches) {
    const auto& lists = static_cast<const arrow::ListArray&>(*batch->column(2));
    for (std::int64_t row = 0; row < batch->num_rows(); ++row) {
      rows.emplace_back(Text(*batch->column(1), row), Floats(*lists.value_slice(row)));
    }
  }
  return rows;
}

class SnapshotWriterTest : public ::testing::Test {
 protected:
  SnapshotWriterTest() {
    for (int snapshot = 0; snapshot < 10; ++snapshot) {
      SchedulePoint point;
      point.snapshot = snapshot;
      point.time = 1000 + 7 * snapshot;
      point.num_nodes = 8;
      schedule_.push_back(point);
    }
  }

  // A writer of snapshots that have `num_rows` rows, after the first `num_done`. Its
  // files are put in their places as they come.
  std::unique_ptr<SnapshotWriter> Bound(const std::shared_ptr<arrow::DataType>& id_type,
                                        std::vector<std::int64_t> num_rows,
                                        int num_done = 0) {
    written_.clear();
    schedule_.resize(num_done + num_rows.size());
    if (nodes_ == nullptr || !nodes_->id_type()->Equals(*id_type))
      nodes_ = NodeIdMap::Make(id_type).ValueOrDie();
    auto writer = std::make_unique<SnapshotWriter>(
        options_, *store_, schedule_, *nodes_, kWidth,
        SnapshotProvenance{"run 7", "embed.alpha = 0.2\n", "0123456789abcdef"}, num_done,
        std::move(num_rows), [this](WrittenSnapshot written) {
          ARROW_RETURN_NOT_OK(store_->Move(written.file.staged, written.file.path));
          schedule_[written.snapshot].base = written.base;
          written_.push_back(std::move(written));
          return arrow::Status::OK();
        });
    EXPECT_TRUE(writer->Bind(Embedder::OutputSchema()).ok());
    return writer;
  }

  // Take a batch as the embed stage emits it, with the numbers of its nodes.
  arrow::Status Push(SnapshotWriter& writer, const BatchPtr& batch) {
    std::vector<NodeId> numbers;
    ARROW_RETURN_NOT_OK(nodes_->Encode(*batch->column(1), &numbers));
    return writer.Push(
        arrow::RecordBatch::Make(
            Embedder::OutputSchema(), batch->num_rows(),
            {batch->column(0),
             std::make_shared<arrow::Int32Array>(
                 batch->num_rows(), arrow::Buffer::FromVector(std::move(numbers))),
             batch->column(2)}),
        Nothing());
  }

  // The files that come of `batches`, whose last one has the last row.
  std::vector<FileRecord> Write(const std::vector<BatchPtr>& batches, int num_done = 0) {
    std::vector<std::int64_t> num_rows;
    for (const BatchPtr& batch : batches) {
      const auto& snapshots = static_cast<const arrow::Int32Array&>(*batch->column(0));
      for (std::int64_t row = 0; row < batch->num_rows(); ++row) {
        const auto place = static_cast<std::size_t>(snapshots.Value(row) - num_done);
        num_rows.resize(std::max(num_rows.size(), place + 1), 0);
        ++num_rows[place];
      }
    }
    const auto writer = Bound(batches.at(0)->column(1)->type(), num_rows, num_done);
    for (const BatchPtr& batch : batches) CODEN_EXPECT_OK(Push(*writer, batch));
    CODEN_EXPECT_OK(writer->Finish(Nothing()));
    std::vector<FileRecord> files;
    for (const WrittenSnapshot& written : written_) files.push_back(written.file);
    return files;
  }

  std::string Path(const std::string& name) const { return store_->LocalPath(name); }

  // The stage emits nothing.
  static Emit Nothing() {
    return [](const BatchPtr&) { return arrow::Status::Invalid("emitted a batch"); };
  }

  std::shared_ptr<arrow::Table> Read(int snapshot) {
    const auto table = ReadParquetFile(*store_, RunLayout::Snapshot(snapshot));
    EXPECT_TRUE(table.ok()) << table.status().ToString();
    return table.ValueOrDie()->CombineChunks().ValueOrDie();
  }

  // The rows of a file, put together from whatever layout it has.
  Rows ReadRows(int snapshot) {
    const auto table = Read(snapshot);
    Rows rows(table->num_rows());
    for (std::int64_t row = 0; row < table->num_rows(); ++row) {
      rows[row].first = Text(*table->column(0)->chunk(0), row);
      const arrow::Array& second = *table->column(1)->chunk(0);
      switch (second.type_id()) {
        case arrow::Type::LIST:
          rows[row].second =
              Floats(*static_cast<const arrow::ListArray&>(second).value_slice(row));
          break;
        case arrow::Type::FIXED_SIZE_LIST:
          rows[row].second = Floats(
              *static_cast<const arrow::FixedSizeListArray&>(second).value_slice(row));
          break;
        default:
          for (int column = 0; column < kWidth; ++column) {
            const auto values = table->GetColumnByName("e" + std::to_string(column));
            rows[row].second.push_back(Floats(*values->chunk(0))[row]);
          }
      }
    }
    return rows;
  }

  TempDir folder_;
  std::shared_ptr<RunStore> store_ = RunStore::Open(folder_ / "run").ValueOrDie();
  Schedule schedule_;
  std::unique_ptr<NodeIdMap> nodes_;
  std::vector<WrittenSnapshot> written_;
  SnapshotOptions options_;
};

inline constexpr SnapshotLayout kLayouts[] = {
    SnapshotLayout::kList, SnapshotLayout::kFixed, SnapshotLayout::kColumns};

}  // namespace coden
