#include <gtest/gtest.h>

#include "train/history_task.h"
#include "train/small_training.h"

namespace coden {
namespace {

TEST(Trainer, NoLessonOfARunStartsWithTheWeightsOfAnotherRun) {
  const TrainingData data = HistoryTask(/*num_nodes=*/60, /*num_snapshots=*/6,
                                        /*num_channels=*/4, /*num_predictions=*/3, 5);
  TrainOptions options = SmallOptions();
  options.protocol = Protocol::kEach;
  options.warm_start = false;
  options.epochs = 1;
  options.learning_rate = 1e-30;  // the weights stay where they start
  const auto run = TrainOn(data, options, /*seed=*/0).ValueOrDie();
  const auto next = TrainOn(data, options, /*seed=*/1).ValueOrDie();
  const auto again = TrainOn(data, options, /*seed=*/0).ValueOrDie();
  const auto weights = [](const TrainedModel& model, std::size_t lesson) {
    return model.memory.best[lesson].weights.back().values;
  };
  EXPECT_NE(weights(run, 1), weights(next, 0));
  EXPECT_NE(weights(run, 2), weights(next, 1));
  EXPECT_NE(weights(run, 0), weights(run, 1));
  EXPECT_EQ(weights(run, 1), weights(again, 1));
}

}  // namespace
}  // namespace coden
