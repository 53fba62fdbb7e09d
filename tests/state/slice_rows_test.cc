#include "state/slice_rows_internal.h"

#include <filesystem>
#include <fstream>

#include "coden/base/error.h"
#include "support/parquet.h"
#include "support/run_store.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

// Rows [first, first + rows) of what an embedder of the columns [begin, end) emits: the
// number in row i and column j is 1000 i + j.
BatchPtr Embeddings(int first, int rows, int begin, int end) {
  const auto type =
      arrow::list(arrow::field("element", arrow::float32(), /*nullable=*/false));
  std::vector<std::int32_t> snapshots, nodes, offsets = {0};
  std::vector<float> values;
  for (int row = first; row < first + rows; ++row) {
    snapshots.push_back(row / 10);
    nodes.push_back(row);
    for (int column = begin; column < end; ++column)
      values.push_back(static_cast<float>(1000 * row + column));
    offsets.push_back(static_cast<std::int32_t>(values.size()));
  }
  const auto size = static_cast<std::int64_t>(values.size());
  const auto numbers =
      std::make_shared<arrow::FloatArray>(size, arrow::Buffer::FromVector(values));
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field("snapshot", arrow::int32()),
                     arrow::field("node", arrow::int32()),
                     arrow::field("embedding", type)}),
      rows,
      {std::make_shared<arrow::Int32Array>(rows, arrow::Buffer::FromVector(snapshots)),
       std::make_shared<arrow::Int32Array>(rows, arrow::Buffer::FromVector(nodes)),
       std::make_shared<arrow::ListArray>(type, rows, arrow::Buffer::FromVector(offsets),
                                          numbers)});
}

class SliceRowsTest : public ::testing::Test {
 protected:
  // Keep the columns [begin, end) of batches with these numbers of rows.
  void Write(int begin, int end, const std::vector<int>& batches) {
    store_->StageInto("_coden/slices/s/" + std::to_string(begin));
    SliceRowsWriter writer(*store_, /*with_nodes=*/begin == 0);
    CODEN_EXPECT_OK(writer.Bind(Embeddings(0, 1, begin, end)->schema()).status());
    const Emit none = [](const BatchPtr&) { return arrow::Status::Invalid("emitted"); };
    int first = 0;
    for (const int rows : batches) {
      CODEN_EXPECT_OK(writer.Push(Embeddings(first, rows, begin, end), none));
      first += rows;
    }
    CODEN_EXPECT_OK(writer.Finish(none));
    SavedSlice slice;
    slice.columns = {begin, end};
    slice.rows = writer.file();
    EXPECT_EQ(slice.rows.rows, first);
    slices_.push_back(std::move(slice));
  }

  arrow::Result<BatchPtr> Join() {
    ARROW_ASSIGN_OR_RAISE(const auto reader, ReadSlices(*store_, slices_));
    ARROW_ASSIGN_OR_RAISE(const auto batches, reader->ToRecordBatches());
    return arrow::ConcatenateRecordBatches(batches);
  }

  void ExpectRefused(int slice) {
    const arrow::Status status = Join().status();
    EXPECT_EQ(FaultOf(status), Fault::kCorruption) << status.ToString();
    const std::string name = slices_[slice].rows.staged + "' is not what was written";
    EXPECT_NE(status.message().find(name), std::string::npos) << status.message();
  }

  std::string PathOf(int slice) const {
    return store_->LocalPath(slices_[slice].rows.staged);
  }

  TempDir folder_;
  std::shared_ptr<RunStore> store_ = StoreAt(folder_ / "run");
  std::vector<SavedSlice> slices_;
};

TEST_F(SliceRowsTest, RowsComeBackWhole) {
  Write(0, 5, {30, 1, 29});
  Write(5, 6, {30, 1, 29});
  Write(6, 9, {30, 1, 29});
  const auto joined = Join();
  ASSERT_TRUE(joined.ok()) << joined.status().ToString();
  EXPECT_TRUE((*joined)->Equals(*Embeddings(0, 60, 0, 9)));
  CODEN_EXPECT_OK((*joined)->ValidateFull());
}

TEST_F(SliceRowsTest, OneSliceMayHaveAllColumns) {
  Write(0, 4, {7});
  EXPECT_TRUE((*Join())->Equals(*Embeddings(0, 7, 0, 4)));
}

TEST_F(SliceRowsTest, SlicesOfAnotherLogAreNoticed) {
  Write(0, 4, {30});
  Write(4, 6, {31});
  ExpectRefused(1);
  slices_.pop_back();
  Write(4, 6, {30, 1});
  ExpectRefused(1);
  slices_.pop_back();
  Write(4, 6, {29});
  ExpectRefused(1);
}

TEST_F(SliceRowsTest, EveryChangedByteIsNoticed) {
  Write(0, 2, {3, 2});
  Write(2, 3, {3, 2});
  for (const int slice : {0, 1}) {
    const std::string path = PathOf(slice);
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path));
    for (std::int64_t at = 0; at < size; ++at) {
      SCOPED_TRACE(at);
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(at);
      const auto byte = static_cast<char>(file.get());
      file.seekp(at);
      file.put(static_cast<char>(byte ^ 0x10));
      file.close();
      EXPECT_FALSE(Join().ok());
      file.open(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(at);
      file.put(byte);
    }
  }
  EXPECT_TRUE(Join().ok());
}

TEST_F(SliceRowsTest, AShortOrALongFileIsNoticed) {
  Write(0, 4, {30});
  Write(4, 6, {30});
  const auto size = std::filesystem::file_size(PathOf(1));
  std::filesystem::resize_file(PathOf(1), size / 2);
  EXPECT_FALSE(Join().ok());
  Write(4, 6, {30});
  slices_.erase(slices_.begin() + 1);
  EXPECT_TRUE(Join().ok());
  std::filesystem::remove(PathOf(1));
  EXPECT_FALSE(Join().ok());
}

}  // namespace
}  // namespace coden
