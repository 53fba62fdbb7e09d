#include "experiment/statistics_internal.h"

#include <cmath>

#include <gtest/gtest.h>

namespace coden {
namespace {

TEST(StatisticsTest, SpreadIsThatOfASample) {
  const Spread spread = SpreadOf({1.0, 2.0, NAN, 6.0});
  EXPECT_DOUBLE_EQ(spread.mean, 3.0);
  EXPECT_DOUBLE_EQ(spread.deviation, std::sqrt((4.0 + 1.0 + 9.0) / 2.0));
  EXPECT_DOUBLE_EQ(spread.high() - spread.low(), 2.0 * spread.deviation);
}

TEST(StatisticsTest, OneValueHasNoSpread) {
  const Spread one = SpreadOf({4.0});
  EXPECT_TRUE(std::isnan(one.deviation));
  EXPECT_DOUBLE_EQ(one.low(), 4.0);
  EXPECT_TRUE(std::isnan(SpreadOf({}).mean));
  EXPECT_TRUE(std::isnan(Largest({NAN})));
}

TEST(StatisticsTest, TimesComeBeforeRuns) {
  TrialResult result;
  // run, prediction, time: the best of run 0 is 0.9, of run 1 it is 0.5
  result.measurements = {{"f", 0.1, 0, 1, 10},
                         {"f", 0.9, 0, 2, 20},
                         {"f", 0.5, 1, 1, 10},
                         {"f", 0.3, 1, 2, 20},
                         {"g", 7.0, 1, 2, 20}};
  EXPECT_DOUBLE_EQ(OverRuns(result, "f", Largest).mean, 0.7);
  EXPECT_DOUBLE_EQ(OverRuns(result, "f", Smallest).mean, 0.2);
  const auto times = OverTime(result, "f");
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[1].prediction, 2);
  EXPECT_EQ(times[1].time, 20);
  EXPECT_EQ(times[1].values, (std::vector<double>{0.9, 0.3}));
}

}  // namespace
}  // namespace coden
