#include "coden/read/parquet_source.h"

#include "coden/read/edge_log.h"

#include <fstream>

#include "support/parquet.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

// All values of the int64 column `name`, read in batches of at most `batch_rows`.
std::vector<std::int64_t> Values(const ParquetSource& source, const std::string& name,
                                 std::int64_t batch_rows = 1024) {
  std::vector<std::int64_t> values;
  const auto reader = source.Scan({name}, batch_rows).ValueOrDie();
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    CODEN_EXPECT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) return values;
    EXPECT_LE(batch->num_rows(), batch_rows);
    const auto& array = static_cast<const arrow::Int64Array&>(*batch->column(0));
    for (std::int64_t row = 0; row < array.length(); ++row) {
      values.push_back(array.Value(row));
    }
  }
}

TEST(ParquetSource, ReadsAFileInRowOrderWhateverTheBatches) {
  TempDir folder;
  const auto table = TableOf({{"a", ArrayOf(arrow::int64(), "[5, 3, 1, 2, 9, 7, 8]")},
                              {"b", ArrayOf(arrow::int64(), "[0, 0, 0, 0, 0, 0, 0]")}});
  const std::string path =
      WriteParquet(folder / "a.parquet", *table, /*row_group_rows=*/3);
  const auto source = ParquetSource::Open(path).ValueOrDie();
  EXPECT_EQ(source->CountRows().ValueOrDie(), 7);
  for (const std::int64_t batch_rows : {1, 2, 3, 100}) {
    SCOPED_TRACE(batch_rows);
    EXPECT_EQ(Values(*source, "a", batch_rows),
              (std::vector<std::int64_t>{5, 3, 1, 2, 9, 7, 8}));
  }
  EXPECT_EQ(source->files().size(), 1u);
  EXPECT_EQ(source->OpenFile(source->files()[0]).ValueOrDie()->GetSize().ValueOrDie(),
            source->files()[0].size);
}

TEST(ParquetSource, ReadsADirectoryInPathOrderAndSkipsWhatIsNoData) {
  TempDir folder;
  WriteIntegers(folder / "log/part-2.parquet", {{"a", "[3]"}});
  WriteIntegers(folder / "log/part-1.parquet", {{"a", "[1, 2]"}});
  WriteIntegers(folder / "log/more/part-3.parq", {{"a", "[0]"}});
  WriteIntegers(folder / "log/.hidden.parquet", {{"a", "[99]"}});
  WriteIntegers(folder / "log/_part.parquet", {{"a", "[99]"}});
  folder.Write("log/_SUCCESS", "");
  folder.Write("log/part-1.parquet.tmp", "not finished");
  const auto source = ParquetSource::Open(folder / "log").ValueOrDie();
  EXPECT_EQ(Values(*source, "a"), (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(source->CountRows().ValueOrDie(), 4);
}

TEST(ParquetSource, ReadsAGlob) {
  TempDir folder;
  WriteIntegers(folder / "2001.parquet", {{"a", "[1]"}});
  WriteIntegers(folder / "2002.parquet", {{"a", "[2]"}});
  WriteIntegers(folder / "1999.parquet", {{"a", "[3]"}});
  const auto source = ParquetSource::Open(folder / "20*.parquet").ValueOrDie();
  EXPECT_EQ(Values(*source, "a"), (std::vector<std::int64_t>{1, 2}));
  ExpectInputError(ParquetSource::Open(folder / "18*.parquet"),
                   "no file matches the pattern '" + (folder / "18*.parquet") + "'");
}

// Arrow matches `**` like `*`, which would leave out the files above and further down.
TEST(ParquetSource, RefusesAGlobOverAllFolders) {
  TempDir folder;
  for (const char* name : {"log/a.parquet", "log/b/c.parquet", "log/b/d/e.parquet"})
    WriteIntegers(folder / name, {{"a", "[1]"}});
  for (const char* pattern : {"log/**/*.parquet", "log/**", "l*/**/*.parquet", "**"}) {
    ExpectInputError(
        ParquetSource::Open(folder / pattern),
        "`**` is not supported in a pattern; give the folder instead, which is read with "
        "all folders below it: '" +
            (folder / pattern) + "'");
  }
  EXPECT_EQ(ParquetSource::Open(folder / "log").ValueOrDie()->files().size(), 3U);
}

TEST(ParquetSource, RefusesWhatCannotBeRead) {
  TempDir folder;
  ExpectInputError(ParquetSource::Open(folder / "none.parquet"),
                   "no such file or directory: '" + (folder / "none.parquet") + "'");
  ExpectInputError(ParquetSource::Open(folder.path()),
                   "the directory '" + folder.path() + "' holds no .parquet file");
  const std::string text = folder.Write("text.parquet", "src,dst,time\n1,2,3\n");
  ExpectInputErrorWith(ParquetSource::Open(text), "cannot read '" + text + "': ");
  const std::string empty = folder.Write("empty.parquet", "");
  ExpectInputErrorWith(ParquetSource::Open(empty), "cannot read '" + empty + "': ");
}

TEST(ParquetSource, RefusesATruncatedFile) {
  TempDir folder;
  const std::string path = WriteIntegers(folder / "a.parquet", {{"a", "[1, 2, 3]"}});
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 10);
  ExpectInputErrorWith(ParquetSource::Open(path), "cannot read '" + path + "': ");
}

TEST(ParquetSource, FindsAFlippedBitByThePageChecksum) {
  TempDir folder;
  const std::string path = WriteIntegers(folder / "a.parquet", {{"a", "[1, 2, 3]"}});
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(0, std::ios::end);
  // The numbers stand uncompressed at the start: find the first 2 and make it a 6.
  std::string bytes(static_cast<std::size_t>(file.tellg()), '\0');
  file.seekg(0);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const std::size_t place = bytes.find(std::string("\1\0\0\0\0\0\0\0\2", 9));
  ASSERT_NE(place, std::string::npos);
  file.seekp(static_cast<std::streamoff>(place) + 8);
  file.put('\6');
  file.close();
  const auto source = ParquetSource::Open(path).ValueOrDie();
  const auto reader = source->Scan({"a"}, 10).ValueOrDie();
  std::shared_ptr<arrow::RecordBatch> batch;
  ExpectInputErrorWith(reader->ReadNext(&batch), "cannot read '" + path + "': ");
}

TEST(EdgeLog, NamesTheColumnsThereAreWhenOneIsMissing) {
  TempDir folder;
  InputOptions input;
  input.edges = WriteIntegers(folder / "a.parquet", {{"from", "[1]"}, {"to", "[2]"}});
  ExpectInputError(EdgeLog::Open(input, EventMode::kInsert),
                   "'" + input.edges +
                       "', column 'src': there is no such column; set `input.src` to one "
                       "of: from, to");
}

TEST(EdgeLog, NamesAFewOfManyColumns) {
  TempDir folder;
  std::vector<std::pair<std::string, std::string>> columns;
  for (int i = 0; i < 2000; ++i)
    columns.emplace_back(std::string(100, 'x') + std::to_string(i), "[1]");
  InputOptions input;
  input.edges = WriteIntegers(folder / "wide.parquet", columns);
  const auto status = EdgeLog::Open(input, EventMode::kInsert).status();
  EXPECT_LT(status.message().size(), 900u);
  EXPECT_TRUE(status.message().ends_with("x... and 1,988 more")) << status;
}

TEST(EdgeLog, SaysSoWhenAColumnIsThereTwice) {
  TempDir folder;
  InputOptions input;
  input.src = "a";
  input.edges =
      WriteIntegers(folder / "a.parquet", {{"a", "[1]"}, {"a", "[2]"}, {"b", "[2]"}});
  ExpectInputErrorWith(EdgeLog::Open(input, EventMode::kInsert), "duplicate field names");
}

}  // namespace
}  // namespace coden
