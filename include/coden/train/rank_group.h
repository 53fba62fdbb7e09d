#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/cancel.h>

#include "coden/train/rank_environment.h"

namespace coden {

/// The processes that train one model together, as one of them sees them
/// (docs/distributed_training.md). Rank 0 alone writes to the run.
///
/// Calls come from one thread. A call that waits for another rank ends with an error when
/// that rank, or any other, has ended without Leave, and when `stop()` is asked for.
class RankGroup {
 public:
  RankGroup(int rank, int size) : rank_(rank), size_(size) {}
  virtual ~RankGroup() = default;
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Hand bytes over to rank `to`, or take as many as were sent from rank `from`. Both
  /// may wait until the other calls its part; messages between two ranks keep their
  /// order.
  virtual arrow::Status Send(std::span<const std::byte> bytes, int to) = 0;
  virtual arrow::Status Receive(std::span<std::byte> bytes, int from) = 0;

  /// Asked to stop when the program is, and when a rank is lost, which work that waits
  /// for nobody would not notice.
  virtual arrow::StopToken stop() const = 0;

  /// Wait until all ranks are here. Without this call the end of a process is a failure
  /// to the others.
  virtual arrow::Status Leave() = 0;

 private:
  const int rank_;
  const int size_;
};

/// Meet the other ranks, each of which makes the same call; a usage error where they are
/// not all there in time. `stop` asks the whole group to stop.
arrow::Result<std::unique_ptr<RankGroup>> JoinRanks(
    const RankEnvironment& environment, arrow::StopToken stop,
    std::chrono::seconds patience = std::chrono::minutes(2));

}  // namespace coden
