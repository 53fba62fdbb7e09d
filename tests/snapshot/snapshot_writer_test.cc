#include "coden/snapshot/snapshot_writer.h"

#include <random>

#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include "coden/snapshot/node_filter.h"
#include "coden/store/run_layout.h"
#include "support/parquet.h"
#include "support/recut.h"
#include "support/run_store.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

constexpr int kWidth = 4;

std::shared_ptr<arrow::DataType> VectorType() {
  return arrow::list(arrow::field("element", arrow::float32(), /*nullable=*/false));
}

// A node as text and its vector: what a file holds, whatever its layout.
using Rows = std::vector<std::pair<std::string, std::vector<float>>>;

// What the embed stage emits: rows of one snapshot with the ids `first`, `first` + 3, ...
// and random vectors.
BatchPtr Embeddings(int snapshot, int first, int rows,
                    const std::shared_ptr<arrow::DataType>& id_type = arrow::int64()) {
  std::mt19937 random(static_cast<std::uint32_t>(100 * snapshot + first));
  std::vector<std::int32_t> numbers(rows, snapshot), offsets = {0};
  std::vector<float> values;
  arrow::Int64Builder integers;
  arrow::StringBuilder strings;
  for (int row = 0; row < rows; ++row) {
    EXPECT_TRUE(integers.Append(first + 3 * row).ok());
    EXPECT_TRUE(strings.Append("n" + std::to_string(first + 3 * row)).ok());
    for (int column = 0; column < kWidth; ++column) {
      values.push_back(static_cast<float>(random()) * 1e-9f);
    }
    offsets.push_back((row + 1) * kWidth);
  }
  arrow::ArrayBuilder& ids = id_type->id() == arrow::Type::STRING
                                 ? static_cast<arrow::ArrayBuilder&>(strings)
                                 : integers;
  const auto size = static_cast<std::int64_t>(values.size());
  const auto vectors = std::make_shared<arrow::ListArray>(
      VectorType(), rows, arrow::Buffer::FromVector(offsets),
      std::make_shared<arrow::FloatArray>(size, arrow::Buffer::FromVector(values)));
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field("snapshot", arrow::int32(), /*nullable=*/false),
                     arrow::field("node", id_type, /*nullable=*/false),
                     arrow::field("embedding", VectorType(), /*nullable=*/false)}),
      rows,
      {std::make_shared<arrow::Int32Array>(rows, arrow::Buffer::FromVector(numbers)),
       ids.Finish().ValueOrDie(), vectors});
}

std::string Text(const arrow::Array& array, std::int64_t row) {
  return array.GetScalar(row).ValueOrDie()->ToString();
}

std::vector<float> Floats(const arrow::Array& array) {
  const auto& floats = static_cast<const arrow::FloatArray&>(array);
  return {floats.raw_values(), floats.raw_values() + floats.length()};
}

Rows RowsOf(const std::vector<BatchPtr>& batches) {
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
      schedule_.push_back(point);
    }
  }

  std::unique_ptr<SnapshotWriter> Bound(const arrow::RecordBatch& like) {
    auto writer = std::make_unique<SnapshotWriter>(
        options_, *store_, schedule_, kWidth,
        SnapshotProvenance{"run 7", "embed.alpha = 0.2\n", "0123456789abcdef"}, num_done_,
        [this](int snapshot, FileRecord file) {
          EXPECT_EQ(file.path, RunLayout::Snapshot(snapshot));
          EXPECT_EQ(file.staged, store_->StageName(file.path));
          files_.push_back(std::move(file));
          return arrow::Status::OK();
        });
    EXPECT_TRUE(writer->Bind(like.schema()).ok());
    return writer;
  }

  // The files that come of `batches`, of the nodes to keep.
  std::vector<FileRecord> Write(const std::vector<BatchPtr>& batches) {
    const auto& last = static_cast<const arrow::Int32Array&>(*batches.back()->column(0));
    schedule_.resize(last.Value(last.length() - 1) + 1);
    files_.clear();
    const auto writer = Bound(*batches.at(0));
    const Emit write = [&](const BatchPtr& batch) {
      return writer->Push(batch, Nothing());
    };
    for (const BatchPtr& batch : batches) {
      if (keep_ == nullptr) {
        CODEN_EXPECT_OK(write(batch));
        continue;
      }
      NodeFilter filter(*keep_);
      EXPECT_TRUE(filter.Bind(batch->schema()).ok());
      CODEN_EXPECT_OK(filter.Push(batch, write));
    }
    CODEN_EXPECT_OK(writer->Finish(Nothing()));
    return files_;
  }

  // The stage emits nothing.
  static Emit Nothing() {
    return [](const BatchPtr&) { return arrow::Status::Invalid("emitted a batch"); };
  }

  void Keep(const arrow::Array& ids) {
    keep_ = NodeIdMap::Make(ids.type()).ValueOrDie();
    std::vector<NodeId> ignored;
    CODEN_EXPECT_OK(keep_->Encode(ids, &ignored));
  }

  // Where the file of a snapshot waits.
  std::string PathOf(int snapshot) const {
    return store_->LocalPath(store_->StageName(RunLayout::Snapshot(snapshot)));
  }

  std::shared_ptr<arrow::Table> Read(int snapshot) {
    const auto table = ReadParquetFile(PathOf(snapshot));
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
  std::shared_ptr<RunStore> store_ = StoreAt(folder_.path());
  int num_done_ = 0;
  std::vector<FileRecord> files_;
  Schedule schedule_;
  SnapshotOptions options_;
  std::unique_ptr<NodeIdMap> keep_;
};

constexpr SnapshotLayout kLayouts[] = {SnapshotLayout::kList, SnapshotLayout::kFixed,
                                       SnapshotLayout::kColumns};

TEST_F(SnapshotWriterTest, WritesOneFilePerSnapshot) {
  const std::vector<BatchPtr> batches = {Embeddings(0, 5, 3), Embeddings(1, 5, 8),
                                         Embeddings(2, 2, 1)};
  const auto files = Write(batches);
  ASSERT_EQ(files.size(), 3u);
  for (int snapshot = 0; snapshot < 3; ++snapshot) {
    SCOPED_TRACE(snapshot);
    EXPECT_EQ(files[snapshot].path, RunLayout::Snapshot(snapshot));
    EXPECT_EQ(files[snapshot].rows, batches[snapshot]->num_rows());
    EXPECT_EQ(static_cast<std::uintmax_t>(files[snapshot].size),
              std::filesystem::file_size(PathOf(snapshot)));
    EXPECT_EQ(ReadRows(snapshot), RowsOf({batches[snapshot]}));
  }
  EXPECT_EQ(store_->List({}).ValueOrDie().size(), 3u) << "all of them are in the stage";
}

TEST_F(SnapshotWriterTest, GoesOnAfterTheSnapshotsThatAreThere) {
  num_done_ = 2;
  const auto files = Write({Embeddings(3, 5, 3)});
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, RunLayout::Snapshot(2));
  EXPECT_EQ(files[0].rows, 0);
  EXPECT_EQ(files[1].path, RunLayout::Snapshot(3));
  EXPECT_EQ(ReadRows(3), RowsOf({Embeddings(3, 5, 3)}));
}

TEST_F(SnapshotWriterTest, AFileIsCompleteWhenTheNextSnapshotBegins) {
  const auto writer = Bound(*Embeddings(0, 0, 1));
  CODEN_EXPECT_OK(writer->Push(Embeddings(0, 0, 4), Nothing()));
  EXPECT_TRUE(files_.empty());
  CODEN_EXPECT_OK(writer->Push(Embeddings(1, 0, 4), Nothing()));
  ASSERT_EQ(files_.size(), 1u);
  EXPECT_EQ(Read(0)->num_rows(), 4);
}

TEST_F(SnapshotWriterTest, AllLayoutsHoldTheSameNumbers) {
  const BatchPtr batch = Embeddings(0, 5, 100);
  for (const SnapshotLayout layout : kLayouts) {
    SCOPED_TRACE(static_cast<int>(layout));
    options_.layout = layout;
    Write({batch});
    EXPECT_EQ(ReadRows(0), RowsOf({batch}));
    EXPECT_TRUE(
        Read(0)->schema()->Equals(*SnapshotSchema(arrow::int64(), layout, kWidth)))
        << Read(0)->schema()->ToString();
  }
}

TEST_F(SnapshotWriterTest, WritesOnlyTheNodesToKeep) {
  Keep(*ArrayOf(arrow::int64(), "[14, 5, 99, 6]"));
  const BatchPtr batch = Embeddings(0, 5, 5);  // 5 8 11 14 17
  for (const SnapshotLayout layout : kLayouts) {
    SCOPED_TRACE(static_cast<int>(layout));
    options_.layout = layout;
    const auto files = Write({batch, Embeddings(1, 20, 3)});
    EXPECT_EQ(ReadRows(0), RowsOf({batch->Slice(0, 1), batch->Slice(3, 1)}));
    ASSERT_EQ(files.size(), 2u);
    EXPECT_EQ(files[0].rows, 2);
    EXPECT_EQ(files[1].rows, 0);
    EXPECT_EQ(Read(1)->num_rows(), 0);
  }
}

TEST_F(SnapshotWriterTest, ASnapshotWithoutRowsIsAFileWithoutRows) {
  for (const SnapshotLayout layout : kLayouts) {
    SCOPED_TRACE(static_cast<int>(layout));
    options_.layout = layout;
    const BatchPtr full = Embeddings(2, 1, 6);
    const auto files = Write({full->Slice(0, 0), full->Slice(0, 0), full});
    ASSERT_EQ(files.size(), 3u);
    for (const int snapshot : {0, 1}) {
      EXPECT_EQ(files[snapshot].path, RunLayout::Snapshot(snapshot));
      EXPECT_EQ(files[snapshot].rows, 0);
      EXPECT_EQ(Read(snapshot)->num_rows(), 0);
      EXPECT_TRUE(Read(snapshot)->schema()->Equals(*Read(2)->schema()));
    }
    EXPECT_EQ(ReadRows(2), RowsOf({full}));
  }
}

TEST_F(SnapshotWriterTest, BatchesOfOneSnapshotGoIntoOneFileHoweverTheyAreCut) {
  const std::vector<BatchPtr> batches = {Embeddings(0, 5, 60), Embeddings(0, 500, 40),
                                         Embeddings(1, 7, 90)};
  std::string kept;
  for (const BatchPtr& batch : batches) {
    for (std::int64_t row = 0; row < batch->num_rows(); row += 2) {
      kept += (kept.empty() ? "[" : ", ") + Text(*batch->column(1), row);
    }
  }
  for (const bool all : {true, false}) {
    if (!all) Keep(*ArrayOf(arrow::int64(), kept + "]"));
    for (const SnapshotLayout layout : kLayouts) {
      options_.layout = layout;
      Write(batches);
      const Rows whole[] = {ReadRows(0), ReadRows(1)};
      EXPECT_EQ(whole[0].size(), all ? 100u : 50u);
      for (std::uint32_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE(seed);
        std::vector<BatchPtr> cut;
        Recut recut(seed);
        for (const BatchPtr& batch : batches) {
          CODEN_EXPECT_OK(recut.Push(batch, [&](BatchPtr part) {
            cut.push_back(std::move(part));
            return arrow::Status::OK();
          }));
        }
        EXPECT_GT(cut.size(), 20u);
        while (cut.back()->num_rows() == 0) cut.pop_back();
        const auto files = Write(cut);
        ASSERT_EQ(files.size(), 2u);
        EXPECT_EQ(files[0].rows, static_cast<std::int64_t>(whole[0].size()));
        EXPECT_EQ(ReadRows(0), whole[0]);
        EXPECT_EQ(ReadRows(1), whole[1]);
      }
    }
  }
}

TEST_F(SnapshotWriterTest, TakesABatchThatSpansSnapshots) {
  const auto both =
      arrow::ConcatenateRecordBatches({Embeddings(0, 5, 3), Embeddings(1, 7, 4)});
  const auto files = Write({both.ValueOrDie()});
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(ReadRows(0), RowsOf({Embeddings(0, 5, 3)}));
  EXPECT_EQ(ReadRows(1), RowsOf({Embeddings(1, 7, 4)}));
}

TEST_F(SnapshotWriterTest, EveryFileSaysWhereItComesFrom) {
  Write({Embeddings(0, 0, 4), Embeddings(1, 0, 4)});
  for (const int snapshot : {0, 1}) {
    const auto reader = parquet::ParquetFileReader::OpenFile(PathOf(snapshot));
    const auto metadata = reader->metadata()->key_value_metadata();
    const std::pair<std::string, std::string> expected[] = {
        {"coden.format_version", "1"},
        {"coden.run_id", "run 7"},
        {"coden.parameters", "embed.alpha = 0.2\n"},
        {"coden.input_fingerprint", "0123456789abcdef"},
        {"coden.snapshot_time", snapshot == 0 ? "1000" : "1007"},
        {"coden.dim", "4"}};
    for (const auto& [key, value] : expected) {
      EXPECT_EQ(metadata->Get(key).ValueOr("missing"), value) << key;
    }
  }
}

TEST_F(SnapshotWriterTest, IdsMayBeStrings) {
  Keep(*ArrayOf(arrow::utf8(), R"(["n5", "n11"])"));
  const BatchPtr batch = Embeddings(0, 5, 4, arrow::utf8());
  Write({batch});
  EXPECT_EQ(ReadRows(0), RowsOf({batch->Slice(0, 1), batch->Slice(2, 1)}));
  EXPECT_EQ(Read(0)->schema()->field(0)->type()->id(), arrow::Type::STRING);
}

}  // namespace
}  // namespace coden
