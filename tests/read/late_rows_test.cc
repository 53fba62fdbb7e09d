#include "coden/read/late_rows.h"

#include <gtest/gtest.h>

namespace coden {
namespace {

using Times = std::vector<EventTime>;

// The times that are not late, of batches with these.
Times Kept(LateRows& rows, const std::vector<Times>& batches, std::int64_t* num_late) {
  Times kept;
  std::vector<bool> late;
  for (const Times& times : batches) {
    *num_late += rows.Mark(times, &late);
    for (std::size_t row = 0; row < times.size(); ++row) {
      if (!late[row]) kept.push_back(times[row]);
    }
  }
  return kept;
}

TEST(LateRows, KeepsRowsAfterTheLastPrediction) {
  LateRows rows(/*predicted=*/10);
  std::int64_t late = 0;
  EXPECT_EQ(Kept(rows, {{11, 12}, {12, 30}}, &late), (Times{11, 12, 12, 30}));
  EXPECT_EQ(late, 0);
  EXPECT_EQ(rows.earliest(), 30);
}

TEST(LateRows, MarksRowsAtOrBeforeIt) {
  LateRows rows(/*predicted=*/10);
  std::int64_t late = 0;
  EXPECT_EQ(Kept(rows, {{3, 9}, {}, {10, 11}, {11, 12}}, &late), (Times{11, 11, 12}));
  EXPECT_EQ(late, 3);
  EXPECT_EQ(rows.RuleOf(10), LateRows::kAlreadyPredicted);
  EXPECT_EQ(rows.RuleOf(11), LateRows::kFallingTime);
}

TEST(LateRows, MarksRowsBeforeOneAboveThem) {
  LateRows rows;
  std::int64_t late = 0;
  EXPECT_EQ(Kept(rows, {{0, 5, 4}, {4, 5, 7, 6, 7}}, &late), (Times{0, 5, 5, 7, 7}));
  EXPECT_EQ(late, 3);
}

TEST(LateRows, ALateRowMakesNoOtherRowLate) {
  LateRows rows(/*predicted=*/10);
  std::int64_t late = 0;
  EXPECT_EQ(Kept(rows, {{8, 11, 9, 12}}, &late), (Times{11, 12}));
  EXPECT_EQ(late, 2);
}

TEST(LateRows, PassesOverNegativeTimes) {
  LateRows rows;
  std::int64_t late = 0;
  EXPECT_EQ(Kept(rows, {{3, -1, 3}}, &late), (Times{3, -1, 3}));
  EXPECT_EQ(late, 0);
}

}  // namespace
}  // namespace coden
