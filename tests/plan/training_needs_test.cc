#include "coden/plan/training_needs.h"

#include <gtest/gtest.h>

#include "coden/base/error.h"
#include "coden/plan/resources.h"

namespace coden {
namespace {

constexpr std::int64_t kNodes = 10'000;
constexpr int kColumns = 64;
constexpr int kSnapshots = 40;

class TrainingNeedsTest : public testing::Test {
 protected:
  TrainingNeedsTest() {
    settings_.run.threads = 2;
    // A limit, so that no snapshots are kept beside the embedding.
    settings_.run.memory_limit = std::int64_t{1} << 50;
    settings_.input.labels = "labels.parquet";
    for (int i = 0; i < kSnapshots; ++i) {
      SchedulePoint point;
      point.snapshot = i;
      point.at_prediction = i % 4 == 3;
      point.prediction = i / 4 + 1;
      point.num_nodes = kNodes;
      point.num_edges = 1000 * (i + 1);
      point.events = point.num_edges;
      point.time = 10 * i;
      schedule_.push_back(point);
    }
  }

  TrainingNeeds Needs() const {
    return PlanTraining(settings_, schedule_, {labelled_, classes_, labelled_, kColumns});
  }
  std::int64_t Memory() const { return Needs().memory_bytes; }

  Settings settings_;
  Schedule schedule_;
  std::int64_t labelled_ = kNodes;
  std::int64_t classes_ = 5;
};

TEST_F(TrainingNeedsTest, HistoriesOfTheLabelledNodesAreHeld) {
  const std::int64_t history = kNodes * kColumns * kSnapshots * 4;
  const std::int64_t all = Memory();
  EXPECT_GT(all, history + ProcessBytes(0, 0, 0));
  labelled_ = kNodes / 2;
  EXPECT_GE(all - Memory(), history / 2);
  labelled_ = kNodes;
  // The current snapshot alone is all that coden-s reads.
  settings_.train.model = ModelKind::kCodenS;
  EXPECT_GE(all - Memory(), history * 3 / 4);
}

TEST_F(TrainingNeedsTest, LabelColumnsTakeTheirHistoriesEnginesAndGraphs) {
  const std::int64_t without = Memory();
  settings_.train.label_columns = 5;
  const std::int64_t one = Memory();
  // Share and evidence of every class.
  EXPECT_GE(one - without, kNodes * 2 * classes_ * kSnapshots * 4);
  settings_.train.label_alphas = {0.1, 0.3};
  settings_.train.label_windows = {0, 50};
  EXPECT_GE(Memory() - one, 3 * kNodes * 2 * classes_ * kSnapshots * 4);
  const auto engines = [&](const std::vector<EventTime>& windows, int alphas) {
    return LabelEngineBytes(settings_, schedule_, windows, alphas, 25);
  };
  // 25 columns take two blocks of 16, features and embedding.
  EXPECT_GE(engines({0}, 2) - engines({0}, 1), kNodes * 32 * 8);
  EXPECT_GE(engines({0, 50}, 1) - engines({0}, 1), kNodes * 32 * 8);
}

// Snapshots wait for the training in memory where nobody has set a limit.
TEST_F(TrainingNeedsTest, SnapshotsAreKeptWithoutALimitOnly) {
  EXPECT_EQ(Needs().cache_bytes, 0);
  settings_.run.memory_limit = 0;
  EXPECT_GE(Needs().cache_bytes, kNodes * kColumns * kSnapshots * 4);
  EXPECT_LE(Needs().cache_bytes, MemoryLimit(settings_) / 4);
  settings_.snapshot.precision = SnapshotPrecision::kFloat16;
  EXPECT_EQ(Needs().cache_bytes, 0) << "the files hold other numbers";
}

TEST_F(TrainingNeedsTest, HistoriesGoToAFileWhereTheyDoNotFit) {
  classes_ = 1;  // label propagation has no parts that it could be taken in instead
  const TrainingNeeds all = Needs();
  EXPECT_EQ(all.held_snapshots, 0);
  EXPECT_EQ(all.temporary_bytes, 0);
  settings_.run.memory_limit = all.memory_bytes;
  EXPECT_EQ(Needs().held_snapshots, 0);
  settings_.run.memory_limit = all.memory_bytes - 1;
  const TrainingNeeds some = Needs();
  EXPECT_GT(some.held_snapshots, 0);
  EXPECT_LT(some.held_snapshots, kSnapshots);
  EXPECT_LE(some.memory_bytes, settings_.run.memory_limit);
  EXPECT_GE(some.temporary_bytes, kNodes * kColumns * kSnapshots * 4);
  EXPECT_TRUE(CheckTraining(settings_, some).ok());
}

TEST_F(TrainingNeedsTest, WhereNotEvenOneSnapshotFitsItIsRefusedWithAWayOut) {
  settings_.train.label_columns = 5;
  settings_.run.memory_limit = 100'000'000;
  const TrainingNeeds needs = Needs();
  EXPECT_EQ(needs.held_snapshots, 1);
  EXPECT_GT(needs.memory_bytes, settings_.run.memory_limit);
  const arrow::Status status = CheckTraining(settings_, needs);
  EXPECT_EQ(FaultOf(status), Fault::kResources);
  for (const char* part : {"training needs about ",
                           " MB of memory even with its histories on disk; raise "
                           "`run.memory_limit`, lower `train.label_columns`",
                           "the limit is 100 MB"})
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

TEST_F(TrainingNeedsTest, LabelPropagationTakesItsClassesInPartsWhereItMust) {
  settings_.train.inputs = {.embedding = false, .features = true};
  settings_.train.model = ModelKind::kCodenS;
  classes_ = 400;
  EXPECT_EQ(Needs().control_classes, classes_);
  settings_.run.memory_limit = Memory() - 1;
  const TrainingNeeds needs = Needs();
  EXPECT_LT(needs.control_classes, classes_);
  EXPECT_GE(needs.control_classes, 1);
  EXPECT_LE(needs.memory_bytes, settings_.run.memory_limit);
}

}  // namespace
}  // namespace coden
