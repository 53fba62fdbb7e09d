// Scans that begin or end inside the input, and the order of files.

#include <numeric>

#include "coden/read/parquet_source.h"
#include "read/parquet_files_internal.h"
#include "support/parquet.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

std::string WriteRows(const std::string& path, std::int64_t begin, std::int64_t end,
                      std::int64_t row_group_rows) {
  arrow::Int64Builder builder;
  for (std::int64_t row = begin; row < end; ++row) {
    CODEN_EXPECT_OK(builder.Append(row));
  }
  return WriteParquet(path, *TableOf({{"a", builder.Finish().ValueOrDie()}}),
                      row_group_rows);
}

std::vector<std::int64_t> Rows(const ParquetSource& source, std::int64_t batch_rows,
                               std::int64_t first_row,
                               std::int64_t end_row = ParquetSource::kToTheEnd) {
  std::vector<std::int64_t> values;
  const auto reader = source.Scan({"a"}, batch_rows, first_row, end_row).ValueOrDie();
  EXPECT_EQ(reader->schema()->num_fields(), 1);
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    CODEN_EXPECT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) return values;
    EXPECT_GT(batch->num_rows(), 0);
    EXPECT_LE(batch->num_rows(), batch_rows);
    const auto& array = static_cast<const arrow::Int64Array&>(*batch->column(0));
    for (std::int64_t row = 0; row < array.length(); ++row) {
      values.push_back(array.Value(row));
    }
  }
}

std::vector<std::int64_t> From(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> values(std::max<std::int64_t>(end - begin, 0));
  std::iota(values.begin(), values.end(), begin);
  return values;
}

std::vector<std::string> Names(const ParquetSource& source) {
  std::vector<std::string> names;
  for (const auto& file : source.files()) names.push_back(file.name);
  return names;
}

// Three files, with 4, none and 3 row groups of 5, 5, 5, 2 and 7, 7, 3 rows.
TEST(ParquetRows, ScansFromAnyRowToAnyRow) {
  TempDir folder;
  WriteRows(folder / "log/a.parquet", 0, 17, 5);
  WriteRows(folder / "log/b.parquet", 17, 17, 5);
  WriteRows(folder / "log/c.parquet", 17, 34, 7);
  const auto source = ParquetSource::Open(folder / "log").ValueOrDie();
  EXPECT_EQ(source->CountRows().ValueOrDie(), 34);
  for (const std::int64_t batch_rows : {1, 3, 5, 100}) {
    for (std::int64_t first = 0; first <= 36; ++first) {
      SCOPED_TRACE(std::to_string(first) + " by " + std::to_string(batch_rows));
      EXPECT_EQ(Rows(*source, batch_rows, first), From(first, 34));
      for (const std::int64_t count : {0, 1, 4, 5, 12, 30}) {
        EXPECT_EQ(Rows(*source, batch_rows, first, first + count),
                  From(first, std::min<std::int64_t>(first + count, 34)));
      }
    }
  }
}

TEST(ParquetRows, DoesNotReadRowGroupsOutside) {
  TempDir folder;
  WriteRows(folder / "log/a.parquet", 0, 20, 10);
  WriteRows(folder / "log/b.parquet", 20, 40, 10);
  const auto source = ParquetSource::Open(folder / "log").ValueOrDie();
  // Only the second row group of each file is left whole.
  for (const std::string name : {"log/a.parquet", "log/b.parquet"}) {
    std::fstream file(folder / name, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4);
    file << std::string(40, '\xff');
  }
  EXPECT_EQ(Rows(*source, 4, 10, 20), From(10, 20));
  EXPECT_EQ(Rows(*source, 4, 13, 18), From(13, 18));
  EXPECT_EQ(Rows(*source, 4, 30), From(30, 40));
  for (const std::int64_t first : {9, 29}) {
    const auto reader = source->Scan({"a"}, 4, first).ValueOrDie();
    std::shared_ptr<arrow::RecordBatch> batch;
    ExpectInputErrorWith(reader->ReadNext(&batch), "cannot read '");
  }
}

TEST(ParquetRows, TellsFilesByNamesThatDoNotMove) {
  TempDir folder;
  WriteRows(folder / "log/day=2/x.parquet", 0, 3, 5);
  WriteRows(folder / "log/day=10/x.parquet", 3, 7, 5);
  const auto all = ParquetSource::Open(folder / "log").ValueOrDie();
  EXPECT_EQ(Names(*all),
            (std::vector<std::string>{"day=2/x.parquet", "day=10/x.parquet"}));
  const ParquetSource::File& file = all->files()[1];
  EXPECT_EQ(file.path, folder / "log/day=10/x.parquet");
  EXPECT_EQ(file.num_rows, 4);
  EXPECT_EQ(file.size, std::filesystem::file_size(file.path));
  EXPECT_GT(file.modified, 1'600'000'000'000'000'000);
  EXPECT_EQ(Names(*ParquetSource::Open(folder / "log/").ValueOrDie()), Names(*all));
  EXPECT_EQ(Names(*ParquetSource::Open(file.path).ValueOrDie()),
            std::vector<std::string>{"x.parquet"});
  EXPECT_EQ(Names(*ParquetSource::Open(folder / "log/day=1*/*.parquet").ValueOrDie()),
            std::vector<std::string>{"day=10/x.parquet"});
}

TEST(ParquetRows, ReadsKnownFilesFirst) {
  TempDir folder;
  WriteRows(folder / "log/a.parquet", 3, 4, 5);
  WriteRows(folder / "log/b.parquet", 0, 2, 5);
  WriteRows(folder / "log/c.parquet", 4, 5, 5);
  WriteRows(folder / "log/d.parquet", 2, 3, 5);
  const auto source =
      ParquetSource::Open(folder / "log", {"b.parquet", "gone.parquet", "d.parquet"})
          .ValueOrDie();
  EXPECT_EQ(Names(*source), (std::vector<std::string>{"b.parquet", "d.parquet",
                                                      "a.parquet", "c.parquet"}));
  EXPECT_EQ(Rows(*source, 10, 0), From(0, 5));
}

TEST(ParquetRows, PassesOverWhatWritersLeaveBesideTheData) {
  TempDir folder;
  WriteRows(folder / "log/_kind=1/a.parquet", 0, 2, 5);
  WriteRows(folder / "log/_temporary/0/part-0.parquet", 7, 9, 5);
  WriteRows(folder / "log/.spark/part-0.parquet", 7, 9, 5);
  EXPECT_EQ(Names(*ParquetSource::Open(folder / "log").ValueOrDie()),
            std::vector<std::string>{"_kind=1/a.parquet"});
}

std::string TypeOf(const ParquetSource& source, const std::string& column) {
  const auto field = source.schema()->GetFieldByName(column);
  return field == nullptr ? "none" : field->type()->ToString();
}

TEST(ParquetRows, MakesColumnsOfFolders) {
  TempDir folder;
  WriteRows(folder / "log/a=2/when=2024-01-05/who=x%20y/f.parquet", 0, 3, 2);
  WriteRows(folder / "log/a=9/when=2024-01-06/who=7/f.parquet", 3, 7, 2);
  const auto source = ParquetSource::Open(folder / "log").ValueOrDie();
  EXPECT_EQ(TypeOf(*source, "a"), "int64");  // that of the files
  EXPECT_EQ(TypeOf(*source, "when"), "date32[day]");
  EXPECT_EQ(TypeOf(*source, "who"), "string");
  EXPECT_EQ(Rows(*source, 2, 1), From(1, 7));
  // Columns of folders alone, from the middle of a row group on.
  const auto table =
      source->Scan({"when", "who"}, 2, 1).ValueOrDie()->ToTable().ValueOrDie();
  const auto expected = TableOf(
      {{"when", ArrayOf(arrow::date32(), "[19727, 19727, 19728, 19728, 19728, 19728]")},
       {"who", ArrayOf(arrow::utf8(), R"(["x y", "x y", "7", "7", "7", "7"])")}});
  EXPECT_TRUE(table->Equals(*expected)) << table->ToString();
}

TEST(ParquetRows, WidensTypesButKeepsTheUnitOfTimes) {
  TempDir folder;
  const auto milliseconds = arrow::timestamp(arrow::TimeUnit::MILLI);
  const auto microseconds = arrow::timestamp(arrow::TimeUnit::MICRO);
  WriteParquet(folder / "log/1.parquet", *TableOf({{"a", ArrayOf(arrow::int8(), "[1]")},
                                                   {"t", ArrayOf(milliseconds, "[1]")}}));
  WriteParquet(folder / "log/2.parquet",
               *TableOf({{"a", ArrayOf(arrow::int64(), "[5000000000]")},
                         {"t", ArrayOf(microseconds, "[2000]")}}));
  const auto source = ParquetSource::Open(folder / "log").ValueOrDie();
  EXPECT_EQ(TypeOf(*source, "t"), "timestamp[ms]");
  EXPECT_EQ(Rows(*source, 10, 0), (std::vector<std::int64_t>{1, 5000000000}));
}

TEST(ParquetRows, SaysWhichFileIsDamaged) {
  TempDir folder;
  WriteRows(folder / "log/a.parquet", 0, 2, 5);
  folder.Write("log/b.parquet", "this is not a Parquet file");
  ExpectInputErrorWith(ParquetSource::Open(folder / "log"),
                       "cannot read '" + (folder / "log") + "', file 'b.parquet': it is");
}

TEST(IsReadBefore, OrdersNamesByTextAndPartitionsByNumber) {
  // A file is no folder, so day=02x.parquet goes by its text, after numbered folders.
  const std::vector<std::string> sorted = {
      "a.parquet",         "a/b.parquet",       "day=-3/a.parquet", "day=2/a.parquet",
      "day=2/b.parquet",   "day=10/a.parquet",  "day=02x.parquet",  "day=1x/a.parquet",
      "hour=10/a.parquet", "hour=9.5/a.parquet"};
  for (std::size_t a = 0; a < sorted.size(); ++a) {
    for (std::size_t b = 0; b < sorted.size(); ++b) {
      EXPECT_EQ(IsReadBefore(sorted[a], sorted[b]), a < b)
          << sorted[a] << " and " << sorted[b];
    }
  }
}

}  // namespace
}  // namespace coden
