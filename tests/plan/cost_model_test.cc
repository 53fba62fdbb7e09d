#include "coden/plan/cost_model.h"

#include "coden/plan/resources.h"

#include <gtest/gtest.h>

namespace coden {
namespace {

std::string Cut(int begin, int end, int count) {
  std::string text;
  for (const ColumnRange& slice : CutColumns({begin, end}, count))
    text += std::to_string(slice.begin) + ":" + std::to_string(slice.end) + " ";
  return text;
}

TEST(CutColumns, GivesEvenSlicesOfWholeBlocks) {
  EXPECT_EQ(Cut(0, 128, 1), "0:128 ");
  EXPECT_EQ(Cut(0, 128, 4), "0:32 32:64 64:96 96:128 ");
  EXPECT_EQ(Cut(0, 172, 4), "0:32 32:80 80:128 128:172 ");
  EXPECT_EQ(Cut(5, 21, 2), "5:13 13:21 ");
  EXPECT_EQ(Cut(0, 16, 4), "0:4 4:8 8:12 12:16 ");
  EXPECT_EQ(Cut(0, 3, 8), "0:1 1:2 2:3 ");
}

TEST(CutColumns, SlicesLieSideBySide) {
  for (int width = 1; width < 200; ++width) {
    for (int count = 1; count < 20; ++count) {
      int next = 7;
      for (const ColumnRange& slice : CutColumns({7, 7 + width}, count)) {
        EXPECT_EQ(slice.begin, next);
        EXPECT_GT(slice.size(), 0) << width << " " << count;
        next = slice.end;
      }
      EXPECT_EQ(next, 7 + width);
      EXPECT_EQ(CutColumns({7, 7 + width}, count).size(),
                static_cast<std::size_t>(std::min(count, width)));
    }
  }
}

TEST(Cost, MoreSlicesTakeLessMemoryEachAndReadMoreInAll) {
  const Settings settings;
  const CostSize size = DescribedSize({1'000'000, 20'000'000, 128, 10}, settings);
  const RunCost one = EstimateCost(settings, size, 1);
  const RunCost four = EstimateCost(settings, size, 4);
  ASSERT_EQ(four.slices.size(), 4u);
  EXPECT_LT(four.slices[0].cost.memory_bytes, one.slices[0].cost.memory_bytes);
  EXPECT_GT(four.InTurn().read_bytes, one.InTurn().read_bytes);
  EXPECT_GT(four.InTurn().seconds, one.InTurn().seconds);
  EXPECT_LT(four.AtOnce().seconds, one.AtOnce().seconds);
  // The columns have to be stored all the same.
  const double numbers = 10.0 * 1e6 * 128 * 4;
  for (const RunCost& cost : {one, four}) {
    EXPECT_GE(static_cast<double>(cost.commit.read_bytes), numbers);
    EXPECT_LE(static_cast<double>(cost.commit.read_bytes), 1.1 * numbers);
  }
}

TEST(Cost, MemoryOfASliceIsThatOfItsPass) {
  Settings settings;
  settings.run.threads = 2;
  const CostSize size = DescribedSize({1000, 5000, 64, 2}, settings);
  const EmbeddingSize embedding = EmbeddingSizeOf(settings, size.nodes, size.id_bytes, 64,
                                                  size.schedule, size.num_labelled);
  const RunCost cost = EstimateCost(settings, size, 2);
  EXPECT_EQ(cost.slices[1].cost.memory_bytes, PassBytes(embedding, 32));
}

TEST(Cost, OnlyLabelledRowsAreStored) {
  Settings settings;
  const DescribedLog log{1'000'000, 5'000'000, 64, 4, /*labelled=*/10'000};
  const auto cost = [&] {
    return EstimateCost(settings, DescribedSize(log, settings), 1);
  };
  const RunCost all = cost();
  settings.snapshot.nodes = SnapshotNodes::kLabelled;
  EXPECT_LT(cost().commit.write_bytes, all.commit.write_bytes / 3);
  EXPECT_LT(cost().commit.read_bytes, all.commit.read_bytes / 90);
}

TEST(Cost, SecondsGrowWithTheWork) {
  Settings settings;
  const auto seconds = [&](std::int64_t nodes, std::int64_t edges, int columns,
                           int snapshots) {
    const CostSize size = DescribedSize({nodes, edges, columns, snapshots}, settings);
    return EstimateCost(settings, size, 1).InTurn().seconds;
  };
  const double base = seconds(1'000'000, 10'000'000, 32, 4);
  EXPECT_GT(seconds(1'000'000, 20'000'000, 32, 4), 1.6 * base);
  EXPECT_GT(seconds(1'000'000, 10'000'000, 64, 4), 1.5 * base);
  EXPECT_GT(seconds(1'000'000, 10'000'000, 32, 8), 1.5 * base);
  settings.embed.epsilon = 1e-4;
  EXPECT_LT(seconds(1'000'000, 10'000'000, 32, 4), base);
}

}  // namespace
}  // namespace coden
