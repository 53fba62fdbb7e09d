#include "train/training_input_internal.h"

#include <cmath>

#include <gtest/gtest.h>

#include "train/run_fixture.h"

namespace coden {
namespace {

class TrainingInputTest : public RunFixture {
 protected:
  // Write the run, keeping what went into its snapshots, and load it.
  TrainingInput WriteAndLoad() {
    change_rows_ = [this](int snapshot, std::vector<std::vector<float>>& rows) {
      written_[snapshot] = rows;
    };
    written_.resize(schedule_.size());
    Write();
    SilentProgress progress;
    return LoadTrainingInput(settings_, *store_, {&progress}).ValueOrDie();
  }

  // Compare the history of `node`, held as number `at`, with the rows of `snapshots`.
  void CheckHistory(const TrainingData& data, int at, int node,
                    const std::vector<int>& snapshots) {
    const auto num_snapshots = static_cast<std::int64_t>(snapshots.size());
    std::vector<float> history(kNumChannels * snapshots.size());
    ASSERT_TRUE(data.channels[0]->Read(at, num_snapshots, history.data()).ok());
    for (std::size_t s = 0; s < snapshots.size(); ++s) {
      const auto& rows = written_[snapshots[s]];
      double square_sum = 0.0;
      const bool there = node < static_cast<int>(rows.size());
      for (int channel = 0; there && channel < kNumChannels; ++channel) {
        square_sum += std::pow(rows[node][channel], 2);
      }
      for (int channel = 0; channel < kNumChannels; ++channel) {
        const float found = history[channel * snapshots.size() + s];
        const double expected = there ? rows[node][channel] / std::sqrt(square_sum) : 0.0;
        EXPECT_NEAR(found, expected, 1e-6) << node << " " << channel << " " << s;
      }
    }
  }

  std::vector<std::vector<std::vector<float>>> written_;
};

TEST_F(TrainingInputTest, HoldsChannelsOverTimeForEveryLabelledNode) {
  first_missing_ = 100;
  label_nodes_ = {Id(7), Id(110), 5, Id(2)};
  label_values_ = {30, 10, 20, 10};
  const TrainingInput input = WriteAndLoad();
  const TrainingData& data = input.data;
  EXPECT_EQ(data.num_nodes, 3);
  EXPECT_EQ(data.num_channels(), 4);
  EXPECT_EQ(data.num_snapshots, 4);
  EXPECT_EQ(input.num_unknown, 1);
  CheckHistory(data, 0, 7, {0, 1, 2, 3});
  CheckHistory(data, 1, 110, {0, 1, 2, 3});
  CheckHistory(data, 2, 2, {0, 1, 2, 3});
  EXPECT_EQ(input.node_ids->ToString(), Ids({Id(7), Id(110), Id(2)})->ToString());
  ASSERT_EQ(data.predictions.size(), 2u);
  EXPECT_EQ(data.predictions[0].snapshot, 1);
  EXPECT_EQ(data.predictions[1].snapshot, 3);
  EXPECT_EQ(data.predictions[1].prediction, 2);
  EXPECT_EQ(data.predictions[1].time, 20);
  // Classes are numbered in order of their values.
  EXPECT_EQ(data.labels, (std::vector<std::int32_t>{2, 2, 0, 0, 0, 0}));
}

TEST_F(TrainingInputTest, CodenSHoldsTheSnapshotsOfPredictionTimes) {
  settings_.train.model = ModelKind::kCodenS;
  const TrainingInput input = WriteAndLoad();
  EXPECT_EQ(input.data.num_snapshots, 2);
  EXPECT_EQ(input.data.predictions[0].snapshot, 0);
  EXPECT_EQ(input.data.predictions[1].snapshot, 1);
  CheckHistory(input.data, 5, 5, {1, 3});
}

TEST_F(TrainingInputTest, ANodeIsPresentFromItsFirstEventOn) {
  const TrainingInput input = WriteAndLoad();
  // Node 0 has no event, node 10 its first at time 10 = t_1, node 11 at time 11.
  const auto& present = input.data.present;
  EXPECT_EQ(present[0] + present[1], 0);
  EXPECT_EQ(present[20], 1);
  EXPECT_EQ(present[22], 0);
  EXPECT_EQ(present[23], 1);
}

TEST_F(TrainingInputTest, TheLabelIsTheLatestByThen) {
  label_nodes_ = {Id(1), Id(1), Id(2), Id(1)};
  label_values_ = {3, 4, 5, 6};
  label_times_ = {5, 15, 12, 25};
  const TrainingInput input = WriteAndLoad();
  EXPECT_EQ(input.data.labels, (std::vector<std::int32_t>{0, 1, -1, 2}));
}

}  // namespace
}  // namespace coden
