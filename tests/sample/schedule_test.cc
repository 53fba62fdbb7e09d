#include "coden/sample/schedule.h"

#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "coden/base/error.h"

namespace coden {
namespace {

const Schedule kSchedule = {
    {0, 0, false, 7, 10, 5, 9, 0.25},
    {1, 1, false, 8, 14, 6, 11, 0.125},
    {2, 1, true, 10, 14, 6, 11, 0.0},
    {3, 2, true, INT64_MAX, 14, 6, 11, 1e-300},
};

std::shared_ptr<arrow::Table> ToTable(const std::vector<Schedule>& parts) {
  arrow::RecordBatchVector batches;
  for (const Schedule& part : parts)
    batches.push_back(ScheduleToBatch(part).ValueOrDie());
  return arrow::Table::FromRecordBatches(ScheduleSchema(), batches).ValueOrDie();
}

void CheckRoundTrip(const std::vector<Schedule>& parts, const Schedule& expected) {
  const auto read = ScheduleFromTable(*ToTable(parts));
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(*read, expected);
}

void CheckDamaged(const arrow::Table& table, std::string_view message) {
  const auto read = ScheduleFromTable(table);
  ASSERT_FALSE(read.ok());
  EXPECT_TRUE(read.status().message().starts_with(message)) << read.status().message();
  EXPECT_EQ(FaultOf(read.status()), Fault::kCorruption);
}

TEST(Schedule, ReadsBackAsItWasWritten) {
  CheckRoundTrip({kSchedule}, kSchedule);
  CheckRoundTrip({}, {});
  CheckRoundTrip({{kSchedule[0]}, {}, {kSchedule[1], kSchedule[2]}, {kSchedule[3]}},
                 kSchedule);
}

TEST(Schedule, RefusesRowsThatAreMissingOrMoved) {
  Schedule missing = kSchedule;
  missing.erase(missing.begin() + 1);
  CheckDamaged(*ToTable({missing}),
               "the schedule's snapshots must count up from 0: row 1 says 2");
  Schedule moved = kSchedule;
  std::swap(moved[1], moved[2]);
  CheckDamaged(*ToTable({moved}),
               "the schedule's snapshots must count up from 0: row 1 says 2");
}

TEST(Schedule, RefusesRowsOutOfLogOrder) {
  Schedule fewer_events = kSchedule;
  fewer_events[2].events = 13;
  CheckDamaged(*ToTable({fewer_events}),
               "the schedule's events and predictions must not fall: they do at row 2");
  Schedule earlier_prediction = kSchedule;
  earlier_prediction[3].prediction = 0;
  CheckDamaged(*ToTable({earlier_prediction}),
               "the schedule's events and predictions must not fall: they do at row 3");
}

TEST(Schedule, RefusesOtherColumns) {
  const auto table = ToTable({kSchedule});
  CheckDamaged(*table->RemoveColumn(7).ValueOrDie(),
               "the schedule has columns this version does not know: ");
  CheckDamaged(
      *table
           ->SetColumn(4, arrow::field("events", arrow::int32(), /*nullable=*/false),
                       table->column(0))
           .ValueOrDie(),
      "the schedule has columns this version does not know: ");
}

}  // namespace
}  // namespace coden
