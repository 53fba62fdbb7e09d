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

TEST_F(SnapshotWriterTest, AFileAppearsWhenTheNextSnapshotBegins) {
  const auto writer = Bound(*Embeddings(0, 0, 1));
  CODEN_EXPECT_OK(Push(*writer, Embeddings(0, 0, 4)));
  EXPECT_TRUE(written_.empty());
  CODEN_EXPECT_OK(Push(*writer, Embeddings(1, 0, 4)));
  ASSERT_EQ(written_.size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(Path(RunLayout::Snapshot(0))));
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

TEST_F(SnapshotWriterTest, IdsMayBeStrings) {
  Keep(*ArrayOf(arrow::utf8(), R"(["n5", "n11"])"));
  const BatchPtr batch = Embeddings(0, 5, 4, arrow::utf8());
  Write({batch});
  EXPECT_EQ(ReadRows(0), RowsOf({batch->Slice(0, 1), batch->Slice(2, 1)}));
  EXPECT_EQ(Read(0)->schema()->field(0)->type()->id(), arrow::Type::STRING);
}

}  // namespace
}  // namespace coden
