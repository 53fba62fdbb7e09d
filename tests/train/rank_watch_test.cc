#include "train/rank_watch_internal.h"

#include <future>

#include <gtest/gtest.h>

#include "coden/base/error.h"
#include "coden/train/rank_group.h"

namespace coden {
namespace {

using std::chrono_literals::operator""ms;

// What a watch of rank 0 of two ends with; rank 1 beats as `other` says.
arrow::Status EndOf(const std::function<arrow::Result<std::string>(int beat)>& other,
                    arrow::StopToken stop = arrow::StopToken::Unstoppable()) {
  std::promise<arrow::Status> ended;
  int beat = 0;
  const RankWatch watch(
      0,
      [&](const std::string& own) -> arrow::Result<std::vector<std::string>> {
        ARROW_ASSIGN_OR_RAISE(std::string theirs, other(beat++));
        return std::vector<std::string>{own, theirs};
      },
      std::move(stop), [&](const arrow::Status& reason) { ended.set_value(reason); },
      1ms);
  auto future = ended.get_future();
  if (future.wait_for(2000ms) != std::future_status::ready) return arrow::Status::OK();
  return future.get();
}

TEST(RankWatch, MissesARankThatNoLongerBeats) {
  int beats = 0;
  const auto status = EndOf([&](int beat) {
    beats = beat + 1;
    return std::to_string(std::min(beat, 5));
  });
  EXPECT_NE(status.message().find("rank 1 of 2"), std::string::npos);
  EXPECT_EQ(FaultOf(status), Fault::kUnavailable);
  EXPECT_EQ(beats, 6 + RankWatch::kMostMissed);
}

TEST(RankWatch, HearsThatARankHasFailed) {
  int beats = 0;
  const auto status = EndOf([&](int beat) -> std::string {
    beats = beat + 1;
    return beat < 3 ? std::to_string(beat) : std::string(kFailedBeat);
  });
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(beats, 4);
}

TEST(RankWatch, HandsOnWhatStopsIt) {
  arrow::StopSource source;
  source.RequestStop(arrow::Status::Cancelled("by hand"));
  EXPECT_TRUE(
      EndOf([](int beat) { return std::to_string(beat); }, source.token()).IsCancelled());
  EXPECT_TRUE(EndOf([](int) { return arrow::Status::IOError("gone"); }).IsIOError());
}

TEST(JoinRanks, SaysWhereTheRanksDidNotMeet) {
  const auto status = JoinRanks({.rank = 1, .size = 2, .address = "127.0.0.1", .port = 1},
                                arrow::StopToken::Unstoppable(), std::chrono::seconds(1))
                          .status();
  EXPECT_EQ(FaultOf(status), Fault::kUnavailable);
  EXPECT_NE(status.message().find("127.0.0.1:1, rank 1"), std::string::npos);
}

}  // namespace
}  // namespace coden
