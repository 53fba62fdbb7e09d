#include "train/metrics_internal.h"

#include <cmath>

#include <gtest/gtest.h>

namespace coden {
namespace {

constexpr Part kA = Part::kTrain, kV = Part::kValidate, kT = Part::kTest;

//  node       0   1   2   3   4   5   6
//  part       T   T   T   T   T   V   train
//  label      0   0   1   1   -   0   1
//  predicted  0   1   1   1       1   1
//  present    y   y   y   n   y   y   y
struct Case {
  TrainingData data;
  std::vector<Part> split = {kT, kT, kT, kT, kT, kV, kA};
  PairScores scores;

  Case() {
    data.num_nodes = 7;
    data.num_classes = 3;
    data.predictions = {{4, 40, 0}};
    data.labels = {0, 0, 1, 1, -1, 0, 1};
    data.present = {1, 1, 1, 0, 1, 1, 1};
    scores.predicted = {0, 1, 1, 1, -1, 1, 1};
    scores.probability.assign(7, 0.5f);
    scores.loss = {1.0f, 2.0f, 6.0f, 50.0f, 0.0f, 70.0f, 80.0f};
  }
};

TEST(Metrics, CountTestNodesThatArePresentAndLabelled) {
  const Case c;
  const auto metrics = ScorePredictions(c.data, c.split, c.scores);
  ASSERT_EQ(metrics.size(), 1u);
  EXPECT_EQ(metrics[0].prediction, 4);
  EXPECT_EQ(metrics[0].time, 40);
  EXPECT_EQ(metrics[0].test_nodes, 3);
  EXPECT_EQ(metrics[0].absent_nodes, 1);
  EXPECT_DOUBLE_EQ(metrics[0].micro_f1, 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(metrics[0].micro_f1_all, 3.0 / 4.0);
  EXPECT_DOUBLE_EQ(metrics[0].validate_micro_f1, 0.0);
  EXPECT_DOUBLE_EQ(metrics[0].loss, 3.0);
  // F1 of class 0: 2*1/(2+1); of class 1: 2*1/(1+2); class 2 does not occur.
  EXPECT_DOUBLE_EQ(metrics[0].macro_f1, 2.0 / 3.0);
}

TEST(Metrics, AreNaNWhereThereIsNothingToScore) {
  Case c;
  c.data.labels.assign(7, -1);
  const auto metrics = ScorePredictions(c.data, c.split, c.scores);
  EXPECT_EQ(metrics[0].test_nodes, 0);
  for (const double score :
       {metrics[0].micro_f1, metrics[0].micro_f1_all, metrics[0].macro_f1,
        metrics[0].validate_micro_f1, metrics[0].loss, AverageMicroF1(metrics)}) {
    EXPECT_TRUE(std::isnan(score));
  }
}

TEST(Metrics, TheAverageIsOverPredictionTimesWithTestNodes) {
  std::vector<PredictionMetrics> metrics(3);
  metrics[0].micro_f1 = std::nan("");
  metrics[1].test_nodes = 1000;
  metrics[1].micro_f1 = 0.5;
  metrics[2].test_nodes = 1;
  metrics[2].micro_f1 = 1.0;
  EXPECT_DOUBLE_EQ(AverageMicroF1(metrics), 0.75);
}

}  // namespace
}  // namespace coden
