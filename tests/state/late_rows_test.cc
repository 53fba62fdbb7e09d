#include "coden/state/late_rows.h"

#include "coden/read/event_batch.h"
#include "support/status.h"

namespace coden {
namespace {

using Times = std::vector<EventTime>;

BatchPtr Events(const Times& times) {
  EventBatchBuilder events;
  for (const EventTime time : times) events.Append({1, 2, time, EventKind::kInsert});
  return events.Finish();
}

// The times that come through, of batches with these.
arrow::Result<Times> Through(LateRows& stage, const std::vector<Times>& batches) {
  Times through;
  for (const Times& batch : batches) {
    ARROW_RETURN_NOT_OK(stage.Push(Events(batch), [&](BatchPtr passed) {
      const EventView events(*passed);
      through.insert(through.end(), events.times().begin(), events.times().end());
      return arrow::Status::OK();
    }));
  }
  return through;
}

TEST(LateRows, LetsRowsThroughThatComeAfterTheLastPrediction) {
  for (const LatePolicy policy : {LatePolicy::kRefuse, LatePolicy::kDrop}) {
    LateRows stage(policy, /*last_time=*/10, /*first_row=*/100, "log.parquet");
    EXPECT_EQ(Through(stage, {{11, 12}, {12, 30}}).ValueOrDie(), (Times{11, 12, 12, 30}));
    EXPECT_EQ(stage.num_dropped(), 0);
  }
}

TEST(LateRows, RefusesARowAtOrBeforeIt) {
  for (const EventTime time : {10, 3}) {
    LateRows stage(LatePolicy::kRefuse, 10, 100, "log.parquet");
    ExpectInputError(
        Through(stage, {{time, 11}}),
        "'log.parquet', row 100: the row was added late: the run has already made its "
        "prediction for time 10; drop and count such rows with `input.late = drop`, or "
        "rebuild with --force (and, for a log that is to grow, `partition.unfinished = "
        "wait`): " +
            std::to_string(time));
  }
}

TEST(LateRows, DropsAndCountsThem) {
  LateRows stage(LatePolicy::kDrop, 10, 100, "log.parquet");
  EXPECT_EQ(Through(stage, {{3, 9, 10, 11}, {11, 12}}).ValueOrDie(), (Times{11, 11, 12}));
  EXPECT_EQ(stage.num_dropped(), 3);
}

TEST(LateRows, DropsThemInSeveralBatches) {
  LateRows stage(LatePolicy::kDrop, 10, 100, "log.parquet");
  EXPECT_EQ(Through(stage, {{3, 4}, {}, {9, 10, 11, 20}, {20}}).ValueOrDie(),
            (Times{11, 20, 20}));
  EXPECT_EQ(stage.num_dropped(), 4);
}

TEST(LateRows, AFirstRunHasNone) {
  LateRows stage(LatePolicy::kRefuse, kNoTime, 0, "log.parquet");
  EXPECT_EQ(Through(stage, {{0, 0, 5}}).ValueOrDie(), (Times{0, 0, 5}));
}

}  // namespace
}  // namespace coden
