// What a lesson starts with, and which classes its model knows.

#include <cmath>

#include <gtest/gtest.h>

#include "train/history_task.h"
#include "train/label_history_internal.h"
#include "train/metrics_internal.h"
#include "train/small_training.h"

namespace coden {
namespace {

// A task whose labels are told by the shares of a label block, mostly: of ten nodes one
// is told wrong.
TrainingData SharesTask(std::int64_t num_nodes, std::int64_t num_predictions) {
  TrainingData data = HistoryTask(num_nodes, 6, 4, num_predictions, 5);
  SplitMix64 random(9);
  std::shared_ptr<NodeHistory> labels = NodeHistory::Make({num_nodes, 4, 6}).ValueOrDie();
  for (int s = 0; s < 6; ++s) {
    SplitMix64 told(7);
    for (std::int64_t node = 0; node < num_nodes; ++node) {
      const std::int32_t label = data.labels[node * num_predictions];
      const bool right = told.Below(10) > 0;
      const float mass = right == (label == 0) ? 0.7f : 0.1f;
      const float values[] = {mass, 0.8f - mass};
      ReadLabelRow(values, 2, labels->Row(node));
    }
    EXPECT_TRUE(labels->EndSnapshot().ok());
  }
  for (std::int64_t node = 0; node < num_nodes; ++node) {
    for (std::int64_t k = 1; k < num_predictions; ++k)
      data.labels[node * num_predictions + k] = data.labels[node * num_predictions];
  }
  data.channels.push_back(std::move(labels));
  data.label_blocks = 1;
  return data;
}

// The share of validation pairs of time `k` whose larger share is right.
double Propagation(const TrainingData& data, std::span<const Part> split,
                   std::int64_t k) {
  std::vector<float> row(4 * 6);
  double right = 0.0, all = 0.0;
  for (const std::int64_t node : NodesOf(split, Part::kValidate)) {
    EXPECT_TRUE(data.channels.back()->Read(node, 6, row.data()).ok());
    right += (row[6] > row[0]) == (data.labels[node * data.num_predictions() + k] == 1);
    ++all;
  }
  return right / all;
}

TEST(TrainerStart, IsLabelPropagationAndTakesPart) {
  const TrainingData data = SharesTask(400, 3);
  TrainOptions options = SmallOptions();
  options.protocol = Protocol::kEach;
  options.epochs = 2;
  const auto split = SplitOf(data, options, 1);
  // Steps that are too small to change a prediction: the start is what there is.
  options.learning_rate = 1e-20;
  const auto start = TrainOn(data, options, 1).ValueOrDie();
  for (std::int64_t k = 0; k < 3; ++k) {
    EXPECT_EQ(start.memory.best[k].epoch, 0);
    EXPECT_DOUBLE_EQ(start.memory.best[k].validate_micro_f1, Propagation(data, split, k));
  }
  // Steps that are far too large: nothing that is learnt is better.
  options.learning_rate = 1.0;
  const auto spoilt = TrainOn(data, options, 1).ValueOrDie();
  options.learning_rate = 1e-2;
  options.epochs = 20;
  const auto learnt = TrainOn(data, options, 1).ValueOrDie();
  for (std::int64_t k = 0; k < 3; ++k) {
    const double least = Propagation(data, split, k);
    EXPECT_GE(spoilt.memory.best[k].validate_micro_f1, least);
    EXPECT_GE(learnt.memory.best[k].validate_micro_f1, least);
  }
}

TEST(TrainerStart, WeightsOfTheLessonBeforeTakePart) {
  // All that the later lessons have is noise.
  TrainingData data = HistoryTask(400, 6, 4, 2, 5);
  TrainOptions options = SmallOptions();
  options.protocol = Protocol::kEach;
  options.epochs = 30;
  const auto model = TrainOn(data, options, 1).ValueOrDie();
  options.learning_rate = 1.0;
  for (const BestEpoch& best : model.memory.best) EXPECT_GE(best.epoch, 0);
  TrainerMemory memory = model.memory;
  memory.lesson = 1;
  memory.best.resize(1);
  const auto split = SplitOf(data, options, 1);
  TrainTask task{data, split, options, 1, 1, memory};
  const auto spoilt = TrainModel(task, {&silent}).ValueOrDie();
  options.learning_rate = 1e-20;
  TrainTask still{data, split, options, 1, 1, memory};
  const auto unchanged = TrainModel(still, {&silent}).ValueOrDie();
  EXPECT_EQ(unchanged.memory.best[1].epoch, 0);
  EXPECT_GE(spoilt.memory.best[1].validate_micro_f1,
            unchanged.memory.best[1].validate_micro_f1);
}

// Where nothing reaches a node, all shares are zero.
TEST(TrainerStart, IsTheMajorityWhereNothingReachesANode) {
  TrainingData data = SharesTask(200, 1);
  std::shared_ptr<NodeHistory> none = NodeHistory::Make({200, 4, 6}).ValueOrDie();
  for (int s = 0; s < 6; ++s) ASSERT_TRUE(none->EndSnapshot().ok());
  data.channels.back() = std::move(none);
  for (std::int64_t node = 0; node < 200; ++node) data.labels[node] = node % 4 > 0;
  TrainOptions options = SmallOptions();
  options.epochs = 1;
  options.learning_rate = 1e-20;
  for (const std::int32_t predicted :
       TrainOn(data, options, 1).ValueOrDie().scores.predicted)
    EXPECT_EQ(predicted, 1);
}

// `data` with a third class, of which some nodes are from time `first` on. Its number is
// between those of the others.
TrainingData WithLateClass(const TrainingData& data, std::int64_t first) {
  TrainingData changed = data;
  changed.num_classes = 3;
  for (std::size_t pair = 0; pair < data.labels.size(); ++pair) {
    const auto k = static_cast<std::int64_t>(pair) % data.num_predictions();
    const std::int64_t node = static_cast<std::int64_t>(pair) / data.num_predictions();
    changed.labels[pair] = node % 3 == 0 && k >= first ? 1 : 2 * data.labels[pair];
  }
  if (data.label_blocks == 0) return changed;
  std::shared_ptr<NodeHistory> labels =
      NodeHistory::Make({data.num_nodes, 6, data.num_snapshots}).ValueOrDie();
  const std::int64_t from = data.predictions[first].snapshot;
  std::vector<float> row(static_cast<std::size_t>(4 * data.num_snapshots));
  for (std::int64_t s = 0; s < data.num_snapshots; ++s) {
    for (std::int64_t node = 0; node < data.num_nodes; ++node) {
      EXPECT_TRUE(data.channels.back()->Read(node, data.num_snapshots, row.data()).ok());
      for (std::int64_t half = 0; half < 2; ++half) {
        for (std::int64_t c = 0; c < 2; ++c)
          labels->Row(node)[3 * half + 2 * c] =
              row[(2 * half + c) * data.num_snapshots + s];
        labels->Row(node)[3 * half + 1] = s >= from ? 0.5f : 0.0f;
      }
    }
    EXPECT_TRUE(labels->EndSnapshot().ok());
  }
  changed.channels.back() = std::move(labels);
  return changed;
}

TEST(TrainerStart, AClassThatComesLaterChangesNoBit) {
  for (const bool with_labels : {false, true}) {
    SCOPED_TRACE(with_labels);
    const TrainingData data =
        with_labels ? SharesTask(200, 3) : HistoryTask(200, 6, 4, 3, 5);
    const TrainingData changed = WithLateClass(data, 2);
    TrainOptions options = SmallOptions();
    options.epochs = 4;
    options.protocol = Protocol::kEach;
    const auto before = TrainOn(data, options, 1).ValueOrDie();
    const auto after = TrainOn(changed, options, 1).ValueOrDie();
    EXPECT_EQ(before.classes[1], (std::vector<std::int32_t>{0, 1}));
    EXPECT_EQ(after.classes[1], (std::vector<std::int32_t>{0, 2}));
    EXPECT_EQ(after.classes[2], (std::vector<std::int32_t>{0, 1, 2}));
    for (std::size_t pair = 0; pair < data.labels.size(); ++pair) {
      if (pair % 3 == 2) continue;
      EXPECT_EQ(after.scores.predicted[pair], 2 * before.scores.predicted[pair]);
      EXPECT_EQ(after.scores.probability[pair], before.scores.probability[pair]);
      EXPECT_EQ(after.scores.loss[pair], before.scores.loss[pair]);
    }
  }
}

// A class that only test nodes have: wrong, and without a loss.
TEST(TrainerStart, AClassThatNoTrainingNodeHasIsNeverPredicted) {
  TrainingData data = HistoryTask(200, 6, 4, 1, 5);
  data.num_classes = 3;
  TrainOptions options = SmallOptions();
  options.epochs = 2;
  const auto split = SplitOf(data, options, 1);
  for (const std::int64_t node : NodesOf(split, Part::kTest))
    if (node % 2 == 0) data.labels[node] = 2;
  const auto model = TrainOn(data, options, 1).ValueOrDie();
  EXPECT_EQ(model.classes.back(), (std::vector<std::int32_t>{0, 1}));
  for (std::int64_t node = 0; node < 200; ++node) {
    EXPECT_LT(model.scores.predicted[node], 2);
    EXPECT_EQ(std::isnan(model.scores.loss[node]), data.labels[node] == 2);
  }
  const auto metrics = ScorePredictions(data, split, model.scores);
  EXPECT_LT(metrics[0].micro_f1, 0.8);
  EXPECT_TRUE(std::isfinite(metrics[0].loss));
}

}  // namespace
}  // namespace coden
