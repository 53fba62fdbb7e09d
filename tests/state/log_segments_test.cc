#include "coden/state/log_segments.h"

#include "coden/base/runner.h"
#include "support/parquet.h"
#include "support/status.h"
#include "support/temp_dir.h"

namespace coden {
namespace {

// A log of three files: rows 0 to 3, 4 to 6 and 7 to 9. Its second file is late but for
// one row, and rows of the others are.
class LogSegmentsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Write("a", "[1, 5, 3, 6]");
    Write("b", "[2, 7, 4]");
    Write("c", "[6, 8, 9]");
    input_.edges = folder_.path();
    input_.late = LatePolicy::kDrop;
    log_ = EdgeLog::Open(input_, EventMode::kInsert).ValueOrDie();
    segments_ = {{"a.parquet", 0, 4, 0, 3, ""},
                 {"b.parquet", 1, 1, 3, 1, ""},
                 {"c.parquet", 1, 2, 4, 2, ""}};
  }
  void Write(const std::string& name, const std::string& times) {
    std::string ends = times;
    WriteIntegers(folder_ / (name + ".parquet"),
                  {{"src", ends}, {"dst", ends}, {"time", times}});
  }
  // The times of the events after the first `num_events`.
  std::vector<EventTime> TimesAfter(std::int64_t num_events, std::int64_t batch_rows) {
    const auto rows = ReadUsedRows(log_, segments_, batch_rows, num_events).ValueOrDie();
    const auto nodes = NodeIdMap::Make(log_.id_type).ValueOrDie();
    EventReader reader("log", EventMode::kInsert, *nodes, rows.options);
    std::vector<EventTime> times;
    SilentProgress progress;
    Operator* stages[] = {&reader};
    CODEN_EXPECT_OK(coden::Run(*rows.reader, stages,
                               [&](const BatchPtr& batch) {
                                 const EventView view(*batch);
                                 times.insert(times.end(), view.times().begin(),
                                              view.times().end());
                                 return arrow::Status::OK();
                               },
                               {&progress})
                        .status());
    return times;
  }

  TempDir folder_;
  InputOptions input_;
  EdgeLog log_;
  std::vector<LogSegment> segments_;
};

TEST_F(LogSegmentsTest, ReadsTheEventsAfterAnyNumber) {
  const std::vector<EventTime> all = {1, 5, 6, 7, 8, 9};
  for (const std::int64_t batch_rows : {1, 2, 100}) {
    for (std::size_t done = 0; done <= all.size(); ++done) {
      EXPECT_EQ(TimesAfter(static_cast<std::int64_t>(done), batch_rows),
                std::vector<EventTime>(all.begin() + static_cast<std::ptrdiff_t>(done),
                                       all.end()))
          << done;
    }
  }
}

TEST_F(LogSegmentsTest, AFileWithoutAUsedRowMayBeGone) {
  std::erase_if(segments_, [](const LogSegment& it) { return it.file == "b.parquet"; });
  segments_[1].first_event = 3;
  EXPECT_EQ(RowAfter(segments_, log_).ValueOrDie(), 10);
  std::filesystem::remove(folder_ / "b.parquet");
  log_ = EdgeLog::Open(input_, EventMode::kInsert).ValueOrDie();
  EXPECT_EQ(RowAfter(segments_, log_).ValueOrDie(), 7);
  EXPECT_EQ(TimesAfter(2, 100), (std::vector<EventTime>{6, 8, 9}));
}

TEST_F(LogSegmentsTest, CountsTheRowsThatAreKept) {
  const EdgeLog::KeptRows kept =
      log_.CountKept(0, {LatePolicy::kDrop, kNoTime}).ValueOrDie();
  EXPECT_EQ(kept.count, 6);
  EXPECT_EQ(kept.last_time, 9);
  EXPECT_EQ(log_.CountKept(0, {LatePolicy::kDrop, 7}).ValueOrDie().count, 2);
  EXPECT_EQ(log_.CountKept(10, {LatePolicy::kDrop, 7}).ValueOrDie().count, 0);
}

TEST_F(LogSegmentsTest, LimitsFindTheFirstRowThatHasReachedThem) {
  input_.from = "5";
  input_.until = "7";
  log_ = EdgeLog::Open(input_, EventMode::kInsert).ValueOrDie();
  EXPECT_EQ(log_.num_before, 1);
  EXPECT_EQ(log_.num_rows, 4);  // 5, 3, 6, 2
  EXPECT_EQ(log_.num_after, 5);
}

}  // namespace
}  // namespace coden
