#include "read/time_limits_internal.h"

#include <fstream>

#include <arrow/compute/api.h>

#include "coden/read/edge_log.h"
#include "support/parquet.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

using arrow::TimeUnit;

// Times that stay, jump and cross row groups and files, and a file without rows.
const std::vector<std::vector<std::int64_t>> kFiles = {
    {3, 3, 3, 5, 5, 8, 8, 8}, {}, {8, 8, 9, 12}, {20, 20, 21, 30, 30, 30, 30}};
const std::vector<std::int64_t> kTimes = {3, 3,  3,  5,  5,  8,  8,  8,  8, 8,
                                          9, 12, 20, 20, 21, 30, 30, 30, 30};

std::string WriteLog(const TempDir& folder, const std::shared_ptr<arrow::DataType>& type,
                     bool statistics = true) {
  for (std::size_t i = 0; i < kFiles.size(); ++i) {
    arrow::Int64Builder times, rows;
    CODEN_EXPECT_OK(times.AppendValues(kFiles[i]));
    CODEN_EXPECT_OK(rows.AppendValues(kFiles[i]));
    const auto numbers = times.Finish().ValueOrDie();
    const auto ids = rows.Finish().ValueOrDie();
    std::shared_ptr<arrow::Array> column = numbers;
    if (type->id() == arrow::Type::DATE32) {
      column = arrow::compute::Cast(*column, arrow::int32()).ValueOrDie();
    }
    column = arrow::compute::Cast(*column, type).ValueOrDie();
    const auto table = TableOf({{"src", ids}, {"dst", ids}, {"time", column}});
    const auto path = folder / ("log/" + std::to_string(i) + ".parquet");
    auto file = arrow::io::FileOutputStream::Open(path).ValueOrDie();
    parquet::WriterProperties::Builder properties;
    if (!statistics) properties.disable_statistics();
    CODEN_EXPECT_OK(parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), file,
                                               /*chunk_size=*/3, properties.build()));
    CODEN_EXPECT_OK(file->Close());
  }
  return folder / "log";
}

std::vector<std::int64_t> Sources(const EdgeLog& log, std::int64_t first_row = 0) {
  std::vector<std::int64_t> values;
  const auto table = log.Scan(2, first_row).ValueOrDie()->ToTable().ValueOrDie();
  for (const auto& chunk : table->column(0)->chunks()) {
    const auto& array = static_cast<const arrow::Int64Array&>(*chunk);
    for (std::int64_t i = 0; i < array.length(); ++i) values.push_back(array.Value(i));
  }
  return values;
}

// Compare with filtering the times one by one.
void CheckAllRanges(InputOptions input) {
  for (std::int64_t from = 0; from <= 31; ++from) {
    for (std::int64_t until = from + 1; until <= 33; ++until) {
      SCOPED_TRACE(std::to_string(from) + " until " + std::to_string(until));
      input.from = from == 0 ? "" : std::to_string(from);
      input.until = until == 33 ? "" : std::to_string(until);
      std::vector<std::int64_t> expected;
      std::int64_t before = 0;
      for (const std::int64_t time : kTimes) {
        if (time < from) ++before;
        if (time >= from && time < until) expected.push_back(time);
      }
      const auto log = EdgeLog::Open(input, EventMode::kInsert);
      if (expected.empty()) {
        ExpectInputErrorWith(log, "there is no row from `input.from` on and before");
        continue;
      }
      ASSERT_TRUE(log.ok()) << log.status();
      EXPECT_EQ(log->num_rows, static_cast<std::int64_t>(expected.size()));
      EXPECT_EQ(log->num_before, before);
      EXPECT_EQ(log->num_before + log->num_rows + log->num_after,
                static_cast<std::int64_t>(kTimes.size()));
      EXPECT_EQ(Sources(*log), expected);
      expected.erase(expected.begin());
      EXPECT_EQ(Sources(*log, 1), expected);
    }
  }
}

TEST(EdgeLogRange, HoldsTheRowsOfTheTimesAskedFor) {
  TempDir folder;
  InputOptions input;
  input.edges = WriteLog(folder, arrow::int64());
  CheckAllRanges(input);
}

TEST(EdgeLogRange, NeedsNoStatistics) {
  TempDir folder;
  InputOptions input;
  input.edges = WriteLog(folder, arrow::int64(), /*statistics=*/false);
  CheckAllRanges(input);
}

TEST(EdgeLogRange, TakesEveryTypeOfTime) {
  for (const auto& type :
       {arrow::uint8(), arrow::date32(), arrow::timestamp(TimeUnit::MILLI),
        arrow::timestamp(TimeUnit::NANO, "UTC"), arrow::decimal128(20, 0)}) {
    SCOPED_TRACE(type->ToString());
    TempDir folder;
    InputOptions input;
    input.edges = WriteLog(folder, type);
    input.from = "5";
    input.until = "20";
    const auto log = EdgeLog::Open(input, EventMode::kInsert);
    ASSERT_TRUE(log.ok()) << log.status();
    EXPECT_EQ(Sources(*log), (std::vector<std::int64_t>{5, 5, 8, 8, 8, 8, 8, 9, 12}));
  }
}

TEST(EdgeLogRange, ReadsNothingOutside) {
  TempDir folder;
  InputOptions input;
  input.edges = WriteLog(folder, arrow::int64());
  // Leaves footers and the second file with rows whole.
  for (const std::string name : {"log/0.parquet", "log/3.parquet"}) {
    std::fstream file(folder / name, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4);
    file << std::string(300, '\xff');
  }
  input.from = "9";
  input.until = "20";
  const auto log = EdgeLog::Open(input, EventMode::kInsert);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_EQ(Sources(*log), (std::vector<std::int64_t>{9, 12}));
  input.until = "21";
  ExpectInputErrorWith(EdgeLog::Open(input, EventMode::kInsert), "cannot read '");
}

TEST(EdgeLogRange, SaysWhichTimesThereAre) {
  TempDir folder;
  InputOptions input;
  input.edges = WriteLog(folder, arrow::date32());
  input.from = "2024-01-05";
  ExpectInputError(
      EdgeLog::Open(input, EventMode::kInsert),
      "'" + input.edges +
          "', column 'time': there is no row from `input.from` on and before "
          "`input.until`; choose other times: the log has 1970-01-04 (3) to "
          "1970-01-31 (30)");
}

TEST(EdgeLogRange, RefusesFilesThatAreNotInTimeOrder) {
  TempDir folder;
  InputOptions input;
  for (const auto& [name, times] : std::vector<std::pair<std::string, std::string>>{
           {"1", "[5, 6]"}, {"2", "[1, 2]"}}) {
    WriteIntegers(folder / ("log/" + name + ".parquet"),
                  {{"src", times}, {"dst", times}, {"time", times}});
  }
  input.edges = folder / "log";
  input.from = "6";
  ExpectInputErrorWith(
      EdgeLog::Open(input, EventMode::kInsert),
      "file '2.parquet', column 'time', row 0: times must not fall from one "
      "row group to the next");
}

std::string LimitOf(const std::string& text,
                    const std::shared_ptr<arrow::DataType>& type) {
  InputOptions input;
  input.from = text;
  const auto limits = ReadTimeLimits(input, *type);
  if (!limits.ok()) {
    EXPECT_EQ(FaultOf(limits.status()), Fault::kUsage);
    return "refused";
  }
  return limits->from ? std::to_string(*limits->from) : "none";
}

TEST(TimeLimits, AreNumbersOrIsoTimes) {
  const auto seconds = arrow::timestamp(TimeUnit::SECOND);
  const auto milliseconds = arrow::timestamp(TimeUnit::MILLI, "Europe/Berlin");
  EXPECT_EQ(LimitOf("", arrow::int64()), "none");
  EXPECT_EQ(LimitOf("17", arrow::int64()), "17");
  EXPECT_EQ(LimitOf("-3", arrow::int32()), "-3");
  EXPECT_EQ(LimitOf("17", milliseconds), "17");
  EXPECT_EQ(LimitOf("2024-01-05", seconds), "1704412800");
  EXPECT_EQ(LimitOf("2024-01-05T12:00:00Z", seconds), "1704456000");
  EXPECT_EQ(LimitOf("2024-01-05 12:00:00", seconds), "1704456000");
  EXPECT_EQ(LimitOf("2024-01-05T12:00:00+02:00", seconds), "1704448800");
  EXPECT_EQ(LimitOf("2024-01-05T12:00:00.250Z", milliseconds), "1704456000250");
  EXPECT_EQ(LimitOf("2024-01-05", arrow::date32()), "19727");
  EXPECT_EQ(LimitOf("2024-01-05T00:00:01Z", arrow::date32()), "19728");
  EXPECT_EQ(LimitOf("1969-12-30T12:00:00", arrow::date32()), "-1");
  EXPECT_EQ(LimitOf("2024-01-05", arrow::date64()), "1704412800000");
  for (const std::string text :
       {"2024-01-05", "1.5", "x", " 1", "99999999999999999999"}) {
    EXPECT_EQ(LimitOf(text, arrow::int64()), "refused") << text;
  }
  for (const std::string text : {"2024-13-05", "yesterday", "2024-01-05T12:00:00.5"}) {
    EXPECT_EQ(LimitOf(text, seconds), "refused") << text;
  }
}

TEST(TimeLimits, MustRise) {
  InputOptions input;
  input.from = "7";
  input.until = "7";
  const auto status = ReadTimeLimits(input, *arrow::int64()).status();
  EXPECT_EQ(FaultOf(status), Fault::kUsage);
  EXPECT_EQ(status.message(), "`input.from` must be before `input.until`: 7 and 7");
}

}  // namespace
}  // namespace coden
