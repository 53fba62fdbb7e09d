#include "train/node_split_internal.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "pipeline/random_internal.h"

namespace coden {
namespace {

std::int64_t Count(const std::vector<Part>& split, Part part) {
  return std::count(split.begin(), split.end(), part);
}

TEST(NodeSplit, GivesEveryPartItsRoundedShare) {
  const auto split = SplitNodes(1001, {0.7, 0.1, 0.2}, /*seed=*/3);
  EXPECT_EQ(Count(split, Part::kTrain), 701);
  EXPECT_EQ(Count(split, Part::kValidate), 100);
  EXPECT_EQ(Count(split, Part::kTest), 200);
  EXPECT_EQ(Count(SplitNodes(1, {0.7, 0.1, 0.2}, 0), Part::kTrain), 1);
  EXPECT_TRUE(SplitNodes(0, {0.7, 0.1, 0.2}, 0).empty());
}

TEST(NodeSplit, DependsOnTheSeedAlone) {
  const auto split = SplitNodes(500, {0.7, 0.1, 0.2}, /*seed=*/3);
  EXPECT_EQ(split, SplitNodes(500, {0.7, 0.1, 0.2}, /*seed=*/3));
  EXPECT_NE(split, SplitNodes(500, {0.7, 0.1, 0.2}, /*seed=*/4));
}

// Published split files would break if the generator changed.
TEST(NodeSplit, TheGeneratorIsSplitmix64) {
  SplitMix64 random(1234567);
  EXPECT_EQ(random.Next(), 6457827717110365317u);
  EXPECT_EQ(random.Next(), 3203168211198807973u);
}

TEST(NodeSplit, ShuffleKeepsTheItemsAndReachesEveryOrder) {
  SplitMix64 random(5);
  std::vector<int> times(6, 0);
  for (int trial = 0; trial < 6000; ++trial) {
    std::vector<std::int64_t> items = {0, 1, 2};
    Shuffle(items, random);
    std::vector<std::int64_t> sorted = items;
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(sorted, (std::vector<std::int64_t>{0, 1, 2}));
    ++times[items[0] * 2 + (items[1] > items[2])];
  }
  for (const int count : times) EXPECT_NEAR(count, 1000, 150);
}

TEST(NodeSplit, ByTimeEarlyNodesTrainAndLateOnesTest) {
  const std::vector<EventTime> first = {50, 10, kNeverSeen, 30, 20, 40,
                                        10, 60, 70,         80, 90};
  const auto split = SplitByTime(first, {0.5, 0.2, 0.3});
  const Part train = Part::kTrain, validate = Part::kValidate, test = Part::kTest;
  EXPECT_EQ(split, (std::vector<Part>{validate, train, Part::kUnused, train, train, train,
                                      train, validate, test, test, test}));
}

TEST(NodeSplit, FoldsAreEvenAndOfTrainingNodesAlone) {
  const auto split = SplitNodes(1000, {0.7, 0.1, 0.2}, /*seed=*/3);
  const auto folds = FoldsOf(split, 7, /*seed=*/3);
  std::vector<int> sizes(7, 0);
  for (std::size_t node = 0; node < split.size(); ++node) {
    EXPECT_EQ(folds[node] >= 0, split[node] == Part::kTrain);
    if (folds[node] >= 0) ++sizes[folds[node]];
  }
  for (const int size : sizes) EXPECT_EQ(size, 100);
  EXPECT_EQ(folds, FoldsOf(split, 7, 3));
  EXPECT_NE(folds, FoldsOf(split, 7, 4));
}

TEST(NodeSplit, NodesOfAPartAreAscending) {
  const std::vector<Part> split = {Part::kTest, Part::kTrain, Part::kTest};
  EXPECT_EQ(NodesOf(split, Part::kTest), (std::vector<std::int64_t>{0, 2}));
  EXPECT_TRUE(NodesOf(split, Part::kValidate).empty());
}

}  // namespace
}  // namespace coden
