#include "read/time_warnings_internal.h"

#include <arrow/type.h>

#include "support/parquet.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

class TimeWarningsTest : public ::testing::Test {
 protected:
  // A log with these times.
  void Log(const std::string& times, std::shared_ptr<arrow::DataType> type) {
    type_ = std::move(type);
    path_ = WriteParquet(
        folder_ / "e.parquet",
        *TableOf({{"time", ArrayOf(arrow::int64(), times)->View(type_).ValueOrDie()}}));
  }
  std::vector<std::string> Warnings() {
    const auto source = ParquetSource::Open(path_).ValueOrDie();
    const auto texts = TimeWarnings(settings_, *source, {"time", nullptr, type_});
    CODEN_EXPECT_OK(texts.status());
    return texts.ok() ? *texts : std::vector<std::string>();
  }
  std::vector<std::string> OfLabels() {
    const auto source = ParquetSource::Open(path_).ValueOrDie();
    return LabelWindowWarnings(settings_, *source, {"time", nullptr, type_}).ValueOrDie();
  }
  // The only warning; it has all of `parts`.
  void ExpectOne(const std::vector<std::string>& parts) {
    const auto texts = Warnings();
    ASSERT_EQ(texts.size(), 1u);
    for (const std::string& part : parts)
      EXPECT_NE(texts[0].find(part), std::string::npos) << texts[0] << "\n" << part;
  }

  TempDir folder_;
  Settings settings_;
  std::string path_;
  std::shared_ptr<arrow::DataType> type_;
};

constexpr char kMicroseconds[] = "[1420070400000000, 1451606400000000]";

TEST_F(TimeWarningsTest, SecondsForALogInMicroseconds) {
  Log(kMicroseconds, arrow::timestamp(arrow::TimeUnit::MICRO));
  settings_.partition.initial = InitialBefore{1420070401};
  ExpectOne(
      {"`partition.initial` = 1420070401 lies before the log, so the initial graph "
       "is empty: the log has times from 2015-01-01 00:00:00",
       "(1420070400000000) to 2016-01-01 00:00:00",
       "in microseconds since 1970; it would lie in the log if it were in seconds"});
  settings_.partition.initial = InitialBefore{1420070401000000};
  EXPECT_TRUE(Warnings().empty());
}

TEST_F(TimeWarningsTest, PlainNumbersOfAnotherUnit) {
  Log(kMicroseconds, arrow::int64());
  settings_.input.from = "1420070401";
  ExpectOne(
      {"`input.from` = 1420070401 lies before the log, so no row is left out: the "
       "log has times from 1420070400000000 to 1451606400000000, in whole numbers; "
       "multiplied by 1,000,000 it would lie in the log: another unit?"});
}

TEST_F(TimeWarningsTest, TimesAfterTheLog) {
  Log("[100, 200]", arrow::int64());
  settings_.input.until = "500";
  settings_.partition.initial = InitialFraction{0.5};
  ExpectOne({"`input.until` = 500 lies after the log, so no row is left out"});
  settings_.input.until.clear();
  settings_.partition.times = {150, 900};
  ExpectOne({"`partition.times` = 900 lies after the log"});
  // Waiting for it is what such a run is for.
  settings_.partition.unfinished = UnfinishedInterval::kWait;
  EXPECT_TRUE(Warnings().empty());
}

TEST_F(TimeWarningsTest, SpansLongerThanTheLog) {
  Log("[100, 200]", arrow::int64());
  settings_.partition.width = 101;
  ExpectOne(
      {"`partition.width` = 101 is longer than the log, so there is one prediction "
       "time"});
  settings_.partition.width = 0;
  settings_.graph.window = 1'000'000;
  ExpectOne({"`graph.window` = 1000000 is longer than the log, so no edge expires",
             "is it in another unit?"});
}

TEST_F(TimeWarningsTest, LabelWindowsAreOfTheTraining) {
  Log("[100, 200]", arrow::int64());
  settings_.input.labels = "labels.parquet";
  settings_.train.label_columns = 5;
  settings_.train.label_windows = {0, 50, 300};
  EXPECT_TRUE(Warnings().empty());
  const auto texts = OfLabels();
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_EQ(texts[0],
            "`train.label_windows` = 300 is longer than the log, so no edge expires in "
            "it: the log has times from 100 to 200, in whole numbers");
  settings_.train.label_windows = {0};
  EXPECT_TRUE(OfLabels().empty());
}

TEST_F(TimeWarningsTest, ATinyWindow) {
  Log(kMicroseconds, arrow::timestamp(arrow::TimeUnit::MICRO));
  settings_.graph.window = 86'400;
  ExpectOne({"`graph.window` = 86400 is less than a ten-millionth of the log",
             "is it in another unit?"});
}

TEST_F(TimeWarningsTest, TheLimitsOfTheLogCount) {
  Log("[100, 150, 200]", arrow::int64());
  settings_.input.from = "140";
  settings_.partition.initial = InitialBefore{120};
  ExpectOne({"`partition.initial` = 120 lies before the log", "from 140 to 200"});
}

}  // namespace
}  // namespace coden
