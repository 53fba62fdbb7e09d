#include "train/trainer_internal.h"

#include <cmath>

#include <gtest/gtest.h>

#include "pipeline/random_internal.h"
#include "train/history_task.h"
#include "train/metrics_internal.h"

namespace coden {
namespace {

SilentProgress silent;

TrainOptions SmallOptions() {
  TrainOptions options;
  options.states = 4;
  options.hidden = 32;
  options.epochs = 40;
  options.learning_rate = 1e-2;
  options.batch = 64;
  options.dropout = 0.1;
  return options;
}

arrow::Result<TrainedModel> TrainOn(
    const TrainingData& data, const TrainOptions& options, std::uint64_t seed,
    int threads = 1, arrow::StopToken stop = arrow::StopToken::Unstoppable()) {
  const auto split = SplitNodes(data.num_nodes, options.split, seed);
  const RunContext context{&silent, stop};
  return TrainModel(data, split, options, seed, threads, context,
                    [](const EpochRecord&) {});
}

double TestMicroF1(const TrainingData& data, ModelKind kind) {
  TrainOptions options = SmallOptions();
  options.model = kind;
  const auto model = TrainOn(data, options, /*seed=*/1);
  if (!model.ok()) return -1.0;
  const auto split = SplitNodes(data.num_nodes, options.split, /*seed=*/1);
  return AverageMicroF1(ScorePredictions(data, split, model->scores));
}

TEST(Trainer, CodenLearnsWhatOnlyHistoryTells) {
  const TrainingData data = HistoryTask(/*num_nodes=*/600, /*num_snapshots=*/12,
                                        /*num_channels=*/4, /*num_predictions=*/3, 5);
  const double coden = TestMicroF1(data, ModelKind::kCoden);
  const double coden_s = TestMicroF1(data, ModelKind::kCodenS);
  RecordProperty("coden", std::to_string(coden));
  RecordProperty("coden_s", std::to_string(coden_s));
  EXPECT_GT(coden, 0.85);
  EXPECT_GT(coden, coden_s + 0.15);
  EXPECT_GT(coden_s, 0.5);
}

TEST(Trainer, SameSeedSameModel) {
  const TrainingData data = HistoryTask(200, 6, 4, 2, 5);
  TrainOptions options = SmallOptions();
  options.epochs = 3;
  const auto first = TrainOn(data, options, 11).ValueOrDie();
  const auto second = TrainOn(data, options, 11).ValueOrDie();
  const auto other = TrainOn(data, options, 12).ValueOrDie();
  EXPECT_EQ(first.scores.loss, second.scores.loss);
  EXPECT_NE(first.scores.loss, other.scores.loss);
  ASSERT_EQ(first.weights.size(), second.weights.size());
  for (std::size_t i = 0; i < first.weights.size(); ++i) {
    EXPECT_EQ(first.weights[i].values, second.weights[i].values);
  }
}

TEST(Trainer, ThreadsDoNotChangeTheModel) {
  const TrainingData data = HistoryTask(1000, 6, 4, 2, 5);
  TrainOptions options = SmallOptions();
  options.epochs = 3;
  options.batch = 500;
  const auto expected = TrainOn(data, options, 11, /*threads=*/1).ValueOrDie();
  for (const int threads : {2, 0}) {
    SCOPED_TRACE(threads);
    const auto found = TrainOn(data, options, 11, threads).ValueOrDie();
    EXPECT_EQ(found.scores.loss, expected.scores.loss);
    for (std::size_t i = 0; i < found.epochs.size(); ++i) {
      EXPECT_EQ(found.epochs[i].loss, expected.epochs[i].loss);
    }
  }
}

TEST(Trainer, NamesEveryWeightWithItsShape) {
  const TrainingData data = HistoryTask(60, 6, 4, 2, 5);
  TrainOptions options = SmallOptions();
  options.epochs = 1;
  std::string names;
  const auto model = TrainOn(data, options, 1).ValueOrDie();
  for (const NamedTensor& tensor : model.weights) {
    names += tensor.name;
    for (const std::int64_t size : tensor.shape) names += " " + std::to_string(size);
    names += "; ";
  }
  EXPECT_EQ(names,
            "temporal.log_rate 4 4; temporal.input 4 4; temporal.output 4 4; "
            "temporal.step 4; temporal.skip 4; classifier.norm.weight 4; "
            "classifier.norm.bias 4; classifier.linear0.weight 32 4; "
            "classifier.linear0.bias 32; classifier.linear1.weight 2 32; "
            "classifier.linear1.bias 2; ");
}

// Labels nobody can learn: validation stops rising soon.
TEST(Trainer, StopsEarlyAndKeepsTheBestEpoch) {
  TrainingData data = HistoryTask(200, 2, 4, 2, 5);
  SplitMix64 random(3);
  for (std::int32_t& label : data.labels) label = static_cast<int>(random.Below(2));
  TrainOptions options = SmallOptions();
  options.epochs = 500;
  options.patience = 5;
  const auto model = TrainOn(data, options, 1).ValueOrDie();
  ASSERT_LT(model.epochs.size(), 500u);
  EXPECT_EQ(static_cast<int>(model.epochs.size()), model.best_epoch + 5);
  for (const EpochRecord& epoch : model.epochs) {
    EXPECT_LE(epoch.validate_micro_f1, model.validate_micro_f1);
    if (epoch.epoch < model.best_epoch) {
      EXPECT_LT(epoch.validate_micro_f1, model.validate_micro_f1);
    }
  }
  // The scores come from the weights of the best epoch, not of the last.
  std::int64_t num_right = 0, num_pairs = 0;
  for (const std::int64_t node :
       NodesOf(SplitNodes(200, options.split, 1), Part::kValidate)) {
    for (std::int64_t pair = 2 * node; pair < 2 * node + 2; ++pair, ++num_pairs) {
      num_right += model.scores.predicted[pair] == data.labels[pair];
    }
  }
  EXPECT_DOUBLE_EQ(static_cast<double>(num_right) / static_cast<double>(num_pairs),
                   model.validate_micro_f1);
}

// Absent and unlabelled pairs must not reach the loss: give them wrong labels and
// compare.
TEST(Trainer, LearnsFromPresentLabelledPairsOnly) {
  TrainingData data = HistoryTask(120, 6, 4, 2, 5);
  for (std::size_t pair = 0; pair < data.labels.size(); pair += 3) data.present[pair] = 0;
  TrainingData wrong = data;
  for (std::size_t pair = 0; pair < data.labels.size(); pair += 3) {
    wrong.labels[pair] = 1 - wrong.labels[pair];
  }
  TrainOptions options = SmallOptions();
  options.epochs = 2;
  const auto first = TrainOn(data, options, 1).ValueOrDie();
  const auto second = TrainOn(wrong, options, 1).ValueOrDie();
  EXPECT_EQ(first.weights.front().values, second.weights.front().values);
  EXPECT_NE(first.scores.loss, second.scores.loss);
}

TEST(Trainer, ANonFiniteLossStopsWithTheStep) {
  TrainingData data = HistoryTask(100, 4, 4, 2, 5);
  data.history.assign(data.history.size(), INFINITY);
  const auto model = TrainOn(data, SmallOptions(), 1);
  EXPECT_EQ(model.status().message(),
            "the training loss is not finite; the steps are probably too long: lower "
            "`train.learning_rate`: 0.01 at epoch 1, step 1");
}

TEST(Trainer, StopsBetweenBatchesWhenAsked) {
  arrow::StopSource source;
  source.RequestStop();
  const auto model = TrainOn(HistoryTask(100, 4, 4, 2, 5), SmallOptions(), 1,
                             /*threads=*/1, source.token());
  EXPECT_TRUE(model.status().IsCancelled()) << model.status().ToString();
}

}  // namespace
}  // namespace coden
