#include "train/model_view_internal.h"

#include <gtest/gtest.h>

#include "train/class_counts_internal.h"

namespace coden {
namespace {

constexpr Part kA = Part::kTrain, kT = Part::kTest;

//  node     0    1    2    3
//  part     A    A    A    T
//  labels   0 0  - 2  2 2  1 1    at two prediction times
//  present  y y  y y  n y  y y
TrainingData Data() {
  TrainingData data;
  data.num_nodes = 4;
  data.num_snapshots = 2;
  data.num_classes = 3;
  data.predictions = {{1, 10, 0}, {2, 20, 1}};
  data.labels = {0, 0, -1, 2, 2, 2, 1, 1};
  data.present = {1, 1, 1, 1, 0, 1, 1, 1};
  return data;
}

const std::vector<Part> kSplit = {kA, kA, kA, kT};

// Channel c of a group at snapshot s is 100 * group + 10 * c + s.
std::shared_ptr<NodeHistory> Group(int group, std::int64_t channels) {
  std::shared_ptr<NodeHistory> history = NodeHistory::Make({4, channels, 2}).ValueOrDie();
  for (int s = 0; s < 2; ++s) {
    for (std::int64_t node = 0; node < 4; ++node) {
      for (std::int64_t c = 0; c < channels; ++c)
        history->Row(node)[c] = static_cast<float>(100 * group + 10 * c + s);
    }
    EXPECT_TRUE(history->EndSnapshot().ok());
  }
  return history;
}

TEST(ModelView, AClassIsKnownFromItsFirstTrainingPairOn) {
  using Classes = std::vector<std::vector<std::int32_t>>;
  const TrainingData data = Data();
  EXPECT_EQ(KnownClasses(data, kSplit, MakeLessons(Protocol::kEach, 2)),
            (Classes{{0}, {0, 2}}));
  EXPECT_EQ(KnownClasses(data, kSplit, MakeLessons(Protocol::kRolling, 2)),
            (Classes{{0}}));
  EXPECT_EQ(KnownClasses(data, kSplit, MakeLessons(Protocol::kShared, 2)),
            (Classes{{0, 2}}));
}

TEST(ModelView, AModelStartsAnewWhereAClassHasAppeared) {
  TrainOptions options;
  const std::vector<std::vector<std::int32_t>> classes = {{}, {}, {0}, {0}, {0, 2}};
  std::vector<bool> warm;
  for (int lesson = 0; lesson < 5; ++lesson)
    warm.push_back(StartsWarm(options, classes, lesson));
  EXPECT_EQ(warm, (std::vector<bool>{false, false, false, true, false}));
  options.warm_start = false;
  EXPECT_FALSE(StartsWarm(options, classes, 3));
}

TEST(ModelView, LabelColumnsAreThoseOfKnownClasses) {
  TrainingData data = Data();
  data.channels = {Group(0, 2), Group(1, 12)};
  data.label_blocks = 2;
  data.start_block = 1;
  const ModelView all(data);
  EXPECT_EQ(all.groups(), (std::vector<std::int64_t>{2, 12}));
  EXPECT_EQ(all.start_channel(), 2 + 6);

  const ModelView some(data, {0, 2});
  EXPECT_EQ(some.groups(), (std::vector<std::int64_t>{2, 8}));
  EXPECT_EQ(some.num_channels(), 10);
  EXPECT_EQ(some.start_channel(), 2 + 4);
  EXPECT_EQ(some.OutputOf(0), 0);
  EXPECT_EQ(some.OutputOf(1), -1);
  EXPECT_EQ(some.OutputOf(2), 1);
  std::vector<float> row(10);
  ASSERT_TRUE(some.Read(3, /*num_snapshots=*/1, row.data()).ok());
  EXPECT_EQ(row, (std::vector<float>{0, 10, 100, 120, 130, 150, 160, 180, 190, 210}));
  row.resize(20);
  ASSERT_TRUE(some.Read(3, /*num_snapshots=*/2, row.data()).ok());
  EXPECT_EQ(row[4], 100.0f);
  EXPECT_EQ(row[5], 101.0f);
  EXPECT_EQ(row[7], 121.0f);
}

TEST(ClassCounts, AreOfPairsThatCount) {
  const TrainingData data = Data();
  const ModelView view(data, {0, 2});
  const std::vector<std::int64_t> nodes = {0, 1, 2}, times = {0, 1};
  const std::vector<double> counts = CountClasses(view, nodes, times);
  EXPECT_EQ(counts, (std::vector<double>{2, 2}));
  const std::vector<double> skewed = {6, 0, 2};
  EXPECT_EQ(BalancedWeights(skewed), (std::vector<float>{8.0f / 12, 0, 2}));
  const std::vector<float> tie = TieBreak(skewed);
  EXPECT_GT(tie[0], tie[2]);
  EXPECT_EQ(tie[1], 0.0f);
  EXPECT_LT(tie[0], 0.01f);
}

}  // namespace
}  // namespace coden
