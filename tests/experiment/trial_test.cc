#include "experiment/trial_internal.h"

#include <cmath>

#include <gtest/gtest.h>

#include "coden/base/error.h"

namespace coden {
namespace {

TEST(TrialTest, ComesBackFromItsFile) {
  TrialResult result;
  result.resumed = true;
  result.measurements = {
      {"micro_f1", 0.25, 1, 2, 30}, {"seconds", 1e-9}, {"true_error", 5.0, -1, 0, 0, 7}};
  const TrialResult read = TrialResultFromJson(ToJson({}, result)).ValueOrDie();
  EXPECT_TRUE(read.resumed);
  EXPECT_EQ(read.measurements, result.measurements);
}

TEST(TrialTest, ANumberThatIsNoneStaysNone) {
  TrialResult result;
  result.measurements = {{"micro_f1", NAN}, {"loss", INFINITY}};
  const TrialResult read = TrialResultFromJson(ToJson({}, result)).ValueOrDie();
  EXPECT_TRUE(std::isnan(read.measurements[0].value));
  EXPECT_TRUE(std::isnan(read.measurements[1].value));
}

TEST(TrialTest, RefusesOtherText) {
  for (const char* text : {"", "{}", "[]", "{\"format\": 9}",
                           "{\"format\": 1, \"resumed\": 3, \"measurements\": []}",
                           "{\"format\": 1, \"resumed\": true, \"measurements\": [1]}"}) {
    const auto read = TrialResultFromJson(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(FaultOf(read.status()), Fault::kCorruption) << text;
  }
}

TEST(TrialTest, SecretsStayOutOfTheFile) {
  Trial trial;
  trial.settings.input.edges = "s3://key:s3cr3t@bucket/edges.parquet";
  EXPECT_EQ(ToJson(trial, {}).find("s3cr3t"), std::string::npos);
}

}  // namespace
}  // namespace coden
