#include <utility>

#include <arrow/util/byte_size.h>

#include "base/handover_internal.h"

namespace coden {

namespace {

// Never shown: whoever abandons a hand-over has the error that is.
arrow::Status Abandoned() {
  return arrow::Status::Cancelled("another stage of the pass has ended");
}

}  // namespace

arrow::Status Handover::Put(Parcel parcel) {
  const std::int64_t size =
      parcel.batch == nullptr ? 0 : arrow::util::TotalBufferSize(*parcel.batch);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return abandoned_ || queue_.empty() ||
           (queue_.size() < max_batches_ && bytes_ + size <= max_bytes_);
  });
  if (abandoned_) return Abandoned();
  bytes_ += size;
  queue_.push_back({std::move(parcel), size});
  changed_.notify_all();
  return arrow::Status::OK();
}

arrow::Result<Parcel> Handover::Take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return abandoned_ || !queue_.empty(); });
  if (abandoned_) return Abandoned();
  Waiting next = std::move(queue_.front());
  queue_.pop_front();
  bytes_ -= next.bytes;
  changed_.notify_all();
  return std::move(next.parcel);
}

void Handover::Abandon() {
  // What waited is destroyed after the lock is released: a large batch takes a while.
  std::deque<Waiting> dropped;
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  dropped.swap(queue_);
  bytes_ = 0;
  changed_.notify_all();
}

}  // namespace coden
