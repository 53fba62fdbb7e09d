#include "train/node_split_internal.h"

#include <algorithm>
#include <numeric>

#include <arrow/builder.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include "base/random_internal.h"

namespace coden {
namespace {

std::int64_t Count(const std::vector<Part>& split, Part part) {
  return std::count(split.begin(), split.end(), part);
}

std::vector<std::uint64_t> Keys(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  std::iota(keys.begin(), keys.end(), first);
  return keys;
}

TEST(NodeSplit, GivesEveryPartAboutItsShare) {
  const auto split = SplitNodes(Keys(0, 100'000), {0.7, 0.1, 0.2}, /*seed=*/3);
  EXPECT_NEAR(Count(split, Part::kTrain), 70'000, 500);
  EXPECT_NEAR(Count(split, Part::kValidate), 10'000, 400);
  EXPECT_NEAR(Count(split, Part::kTest), 20'000, 500);
  EXPECT_EQ(Count(split, Part::kUnused), 0);
  EXPECT_TRUE(SplitNodes({}, {0.7, 0.1, 0.2}, 0).empty());
  EXPECT_EQ(Count(SplitNodes(Keys(0, 1000), {0.8, 0.2, 0.0}, 3), Part::kTest), 0);
}

TEST(NodeSplit, PartsOfTwoSeedsAreUnrelated) {
  const auto split = SplitNodes(Keys(0, 10'000), {0.5, 0.0, 0.5}, /*seed=*/3);
  const auto other = SplitNodes(Keys(0, 10'000), {0.5, 0.0, 0.5}, /*seed=*/4);
  int same = 0;
  for (std::size_t node = 0; node < split.size(); ++node)
    same += split[node] == other[node];
  EXPECT_NEAR(same, 5000, 250);
}

// Also in a longer log, in another order: no other node has a say.
TEST(NodeSplit, PartAndFoldOfANodeFollowFromItsKeyAndTheSeedAlone) {
  const SplitShares shares{0.7, 0.1, 0.2};
  const auto keys = Keys(1000, 500);
  const auto split = SplitNodes(keys, shares, /*seed=*/3);
  const auto folds = FoldsOf(split, keys, 5, /*seed=*/3);
  for (std::size_t first : {0u, 7u, 499u}) {
    const auto rest = std::span(keys).subspan(first);
    const auto fewer = SplitNodes(rest, shares, /*seed=*/3);
    const auto fewer_folds = FoldsOf(fewer, rest, 5, /*seed=*/3);
    for (std::size_t node = 0; node < rest.size(); ++node) {
      EXPECT_EQ(fewer[node], split[first + node]);
      EXPECT_EQ(fewer_folds[node], folds[first + node]);
    }
  }
}

TEST(NodeSplit, KeysOfNodesFollowFromTheirIds) {
  arrow::Int64Builder numbers;
  ASSERT_TRUE(numbers.AppendValues(std::vector<std::int64_t>{5, -1}).ok());
  EXPECT_EQ(NodeKeys(*numbers.Finish().ValueOrDie()),
            (std::vector<std::uint64_t>{5, UINT64_MAX}));
  arrow::StringBuilder names;
  ASSERT_TRUE(names.AppendValues(std::vector<std::string>{"", "anna"}).ok());
  EXPECT_EQ(NodeKeys(*names.Finish().ValueOrDie()),
            (std::vector<std::uint64_t>{0x2d06800538d394c2, XXH3_64bits("anna", 4)}));
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

TEST(NodeSplit, FoldsAreAboutEvenAndOfTrainingNodesAlone) {
  const auto keys = Keys(0, 10'000);
  const auto split = SplitNodes(keys, {0.7, 0.1, 0.2}, /*seed=*/3);
  const auto folds = FoldsOf(split, keys, 7, /*seed=*/3);
  std::vector<int> sizes(7, 0);
  for (std::size_t node = 0; node < split.size(); ++node) {
    EXPECT_EQ(folds[node] >= 0, split[node] == Part::kTrain);
    if (folds[node] >= 0) ++sizes[folds[node]];
  }
  for (const int size : sizes) EXPECT_NEAR(size, 1000, 120);
  EXPECT_NE(folds, FoldsOf(split, keys, 7, 4));
}

TEST(NodeSplit, NodesOfAPartAreAscending) {
  const std::vector<Part> split = {Part::kTest, Part::kTrain, Part::kTest};
  EXPECT_EQ(NodesOf(split, Part::kTest), (std::vector<std::int64_t>{0, 2}));
  EXPECT_TRUE(NodesOf(split, Part::kValidate).empty());
}

}  // namespace
}  // namespace coden
