// What makes files smaller: float16, and rows that are left out.

#include <arrow/util/float16.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include "coden/snapshot/snapshot_rows.h"
#include "coden/snapshot/snapshot_writer.h"
#include "snapshot/snapshot_writer_fixture.h"

namespace coden {
namespace {

class SnapshotSizesTest : public SnapshotWriterTest {
 protected:
  // The rows of a snapshot as it is put together from the files.
  Rows ReadWhole(int snapshot) {
    SnapshotReader reader(*store_);
    const auto whole = reader.Read(schedule_.at(snapshot), kWidth);
    EXPECT_TRUE(whole.ok()) << whole.status().ToString();
    Rows rows;
    for (std::int64_t row = 0; row < whole->num_rows(); ++row) {
      const auto numbers = whole->row(row);
      rows.emplace_back(Text(*whole->nodes(), row),
                        std::vector<float>(numbers.begin(), numbers.end()));
    }
    return rows;
  }

  std::vector<int> Bases() const {
    std::vector<int> bases;
    for (const WrittenSnapshot& written : written_) bases.push_back(written.base);
    return bases;
  }

  std::vector<std::int64_t> NumRows() const {
    std::vector<std::int64_t> rows;
    for (const WrittenSnapshot& written : written_) rows.push_back(written.file.rows);
    return rows;
  }
};

float Rounded(float number) { return arrow::util::Float16::FromFloat(number).ToFloat(); }

// Rows of five nodes, with `value` for node `changed`.
BatchPtr Five(int snapshot, int changed = -1, float value = 0, int extra_nodes = 0) {
  arrow::Int64Builder ids;
  std::vector<float> values;
  for (int node = 0; node < 5 + extra_nodes; ++node) {
    EXPECT_TRUE(ids.Append(90 - node).ok());
    for (int column = 0; column < kWidth; ++column)
      values.push_back(node == changed && column == 1 ? value : static_cast<float>(node));
  }
  return EmbeddingsOf(snapshot, ids.Finish().ValueOrDie(), values);
}

TEST_F(SnapshotSizesTest, Float16IsPlainAndInEveryLayout) {
  options_.precision = SnapshotPrecision::kFloat16;
  const BatchPtr batch = Embeddings(0, 5, 100);
  Rows expected = RowsOf({batch});
  for (auto& row : expected) {
    for (float& number : row.second) number = Rounded(number);
  }
  for (const SnapshotLayout layout : kLayouts) {
    SCOPED_TRACE(static_cast<int>(layout));
    options_.layout = layout;
    Write({batch});
    EXPECT_TRUE(Read(0)->schema()->Equals(
        *SnapshotSchema(arrow::int64(), layout, kWidth, SnapshotPrecision::kFloat16)));
    EXPECT_EQ(ReadWhole(0), expected);
    const auto reader =
        parquet::ParquetFileReader::OpenFile(Path(RunLayout::Snapshot(0)));
    const auto column = reader->metadata()->RowGroup(0)->ColumnChunk(1);
    for (const auto encoding : column->encodings()) {
      EXPECT_TRUE(encoding == parquet::Encoding::PLAIN ||
                  encoding == parquet::Encoding::RLE);
    }
    EXPECT_FALSE(column->has_dictionary_page());
    EXPECT_FALSE(column->is_stats_set());
  }
}

TEST_F(SnapshotSizesTest, WhatRoundingLosesIsSaid) {
  const std::vector<float> values = {1.0f, 1.0001f, 3e-9f, -0.1f,  //
                                     2.0f, -7.7f,   1e-4f, 0.25f};
  const BatchPtr batch = EmbeddingsOf(0, ArrayOf(arrow::int64(), "[7, 5]"), values);
  Write({batch});
  EXPECT_EQ(written_.at(0).error_added, 0.0);
  options_.precision = SnapshotPrecision::kFloat16;
  Write({batch});
  double worst = 0;
  for (int column = 0; column < kWidth; ++column) {
    double lost = 0;
    for (const int at : {column, kWidth + column})
      lost += std::abs(double{values[at]} - Rounded(values[at]));
    worst = std::max(worst, lost);
  }
  EXPECT_GT(worst, 1e-4);
  EXPECT_EQ(written_.at(0).error_added, worst / 8);  // the schedule says 8 nodes
  // However the rows are cut.
  Write({batch->Slice(0, 1), batch->Slice(1)});
  EXPECT_EQ(written_.at(0).error_added, worst / 8);
}

TEST_F(SnapshotSizesTest, NumbersThatFloat16CannotHoldAreRefused) {
  options_.precision = SnapshotPrecision::kFloat16;
  const auto status = [&](float value) {
    const auto writer = Bound(arrow::int64(), {0, 0, 0, 5});
    return Push(*writer, Five(3, 2, value));
  };
  CODEN_EXPECT_OK(status(65504.0f));
  CODEN_EXPECT_OK(status(-65504.0f));
  ExpectInputError(status(-65505.0f),
                   "float16 holds numbers up to 65504; set `snapshot.precision = "
                   "float32`: at snapshot 3 node 88 has -65505");
}

TEST_F(SnapshotSizesTest, ADeltaHoldsTheRowsThatMovedOrAreNew) {
  options_.mode = SnapshotMode::kDelta;
  const std::vector<BatchPtr> batches = {Five(0), Five(1), Five(2, 3, 3.5f),
                                         Five(3, 1, -1.0f, 1)};
  for (const auto precision :
       {SnapshotPrecision::kFloat32, SnapshotPrecision::kFloat16}) {
    options_.precision = precision;
    for (const SnapshotLayout layout : kLayouts) {
      SCOPED_TRACE(static_cast<int>(layout));
      options_.layout = layout;
      Write(batches);
      EXPECT_EQ(Bases(), (std::vector<int>{0, 0, 0, 0}));
      EXPECT_EQ(NumRows(), (std::vector<std::int64_t>{5, 0, 1, 2}));
      for (int snapshot = 0; snapshot < 4; ++snapshot) {
        EXPECT_EQ(ReadWhole(snapshot), RowsOf({batches[snapshot]}));
        EXPECT_EQ(written_[snapshot].error_added, 0.0);
      }
    }
  }
  const auto reader = parquet::ParquetFileReader::OpenFile(Path(RunLayout::Snapshot(3)));
  const auto metadata = reader->metadata()->key_value_metadata();
  EXPECT_EQ(metadata->Get("coden.base").ValueOr("missing"), "0");
}

TEST_F(SnapshotSizesTest, RowsThatMovedLittleAreLeftOutAndCounted) {
  options_.mode = SnapshotMode::kDelta;
  options_.threshold = 0.25;
  Write({Five(0), Five(1, 2, 2.25f), Five(2, 2, 2.2501f)});
  EXPECT_EQ(NumRows(), (std::vector<std::int64_t>{5, 0, 1}));
  EXPECT_EQ(written_[1].error_added, 0.25 / 8);
  EXPECT_EQ(written_[2].error_added, 0.0);
}

TEST_F(SnapshotSizesTest, AWriterThatGoesOnWritesTheSameFiles) {
  options_.mode = SnapshotMode::kDelta;
  options_.full_every = 3;
  const auto id_type = arrow::utf8();
  std::vector<BatchPtr> batches;
  for (int snapshot = 0; snapshot < 8; ++snapshot) {
    // Every other row of a first half that stays, then rows of this snapshot's own.
    const BatchPtr stays = Embeddings(0, 0, 12, id_type);
    const BatchPtr own = Embeddings(snapshot, 100, 2 + snapshot / 2, id_type);
    for (const BatchPtr& rows : {stays, own}) {
      batches.push_back(EmbeddingsOf(
          snapshot, rows->column(1),
          Floats(*static_cast<const arrow::ListArray&>(*rows->column(2)).values())));
    }
  }
  for (const auto precision :
       {SnapshotPrecision::kFloat32, SnapshotPrecision::kFloat16}) {
    options_.precision = precision;
    const auto whole = Write(batches);
    const auto bases = Bases();
    EXPECT_EQ(bases, (std::vector<int>{0, 0, 0, 3, 3, 3, 6, 6}));
    for (int num_done = 1; num_done < 8; ++num_done) {
      SCOPED_TRACE(num_done);
      const auto rest = Write({batches.begin() + 2 * num_done, batches.end()}, num_done);
      ASSERT_EQ(rest.size(), whole.size() - num_done);
      for (std::size_t i = 0; i < rest.size(); ++i)
        EXPECT_EQ(rest[i].xxh3, whole[num_done + i].xxh3) << i;
    }
  }
}

}  // namespace
}  // namespace coden
