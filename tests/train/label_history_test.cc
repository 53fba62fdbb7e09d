#include "train/label_history_internal.h"

#include <cmath>

#include <gtest/gtest.h>

namespace coden {
namespace {

TEST(LabelHistory, ARowHasSharesAndEvidenceForEveryWindowAndAlpha) {
  const std::vector<float> values = {0.1f, 0.3f, 2.0f, 0.0f};
  std::vector<float> row(8);
  ReadLabelRow(values, /*num_classes=*/2, row.data());
  const std::vector<double> expected = {0.25, 0.75, std::log(2.0),  std::log(4.0),
                                        1.0,  0.0,  std::log(21.0), 0.0};
  for (std::size_t i = 0; i < row.size(); ++i) EXPECT_NEAR(row[i], expected[i], 1e-6);
}

// What a solver leaves over is of either sign, and its sum may be anything.
TEST(LabelHistory, RestsOfTheSolverHaveNoShares) {
  const std::vector<float> values = {3e-9f, -4e-9f, -1e-9f};
  std::vector<float> row(6);
  ReadLabelRow(values, /*num_classes=*/3, row.data());
  for (const float value : row) {
    EXPECT_GE(value, 0.0f);
    EXPECT_LE(value, 0.01f);
  }
}

TEST(LabelHistory, OnlyNodesWithAFoldSendTheirLabels) {
  const std::vector<LabelFact> facts = {{0, 2, 5}, {1, 1, 0}, {2, 0, 7}, {2, 1, 9}};
  const std::vector<NodeId> nodes = {40, 41, 42};
  const std::vector<int> folds = {-1, 3, 0};
  const auto seeds = LabelSeeds(facts, nodes, folds);
  ASSERT_EQ(seeds.size(), 3u);
  EXPECT_EQ(seeds[0].node, 41);
  EXPECT_EQ(seeds[0].fold, 3);
  EXPECT_EQ(seeds[2].node, 42);
  EXPECT_EQ(seeds[2].label, 1);
  EXPECT_EQ(seeds[2].from, 9);
}

TEST(LabelHistory, ColumnsFollowTheEmbeddingUnlessTheyAreSaid) {
  Settings settings;
  settings.embed.alpha = 0.3;
  settings.graph.window = 7;
  settings.train.label_columns = 5;
  SilentProgress progress;
  const LabelEmbedderOptions follows = LabelColumns(settings, 3, {&progress});
  EXPECT_EQ(follows.alphas, (std::vector<double>{0.3}));
  EXPECT_EQ(follows.windows, (std::vector<EventTime>{7}));
  settings.train.label_windows = {0, 9};
  EXPECT_EQ(LabelColumns(settings, 3, {&progress}).windows,
            (std::vector<EventTime>{0, 9}));
}

}  // namespace
}  // namespace coden
