#include "coden/snapshot/snapshot_writer.h"

#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include "snapshot/snapshot_writer_fixture.h"
#include "support/recut.h"

namespace coden {
namespace {

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
              std::filesystem::file_size(Path(files[snapshot].path)));
    EXPECT_EQ(ReadRows(snapshot), RowsOf({batches[snapshot]}));
  }
  EXPECT_TRUE(store_->List(RunLayout::kStage).ValueOrDie().empty());
}

TEST_F(SnapshotWriterTest, AFileIsCompleteWithTheLastRowOfItsSnapshot) {
  for (const SnapshotMode mode : {SnapshotMode::kFull, SnapshotMode::kDelta}) {
    SCOPED_TRACE(static_cast<int>(mode));
    options_.mode = mode;
    const BatchPtr rows = Embeddings(0, 0, 4);
    const auto writer = Bound(arrow::int64(), {4, 2, 0, 3});
    CODEN_EXPECT_OK(Push(*writer, rows->Slice(0, 3)));
    EXPECT_TRUE(written_.empty());
    CODEN_EXPECT_OK(Push(*writer, rows->Slice(3)));
    ASSERT_EQ(written_.size(), 1u);
    EXPECT_EQ(written_[0].snapshot, 0);
    EXPECT_EQ(ReadRows(0), RowsOf({rows}));
    CODEN_EXPECT_OK(Push(*writer, Embeddings(1, 20, 2)));
    EXPECT_EQ(written_.size(), 2u);
    // One without rows has its file in passing.
    CODEN_EXPECT_OK(Push(*writer, Embeddings(3, 0, 2)));
    EXPECT_EQ(written_.size(), 3u);
    CODEN_EXPECT_OK(Push(*writer, Embeddings(3, 6, 1)));
    EXPECT_EQ(written_.size(), 4u);
    CODEN_EXPECT_OK(writer->Finish(Nothing()));
    EXPECT_EQ(written_.size(), 4u);
  }
}

TEST_F(SnapshotWriterTest, MoreRowsThanWereToldAreAnError) {
  // In one batch, in a later one, and where there is to be none.
  EXPECT_FALSE(Push(*Bound(arrow::int64(), {4, 4}), Embeddings(0, 0, 5)).ok());
  EXPECT_FALSE(Push(*Bound(arrow::int64(), {0, 4}), Embeddings(0, 0, 1)).ok());
  const auto writer = Bound(arrow::int64(), {4, 4});
  CODEN_EXPECT_OK(Push(*writer, Embeddings(0, 0, 4)));
  const arrow::Status status = Push(*writer, Embeddings(0, 30, 1));
  EXPECT_TRUE(status.IsInvalid()) << status.ToString();
}

TEST_F(SnapshotWriterTest, FewerRowsThanWereToldAreAnError) {
  const auto writer = Bound(arrow::int64(), {4, 4});
  CODEN_EXPECT_OK(Push(*writer, Embeddings(0, 0, 3)));
  EXPECT_EQ(Push(*writer, Embeddings(1, 0, 4)).message(),
            "snapshot 0 lacks 1 rows when snapshot 1 comes");
  const auto other = Bound(arrow::int64(), {4, 4});
  CODEN_EXPECT_OK(Push(*other, Embeddings(0, 0, 4)));
  EXPECT_EQ(other->Finish(Nothing()).message(),
            "snapshot 1 lacks 4 rows when snapshot 2 comes");
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
  for (const SnapshotLayout layout : kLayouts) {
    options_.layout = layout;
    Write(batches);
    const Rows whole[] = {ReadRows(0), ReadRows(1)};
    EXPECT_EQ(whole[0].size(), 100u);
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
      const auto files = Write(cut);
      ASSERT_EQ(files.size(), 2u);
      EXPECT_EQ(files[0].rows, 100);
      EXPECT_EQ(ReadRows(0), whole[0]);
      EXPECT_EQ(ReadRows(1), whole[1]);
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
    const auto reader =
        parquet::ParquetFileReader::OpenFile(Path(RunLayout::Snapshot(snapshot)));
    const auto metadata = reader->metadata()->key_value_metadata();
    const std::pair<std::string, std::string> expected[] = {
        {"coden.format_version", "1"},
        {"coden.run_id", "run 7"},
        {"coden.parameters", "embed.alpha = 0.2\n"},
        {"coden.input_fingerprint", "0123456789abcdef"},
        {"coden.snapshot_time", snapshot == 0 ? "1000" : "1007"},
        {"coden.dim", "4"},
        {"coden.base", std::to_string(snapshot)}};
    for (const auto& [key, value] : expected) {
      EXPECT_EQ(metadata->Get(key).ValueOr("missing"), value) << key;
    }
  }
}

// Whatever numbers they have: ids come in the order of rows.
TEST_F(SnapshotWriterTest, NumbersBecomeTheIdsOfTheUser) {
  const BatchPtr earlier = Embeddings(0, 50, 20);
  const BatchPtr later = Embeddings(1, 5, 40);  // new nodes and some of the others
  Write({earlier, later});
  EXPECT_EQ(ReadRows(0), RowsOf({earlier}));
  EXPECT_EQ(ReadRows(1), RowsOf({later}));
}

TEST_F(SnapshotWriterTest, IdsMayBeStrings) {
  const BatchPtr batch = Embeddings(0, 5, 4, arrow::utf8());
  Write({batch});
  EXPECT_EQ(ReadRows(0), RowsOf({batch}));
  EXPECT_EQ(Read(0)->schema()->field(0)->type()->id(), arrow::Type::STRING);
}

}  // namespace
}  // namespace coden
