#include "train/controls_internal.h"

#include <cmath>

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

// Of the time before, and first of the end of the initial graph; a label that becomes
// valid in the interval that is predicted is not known yet.
TEST(Controls, LastLabelIsTheLastThatWasKnownBefore) {
  TrainingInput input;
  input.data = Data();
  input.facts = {{0, 0, 3}, {0, 1, 20}, {1, 2, 1}, {1, 1, 5},  {1, 0, 6}, {1, 1, 11},
                 {2, 1, 6}, {3, 2, 0},  {3, 0, 7}, {3, 2, 12}, {4, 2, 15}};
  const std::vector<std::int32_t> majority = {0, 1};
  input.before_first = 5;
  EXPECT_EQ(LastLabels(input, majority),
            (std::vector<std::int32_t>{0, 0, 1, 0, 0, 1, 2, 0, 0, 1}));
  input.before_first = 9;
  EXPECT_EQ(LastLabels(input, majority),
            (std::vector<std::int32_t>{0, 0, 0, 0, 1, 1, 0, 0, 0, 1}));
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

TEST(Controls, GainIsOverTheOneWithTheHighestAverage) {
  std::vector<std::vector<PredictionMetrics>> runs = {Scores(0.8, 0.5, 0.3),
                                                      Scores(0.6, 0.1, 0.4)};
  AddGains(runs);  // 0.3 and 0.35 on average
  EXPECT_EQ(runs[0][0].best_control, "label propagation");
  EXPECT_EQ(runs[1][0].best_control, "label propagation");
  EXPECT_DOUBLE_EQ(runs[0][0].gain, 0.5);
  EXPECT_DOUBLE_EQ(runs[1][0].gain, 0.2);
  runs[1][0].last_label_micro_f1 = 0.9;
  runs[0][0].propagation_micro_f1 = std::nan("");  // counts nowhere
  AddGains(runs);
  EXPECT_EQ(runs[0][0].best_control, "last label");
  EXPECT_TRUE(std::isnan(runs[0][0].gain));
  EXPECT_DOUBLE_EQ(runs[1][0].gain, 0.6 - 0.9);
  // Over prediction times, of which one without test nodes counts nowhere.
  std::vector<PredictionMetrics> times = Scores(0.8, 0.5, 0.6);
  times.push_back(Scores(0.8, 0.5, 0.3)[0]);
  times.push_back(Scores(std::nan(""), std::nan(""), std::nan(""))[0]);
  for (int k = 0; k < 3; ++k) times[k].prediction = k + 1;
  runs = {times};
  AddGains(runs);
  EXPECT_EQ(runs[0][2].best_control, "majority");
  EXPECT_DOUBLE_EQ(runs[0][1].gain, 0.8 - 0.5);
}

std::string Note(const std::vector<std::vector<PredictionMetrics>>& runs,
                 const Settings& settings = {}) {
  return CompareWithControls(settings, runs).value_or("");
}

TEST(Controls, EveryControlThatIsNotBeatenIsNamed) {
  EXPECT_TRUE(
      Note({Scores(0.34, 0.34, 0.2)})
          .starts_with("the model is not better than the majority class (34.00 %, spread "
                       "4.74) by more than the spread: its Micro-F1 is 34.00 %; try "));
  EXPECT_TRUE(Note({Scores(0.80, 0.34, 0.79)})
                  .starts_with("the model is not better than label propagation (79.00"));
  // Also those below the best.
  EXPECT_TRUE(Note({Scores(0.34, 0.32, 0.35)})
                  .starts_with("the model is not better than label propagation (35.00 %, "
                               "spread 4.74) or the majority class (32.00 %, "));
  auto timed = Scores(0.34, 0.32, 0.33);
  timed[0].last_label_micro_f1 = 0.9;
  EXPECT_TRUE(Note({timed}).starts_with(
      "the model is not better than the last known label (90.00 %, spread 4.74), label "
      "propagation (33.00 %, spread 4.74) or the majority class (32.00 %, spread 4.74)"));
  EXPECT_EQ(Note({Scores(0.90, 0.34, 0.79)}), "");
  EXPECT_EQ(Note({Scores(0.90, 0.34, std::nan(""))}), "");  // there is no log
  // Of several runs the spread is that of the gain.
  EXPECT_EQ(Note({Scores(0.80, 0.3, 0.79), Scores(0.81, 0.3, 0.80)}), "");
  EXPECT_TRUE(Note({Scores(0.78, 0.3, 0.79), Scores(0.84, 0.3, 0.80)})
                  .starts_with("the model is not better than label propagation (79.50 %, "
                               "spread 3.54) by more than the spread"));
}

TEST(Controls, TheAdviceIsWhatIsNotInUse) {
  Settings settings;
  const auto advice = [&] {
    const std::string note = Note({Scores(0.34, 0.34, 0.2)}, settings);
    return note.substr(note.find("; try ") + 6);
  };
  const std::string features = "features that say more about the labels";
  EXPECT_EQ(
      advice(),
      "`train.label_columns = 5`, `train.inputs = embedding, features` or " + features);
  settings.train.label_columns = 5;
  settings.train.inputs = {.embedding = true, .features = true};
  EXPECT_EQ(advice(), "`train.label_windows` (labels over recent edges) or " + features);
  settings.train.label_windows = {0, 5};
  EXPECT_EQ(advice(), features);
  settings.train.inputs = {.embedding = true, .features = false};
  settings.input.random_features = 8;  // they say nothing of a node
  EXPECT_EQ(advice(), features);
}

}  // namespace
}  // namespace coden
