#include "train/controls_internal.h"

#include <gtest/gtest.h>

namespace coden {
namespace {

constexpr Part kA = Part::kTrain, kT = Part::kTest;

//  node      0    1    2    3    4
//  part      A    A    A    T    T
//  labels   0 1  0 1  1 1  0 2  - 2     at two prediction times
//  present  y y  n y  n y  y y  y y
TrainingData Data() {
  TrainingData data;
  data.num_nodes = 5;
  data.num_classes = 3;
  data.predictions = {{1, 10, 0}, {2, 20, 1}};
  data.labels = {0, 1, 0, 1, 1, 1, 0, 2, -1, 2};
  data.present = {1, 1, 0, 1, 0, 1, 1, 1, 1, 1};
  return data;
}

const std::vector<Part> kSplit = {kA, kA, kA, kT, kT};

TEST(Controls, MajorityIsThatOfTrainingNodesPresentThen) {
  TrainingData data = Data();
  EXPECT_EQ(MajorityClasses(data, kSplit), (std::vector<std::int32_t>{0, 1}));
  data.present[0] = 0;
  data.labels[0] = 1;  // nobody is present: all training nodes count
  EXPECT_EQ(MajorityClasses(data, kSplit), (std::vector<std::int32_t>{1, 1}));
}

TEST(Controls, LastLabelIsThatOfTheTimeBefore) {
  const std::vector<std::int32_t> majority = {0, 1};
  EXPECT_EQ(LastLabels(Data(), majority),
            (std::vector<std::int32_t>{0, 0, 0, 0, 0, 1, 0, 0, 0, 1}));
}

TEST(Controls, AreScoredOnTheTestNodesOfTheModel) {
  const TrainingData data = Data();
  PairScores scores;
  scores.predicted.assign(10, 0);
  scores.loss.assign(10, 0.0f);
  auto metrics = ScorePredictions(data, kSplit, scores);
  const std::vector<std::int32_t> right = {0, 0, 0, 0, 0, 0, 0, 2, 0, 0};
  ScoreControls(data, kSplit, {std::vector<std::int32_t>(10, 0), right, {}}, metrics);
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0].majority_micro_f1, 1.0);
  EXPECT_EQ(metrics[1].majority_micro_f1, 0.0);
  EXPECT_EQ(metrics[1].propagation_micro_f1, 0.5);
  EXPECT_FALSE(metrics[0].last_label_micro_f1);
}

std::vector<PredictionMetrics> Scores(double model, double majority, double propagation) {
  PredictionMetrics one;
  one.test_nodes = 100;
  one.micro_f1 = model;
  one.majority_micro_f1 = majority;
  one.propagation_micro_f1 = propagation;
  return {one};
}

TEST(Controls, AModelThatIsNotAboveThemIsNamed) {
  const auto note = [](const std::vector<std::vector<PredictionMetrics>>& runs) {
    return CompareWithControls(runs).value_or("");
  };
  EXPECT_TRUE(note({Scores(0.34, 0.34, 0.2)})
                  .starts_with("the model is not better than the majority class: "
                               "Micro-F1 34.00 % against 34.00 % (spread 4.74)"));
  EXPECT_TRUE(note({Scores(0.80, 0.34, 0.79)})
                  .starts_with("the model is not better than label propagation"));
  EXPECT_EQ(note({Scores(0.90, 0.34, 0.79)}), "");
  // Of several runs the spread is that of the gain.
  EXPECT_EQ(note({Scores(0.80, 0.3, 0.79), Scores(0.81, 0.3, 0.80)}), "");
  EXPECT_NE(note({Scores(0.78, 0.3, 0.79), Scores(0.84, 0.3, 0.80)}), "");
}

}  // namespace
}  // namespace coden
