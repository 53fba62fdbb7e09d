#include "train/trainer_internal.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "base/random_internal.h"
#include "train/checkpoint_internal.h"
#include "train/history_task.h"
#include "train/metrics_internal.h"
#include "train/small_training.h"

namespace coden {
namespace {

double TestMicroF1(const TrainingData& data, ModelKind kind) {
  TrainOptions options = SmallOptions();
  options.model = kind;
  const auto model = TrainOn(data, options, /*seed=*/1);
  if (!model.ok()) return -1.0;
  const auto split = SplitOf(data, options, /*seed=*/1);
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

void ExpectSameWeights(const TrainedModel& a, const TrainedModel& b) {
  const auto& left = a.latest().weights;
  const auto& right = b.latest().weights;
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i)
    EXPECT_EQ(left[i].values, right[i].values) << left[i].name;
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
  ExpectSameWeights(first, second);
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
    for (std::size_t i = 0; i < found.memory.epochs.size(); ++i) {
      EXPECT_EQ(found.memory.epochs[i].loss, expected.memory.epochs[i].loss);
    }
  }
}

TEST(Trainer, NamesEveryWeightWithItsShape) {
  const TrainingData data = HistoryTask(60, 6, 4, 2, 5);
  TrainOptions options = SmallOptions();
  options.epochs = 1;
  std::string names;
  const auto model = TrainOn(data, options, 1).ValueOrDie();
  for (const NamedTensor& tensor : model.latest().weights) {
    names += tensor.name;
    for (const std::int64_t size : tensor.shape) names += " " + std::to_string(size);
    names += "; ";
  }
  EXPECT_EQ(names,
            "temporal.log_rate 4 4; temporal.input 4 4; temporal.output 4 4; "
            "temporal.step 4; temporal.skip 4; classifier.norm0.weight 4; "
            "classifier.norm0.bias 4; classifier.linear0.weight 32 4; "
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
  options.protocol = Protocol::kShared;
  const auto model = TrainOn(data, options, 1).ValueOrDie();
  ASSERT_LT(model.memory.epochs.size(), 500u);
  EXPECT_EQ(static_cast<int>(model.memory.epochs.size()), model.latest().epoch + 5);
  for (const EpochRecord& epoch : model.memory.epochs) {
    EXPECT_LE(epoch.validate_micro_f1, model.latest().validate_micro_f1);
    if (epoch.epoch < model.latest().epoch) {
      EXPECT_LT(epoch.validate_micro_f1, model.latest().validate_micro_f1);
    }
  }
  // The scores come from the weights of the best epoch, not of the last.
  std::int64_t num_right = 0, num_pairs = 0;
  for (const std::int64_t node : NodesOf(SplitOf(data, options, 1), Part::kValidate)) {
    for (std::int64_t pair = 2 * node; pair < 2 * node + 2; ++pair, ++num_pairs) {
      num_right += model.scores.predicted[pair] == data.labels[pair];
    }
  }
  EXPECT_DOUBLE_EQ(static_cast<double>(num_right) / static_cast<double>(num_pairs),
                   model.latest().validate_micro_f1);
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
  EXPECT_EQ(first.latest().weights.front().values,
            second.latest().weights.front().values);
  EXPECT_NE(first.scores.loss, second.scores.loss);
}

TEST(Trainer, ANonFiniteLossStopsWithTheStep) {
  TrainingData data = HistoryTask(100, 4, 4, 2, 5);
  std::shared_ptr<NodeHistory> endless = NodeHistory::Make({100, 4, 4}).ValueOrDie();
  for (int snapshot = 0; snapshot < 4; ++snapshot) {
    for (std::int64_t node = 0; node < 100; ++node)
      std::fill_n(endless->Row(node), 4, INFINITY);
    ASSERT_TRUE(endless->EndSnapshot().ok());
  }
  data.channels = {endless};
  const auto model = TrainOn(data, SmallOptions(), 1);
  EXPECT_EQ(model.status().message(),
            "the training loss is not finite; the steps are probably too long: lower "
            "`train.learning_rate`: 0.01 at epoch 1, step 1");
}

// What every model must do: learn the history task above chance, in any protocol.
struct Case {
  const char* name;
  ModelKind model;
  Protocol protocol;
};

class ProtocolTest : public ::testing::TestWithParam<Case> {
 protected:
  static TrainOptions Options() {
    TrainOptions options = SmallOptions();
    options.epochs = 6;
    options.patience = 3;
    options.model = GetParam().model;
    options.protocol = GetParam().protocol;
    options.averages = {0.5};
    options.times_per_step = 2;
    options.rate_schedule = RateSchedule::kCosine;
    options.weight_decay = 0.01;
    options.orthogonality = 1e-4;
    options.class_weights = ClassWeights::kBalanced;
    return options;
  }
};

// Stop after every epoch in turn and go on from what was remembered.
TEST_P(ProtocolTest, GoesOnFromAnyEpochWithTheSameResult) {
  const TrainingData data = HistoryTask(200, 6, 4, 3, 5);
  const TrainOptions options = Options();
  const auto split = SplitOf(data, options, 11);
  const RunContext context{&silent};
  std::vector<TrainerMemory> memories;
  TrainTask task{data, split, options, 11, 1};
  task.on_epoch = [&](const EpochRecord&, const std::function<TrainerMemory()>& memory) {
    memories.push_back(memory());
    return arrow::Status::OK();
  };
  const auto whole = TrainModel(task, context).ValueOrDie();
  ASSERT_EQ(memories.size(), whole.memory.epochs.size());
  for (std::size_t i = 0; i < memories.size(); i += 2) {
    SCOPED_TRACE(i);
    TrainTask rest{data, split, options, 11, 1};
    // As it comes back from a file.
    rest.memory =
        CheckpointFromBytes(CheckpointToBytes({memories[i]}), "x").ValueOrDie().front();
    const auto resumed = TrainModel(rest, context).ValueOrDie();
    EXPECT_EQ(resumed.scores.loss, whole.scores.loss);
    EXPECT_EQ(resumed.memory.epochs.size(), whole.memory.epochs.size());
    ExpectSameWeights(resumed, whole);
  }
  TrainTask done{data, split, options, 11, 1};
  done.memory = whole.memory;
  EXPECT_EQ(TrainModel(done, context).ValueOrDie().scores.loss, whole.scores.loss);
}

TEST_P(ProtocolTest, PredictsTheTimesOfTheProtocol) {
  const TrainingData data = HistoryTask(200, 6, 4, 3, 5);
  const auto model = TrainOn(data, Options(), 11).ValueOrDie();
  const bool rolling = GetParam().protocol == Protocol::kRolling;
  for (std::size_t pair = 0; pair < data.labels.size(); ++pair)
    EXPECT_EQ(model.scores.predicted[pair] < 0, rolling && pair % 3 == 0);
}

INSTANTIATE_TEST_SUITE_P(
    Protocols, ProtocolTest,
    ::testing::Values(Case{"coden_shared", ModelKind::kCoden, Protocol::kShared},
                      Case{"coden_each", ModelKind::kCoden, Protocol::kEach},
                      Case{"coden_rolling", ModelKind::kCoden, Protocol::kRolling},
                      Case{"coden_s_each", ModelKind::kCodenS, Protocol::kEach},
                      Case{"coden_r_shared", ModelKind::kCodenR, Protocol::kShared},
                      Case{"coden_a_rolling", ModelKind::kCodenA, Protocol::kRolling}),
    [](const auto& test) { return test.param.name; });

// A copy of `data` whose snapshots from `first` on are all ones.
TrainingData WithOtherSnapshots(const TrainingData& data, std::int64_t first) {
  TrainingData changed = data;
  const NodeHistory::Shape shape = data.channels[0]->shape();
  std::shared_ptr<NodeHistory> history = NodeHistory::Make(shape).ValueOrDie();
  std::vector<float> row(static_cast<std::size_t>(shape.channels * shape.snapshots));
  for (std::int64_t s = 0; s < shape.snapshots; ++s) {
    for (std::int64_t node = 0; node < shape.nodes; ++node) {
      EXPECT_TRUE(data.channels[0]->Read(node, shape.snapshots, row.data()).ok());
      for (std::int64_t c = 0; c < shape.channels; ++c)
        history->Row(node)[c] = s < first ? row[c * shape.snapshots + s] : 1.0f;
    }
    EXPECT_TRUE(history->EndSnapshot().ok());
  }
  changed.channels = {std::move(history)};
  return changed;
}

// What is predicted at the second of three times must not change when labels and
// snapshots after it do, nor, where a forecast is wanted, when labels of that time do.
TEST(Trainer, APredictionKnowsNothingLater) {
  const TrainingData data = HistoryTask(200, 6, 4, 3, 5);
  TrainOptions options = SmallOptions();
  options.epochs = 3;
  for (const Protocol protocol : {Protocol::kEach, Protocol::kRolling}) {
    for (const ModelKind model : {ModelKind::kCoden, ModelKind::kCodenA}) {
      TrainingData changed = WithOtherSnapshots(data, /*first=*/4);
      for (std::size_t pair = 0; pair < changed.labels.size(); ++pair) {
        if (pair % 3 == 2 || (pair % 3 == 1 && protocol == Protocol::kRolling))
          changed.labels[pair] = 1 - changed.labels[pair];
      }
      options.protocol = protocol;
      options.model = model;
      const auto before = TrainOn(data, options, 1).ValueOrDie();
      const auto after = TrainOn(changed, options, 1).ValueOrDie();
      for (std::size_t pair = 1; pair < data.labels.size(); pair += 3) {
        EXPECT_EQ(before.scores.predicted[pair], after.scores.predicted[pair]);
        EXPECT_EQ(before.scores.probability[pair], after.scores.probability[pair]);
      }
    }
  }
}

// Histories in a file give the bits of those in memory.
TEST(Trainer, SpilledHistoriesGiveTheSameModel) {
  const TrainingData data = HistoryTask(200, 6, 4, 3, 5);
  TrainingData spilled = data;
  std::shared_ptr<NodeHistory> history =
      NodeHistory::Make({200, 4, 6}, /*held_snapshots=*/2, ::testing::TempDir())
          .ValueOrDie();
  std::vector<float> row(24);
  for (std::int64_t s = 0; s < 6; ++s) {
    for (std::int64_t node = 0; node < 200; ++node) {
      ASSERT_TRUE(data.channels[0]->Read(node, 6, row.data()).ok());
      for (std::int64_t c = 0; c < 4; ++c) history->Row(node)[c] = row[c * 6 + s];
    }
    ASSERT_TRUE(history->EndSnapshot().ok());
  }
  spilled.channels = {std::move(history)};
  TrainOptions options = SmallOptions();
  options.epochs = 3;
  const auto expected = TrainOn(data, options, 1).ValueOrDie();
  const auto found = TrainOn(spilled, options, 1, /*threads=*/2).ValueOrDie();
  EXPECT_EQ(found.scores.loss, expected.scores.loss);
}

// Nobody is there at the first of three times: it has no model and no prediction.
TEST(Trainer, ATimeWithoutTrainingPairsIsNotPredicted) {
  TrainingData data = HistoryTask(200, 6, 4, 3, 5);
  for (std::size_t pair = 0; pair < data.present.size(); pair += 3)
    data.present[pair] = 0;
  TrainOptions options = SmallOptions();
  options.epochs = 4;
  options.warm_epochs = 2;
  options.patience = 0;
  options.protocol = Protocol::kEach;
  const auto model = TrainOn(data, options, 1).ValueOrDie();
  for (std::size_t pair = 0; pair < data.labels.size(); ++pair)
    EXPECT_EQ(model.scores.predicted[pair] < 0, pair % 3 == 0);
  // The second time is the first to learn: it starts cold.
  EXPECT_EQ(model.memory.epochs.size(), 4u + 2u);
  EXPECT_EQ(CheckpointToBytes(
                CheckpointFromBytes(CheckpointToBytes({model.memory}), "x").ValueOrDie()),
            CheckpointToBytes({model.memory}));

  data.present.assign(data.present.size(), 0);
  for (std::size_t pair = 2; pair < data.present.size(); pair += 3)
    data.present[pair] = 1;
  options.protocol = Protocol::kRolling;
  EXPECT_EQ(TrainOn(data, options, 1).status().message(),
            "no training node has a label and an event at a prediction time that "
            "`train.protocol` learns from: label more nodes or change `train.split`");
}

// Times at which nobody counts are never all that a step draws.
TEST(Trainer, DrawsTimesThatHaveSomethingToLearn) {
  TrainingData data = HistoryTask(200, 6, 4, 3, 5);
  for (std::size_t pair = 0; pair < data.labels.size(); ++pair)
    if (pair % 3 != 1) data.labels[pair] = -1;
  TrainOptions options = SmallOptions();
  options.epochs = 5;
  options.batch = 1000;
  options.times_per_step = 1;
  for (const EpochRecord& epoch : TrainOn(data, options, 1).ValueOrDie().memory.epochs)
    EXPECT_TRUE(std::isfinite(epoch.loss));
}

// A class that is nine times rarer counts nine times as much.
TEST(Trainer, BalancedWeightsFindARareClass) {
  TrainingData data = HistoryTask(600, 2, 4, 1, 5);
  SplitMix64 random(3);
  for (std::int32_t& label : data.labels) label = random.Below(10) == 0;  // by chance
  TrainOptions options = SmallOptions();
  options.epochs = 5;
  const auto count = [&](ClassWeights weights) {
    options.class_weights = weights;
    const auto model = TrainOn(data, options, 1).ValueOrDie();
    return std::count(model.scores.predicted.begin(), model.scores.predicted.end(), 1);
  };
  EXPECT_LT(count(ClassWeights::kNone), 60);
  EXPECT_GT(count(ClassWeights::kBalanced), 120);
}

// Features alone can tell, where the history cannot.
TEST(Trainer, ReadsFeaturesBesideTheHistory) {
  TrainingData data = HistoryTask(400, 2, 4, 2, 5);
  data.features = {/*width=*/2, /*versions=*/1, std::vector<float>(800)};
  for (std::int64_t node = 0; node < 400; ++node) {
    data.features.values[2 * node] = node % 2 == 0 ? 1.0f : -1.0f;
    data.labels[2 * node] = data.labels[2 * node + 1] = static_cast<int>(node % 2);
  }
  TrainOptions options = SmallOptions();
  options.epochs = 10;
  const auto split = SplitOf(data, options, 1);
  const auto model = TrainOn(data, options, 1).ValueOrDie();
  EXPECT_GT(AverageMicroF1(ScorePredictions(data, split, model.scores)), 0.95);
  data.channels.clear();
  const auto alone = TrainOn(data, options, 1).ValueOrDie();
  EXPECT_GT(AverageMicroF1(ScorePredictions(data, split, alone.scores)), 0.95);
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
