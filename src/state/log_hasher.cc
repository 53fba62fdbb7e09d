#include "coden/state/log_hasher.h"

#include "coden/read/event_batch.h"

namespace coden {

arrow::Status LogHasher::Push(BatchPtr batch, const Emit& emit) {
  const EventView events(*batch);
  // The partitioner puts punctuation into batches of its own.
  if (events.size() > 0 && events[0].src != kNoNode) {
    const auto add = [](Hasher& hasher, auto values) {
      hasher.Update(values.data(), values.size_bytes());
    };
    add(src_, events.sources());
    add(dst_, events.targets());
    add(time_, events.times());
    add(kind_, events.kinds());
    num_events_ += events.size();
  }
  return emit(std::move(batch));
}

std::string LogHasher::Digest() const {
  const std::string columns =
      src_.Digest() + dst_.Digest() + time_.Digest() + kind_.Digest();
  return HashOf(columns.data(), columns.size());
}

}  // namespace coden
