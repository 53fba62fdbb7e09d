#include "train/node_history_internal.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "train/chunk_loader_internal.h"

namespace coden {
namespace {

constexpr NodeHistory::Shape kShape = {/*nodes=*/11, /*channels=*/3, /*snapshots=*/7};

float Value(std::int64_t node, std::int64_t channel, std::int64_t snapshot) {
  return static_cast<float>(100 * node + 10 * channel + snapshot);
}

// Node 4 is left out of snapshots 2 and 5.
bool IsThere(std::int64_t node, std::int64_t snapshot) {
  return node != 4 || (snapshot != 2 && snapshot != 5);
}

std::shared_ptr<const NodeHistory> Fill(std::int64_t held) {
  std::shared_ptr<NodeHistory> history =
      NodeHistory::Make(kShape, held, ::testing::TempDir()).ValueOrDie();
  for (std::int64_t s = 0; s < kShape.snapshots; ++s) {
    for (std::int64_t node = 0; node < kShape.nodes; ++node) {
      for (std::int64_t c = 0; IsThere(node, s) && c < kShape.channels; ++c)
        history->Row(node)[c] = Value(node, c, s);
    }
    EXPECT_TRUE(history->EndSnapshot().ok());
  }
  return history;
}

class NodeHistoryTest : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(NodeHistoryTest, GivesBackWhatWasFilledIn) {
  const auto history = Fill(GetParam());
  for (const std::int64_t num_snapshots : {1, 3, 4, 7}) {
    for (std::int64_t node = 0; node < kShape.nodes; ++node) {
      std::vector<float> row(static_cast<std::size_t>(kShape.channels * num_snapshots));
      ASSERT_TRUE(history->Read(node, num_snapshots, row.data()).ok());
      for (std::int64_t c = 0; c < kShape.channels; ++c) {
        for (std::int64_t s = 0; s < num_snapshots; ++s) {
          EXPECT_EQ(row[c * num_snapshots + s],
                    IsThere(node, s) ? Value(node, c, s) : 0.0f)
              << node << " " << c << " " << s;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Held, NodeHistoryTest, ::testing::Values(0, 1, 2, 3, 6, 7, 100));

TEST(NodeHistory, LeavesNoFileBehind) {
  const auto folder =
      std::filesystem::path(::testing::TempDir()) / "coden_node_history_folder";
  std::filesystem::create_directories(folder);
  auto history = NodeHistory::Make(kShape, 2, folder.string()).ValueOrDie();
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST(NodeHistory, SaysWhereAFileCannotBeMade) {
  const auto history = NodeHistory::Make(kShape, 2, "/nowhere/at/all");
  EXPECT_EQ(history.status().message(),
            "cannot make the temporary file of the training histories: No such file or "
            "directory");
}

TEST(ChunkLoader, GathersAllGroupsChunkByChunk) {
  TrainingData data;
  data.num_nodes = kShape.nodes;
  data.num_snapshots = kShape.snapshots;
  data.channels = {Fill(0), Fill(2)};
  const std::vector<std::int64_t> nodes = {7, 0, 3, 10, 10, 5, 1};
  const std::span<const std::int64_t> all = nodes;
  const ModelView view(data);
  ChunkLoader loader(view, /*num_snapshots=*/4,
                     {all.first(3), all.subspan(3, 3), all.subspan(6)},
                     /*num_buffers=*/2);
  for (std::size_t number = 0; number < 3; ++number) {
    const float* gathered = loader.Take(number).ValueOrDie();
    for (const std::int64_t node : loader.chunks()[number]) {
      for (std::int64_t c = 0; c < 6; ++c) {
        for (std::int64_t s = 0; s < 4; ++s)
          EXPECT_EQ(*gathered++, Value(node, c % 3, s));
      }
    }
    loader.GiveBack(number);
  }
}

TEST(ChunkLoader, CanBeLeftEarly) {
  TrainingData data;
  data.num_nodes = kShape.nodes;
  data.channels = {Fill(0)};
  const std::vector<std::int64_t> nodes = {1, 2, 3, 4};
  const std::span<const std::int64_t> all = nodes;
  const ModelView view(data);
  ChunkLoader loader(view, 7, {all.first(1), all.subspan(1, 1), all.subspan(2)}, 1);
  EXPECT_TRUE(loader.Take(0).ok());
}

}  // namespace
}  // namespace coden
