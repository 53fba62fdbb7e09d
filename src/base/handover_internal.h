#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>

#include <arrow/result.h>
#include <arrow/status.h>

#include "coden/base/operator.h"

namespace coden {

/// A batch on its way from one thread of a pass to the next.
struct Parcel {
  BatchPtr batch;                ///< null at the end of the stream
  std::int64_t source_rows = 0;  ///< rows of the source that were read up to this batch
};

/// A queue of batches between one thread that puts and one that takes, bounded in bytes
/// and in number. A batch above the bound passes alone, so any batch passes.
///
/// Once a side is abandoned both calls fail at once, also one that is waiting: neither
/// thread can be left behind by the other.
class Handover {
 public:
  Handover(std::int64_t max_bytes, std::size_t max_batches)
      : max_bytes_(max_bytes), max_batches_(max_batches) {}

  /// Wait for room, then queue the parcel. A null batch ends the stream.
  arrow::Status Put(Parcel parcel);

  /// Wait for a parcel, up to the one that ends the stream.
  arrow::Result<Parcel> Take();

  /// Give up: drop what waits and let both sides fail. From any thread.
  void Abandon();

 private:
  struct Waiting {
    Parcel parcel;
    std::int64_t bytes;
  };

  const std::int64_t max_bytes_;
  const std::size_t max_batches_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> queue_;
  std::int64_t bytes_ = 0;  // of all that wait
  bool abandoned_ = false;
};

}  // namespace coden
