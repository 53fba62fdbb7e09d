#include "embed/column_spill_internal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <numeric>

#include "support/parquet.h"
#include "support/recut.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

constexpr char kChanged[] = "an input changed while it was read; run again";

// Rows [first, first + rows) of what an embedder of the columns [begin, end) emits: the
// number in row i and column j is 1000 i + j.
BatchPtr Embeddings(int first, int rows, int begin, int end) {
  const auto type =
      arrow::list(arrow::field("element", arrow::float32(), /*nullable=*/false));
  std::vector<std::int32_t> snapshots, offsets = {0};
  std::vector<std::int64_t> nodes;
  std::vector<float> values;
  for (int row = first; row < first + rows; ++row) {
    snapshots.push_back(row / 10);
    nodes.push_back(row);
    for (int column = begin; column < end; ++column) {
      values.push_back(static_cast<float>(1000 * row + column));
    }
    offsets.push_back(static_cast<std::int32_t>(values.size()));
  }
  const auto size = static_cast<std::int64_t>(values.size());
  const auto numbers =
      std::make_shared<arrow::FloatArray>(size, arrow::Buffer::FromVector(values));
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field("snapshot", arrow::int32()),
                     arrow::field("node", arrow::int64()),
                     arrow::field("embedding", type)}),
      rows,
      {std::make_shared<arrow::Int32Array>(rows, arrow::Buffer::FromVector(snapshots)),
       std::make_shared<arrow::Int64Array>(rows, arrow::Buffer::FromVector(nodes)),
       std::make_shared<arrow::ListArray>(type, rows, arrow::Buffer::FromVector(offsets),
                                          numbers)});
}

// Let what is written to the open file `path` go to a device that is full.
void PutFullDeviceBehind(const std::string& path) {
  namespace fs = std::filesystem;
  const int device = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(device, 0);
  std::error_code ignored;
  for (int file = 3; file < 1024; ++file) {
    if (fs::read_symlink("/proc/self/fd/" + std::to_string(file), ignored) == path)
      ASSERT_EQ(::dup2(device, file), file);
  }
  ::close(device);
}

class ColumnSpillTest : public ::testing::Test {
 protected:
  // Put the columns [begin, end) of `rows` rows aside, cut by `seed`.
  void Spill(int rows, int begin, int end, std::uint32_t seed = 1) {
    const std::string path = folder_ / ("columns-" + std::to_string(begin));
    spills_.push_back(ColumnSpill::Create(path, end - begin).ValueOrDie());
    ColumnSpiller spiller(*spills_.back());
    Recut recut(seed);
    const Emit none = [](const BatchPtr&) { return arrow::Status::Invalid("emitted"); };
    CODEN_EXPECT_OK(recut.Push(Embeddings(0, rows, begin, end), [&](BatchPtr part) {
      return spiller.Push(std::move(part), none);
    }));
    CODEN_EXPECT_OK(spiller.Finish(none));
  }

  // Join them with the columns [begin, end), cut by `seed`.
  arrow::Result<BatchPtr> Join(int rows, int begin, int end, std::uint32_t seed) {
    ColumnJoiner joiner(spills_);
    Recut recut(seed);
    arrow::RecordBatchVector joined;
    const Emit collect = [&](BatchPtr batch) {
      joined.push_back(std::move(batch));
      return arrow::Status::OK();
    };
    ARROW_RETURN_NOT_OK(recut.Push(Embeddings(0, rows, begin, end), [&](BatchPtr part) {
      return joiner.Push(std::move(part), collect);
    }));
    ARROW_RETURN_NOT_OK(joiner.Finish(collect));
    return arrow::ConcatenateRecordBatches(joined);
  }

  TempDir folder_;
  std::vector<std::unique_ptr<ColumnSpill>> spills_;
};

TEST_F(ColumnSpillTest, IsForItsOwnerAloneWhateverTheMask) {
  namespace fs = std::filesystem;
  const mode_t mask = ::umask(0);
  Spill(/*rows=*/3, /*begin=*/0, /*end=*/2);
  ::umask(mask);
  EXPECT_EQ(fs::status(folder_ / "columns-0").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(ColumnSpillTest, LeavesWhatALinkOfItsNameLeadsTo) {
  const std::string victim = folder_.Write("victim", "of somebody else");
  std::filesystem::create_symlink(victim, folder_ / "columns-0");
  Spill(/*rows=*/3, /*begin=*/0, /*end=*/2);
  EXPECT_EQ(std::filesystem::file_size(victim), 16u);
}

TEST_F(ColumnSpillTest, RowsComeBackWholeHoweverTheyAreCut) {
  for (std::uint32_t seed = 1; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    spills_.clear();
    Spill(60, 0, 5, seed);
    Spill(60, 5, 6, seed + 1);
    const auto joined = Join(60, 6, 9, seed + 2);
    ASSERT_TRUE(joined.ok()) << joined.status().ToString();
    EXPECT_TRUE((*joined)->Equals(*Embeddings(0, 60, 0, 9)));
    CODEN_EXPECT_OK((*joined)->ValidateFull());
  }
}

TEST_F(ColumnSpillTest, FilesGoWithTheirObjects) {
  std::ignore = folder_.Write("columns-0", "left by a killed run");
  Spill(10, 0, 4);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "columns-0"), 10 * 4 * sizeof(float));
  spills_.clear();
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(ColumnSpillTest, OtherRowsThanBeforeMeanAnotherLog) {
  Spill(30, 0, 4);
  EXPECT_EQ(Join(31, 4, 6, /*seed=*/3).status().message(), kChanged);
  spills_.clear();
  Spill(30, 0, 4);
  EXPECT_EQ(Join(29, 4, 6, /*seed=*/3).status().message(), kChanged);
}

TEST_F(ColumnSpillTest, AShortFileIsNoticed) {
  Spill(30, 0, 4);
  std::filesystem::resize_file(folder_ / "columns-0", 200);
  const arrow::Status status = Join(30, 4, 6, /*seed=*/3).status();
  EXPECT_TRUE(status.IsIOError());
  EXPECT_NE(status.message().find("columns-0' was changed while the run needed it; run "
                                  "again: 200 of 480 bytes are there"),
            std::string::npos)
      << status.message();
}

TEST_F(ColumnSpillTest, AFullDiskIsAnErrorThatNamesTheFile) {
  const std::string path = folder_ / "columns-0";
  const auto full = ColumnSpill::Create(path, 4);
  ASSERT_TRUE(full.ok());
  PutFullDeviceBehind(path);
  const std::vector<float> numbers(4000);
  const arrow::Status status = (*full)->Write(numbers);
  EXPECT_EQ(FaultOf(status), Fault::kResources);
  EXPECT_TRUE(
      status.message().starts_with("cannot write the temporary file '" + path + "'"))
      << status.message();
}

TEST_F(ColumnSpillTest, AFolderThatIsNotThereIsAnError) {
  const auto none = ColumnSpill::Create(folder_.path() + "/none/columns-0", 4);
  EXPECT_TRUE(none.status().message().starts_with("cannot create the temporary file '"))
      << none.status().message();
}

}  // namespace
}  // namespace coden
