#include "coden/state/log_hasher.h"

#include <algorithm>
#include <span>
#include <utility>

namespace coden {

LogHasher::LogHasher(std::vector<std::int64_t> cuts) : cuts_(std::move(cuts)) {}

void LogHasher::Add(const EventView& events, std::int64_t begin, std::int64_t end) {
  if (begin == end) return;
  const auto add = [&](Hasher& hasher, auto values) {
    const auto part = values.subspan(static_cast<std::size_t>(begin),
                                     static_cast<std::size_t>(end - begin));
    hasher.Update(part.data(), part.size_bytes());
  };
  add(src_, events.sources());
  add(dst_, events.targets());
  add(time_, events.times());
  add(kind_, events.kinds());
  if (open_.num_events == 0) open_.first_row = events.rows()[begin];
  open_.end_row = events.rows()[end - 1] + 1;
  open_.num_events += end - begin;
}

void LogHasher::EndPiece() {
  if (open_.num_events > 0) {
    const std::string columns =
        src_.Digest() + dst_.Digest() + time_.Digest() + kind_.Digest();
    open_.digest = HashOf(columns.data(), columns.size());
    pieces_.push_back(open_);
  }
  open_ = {};
  for (Hasher* hasher : {&src_, &dst_, &time_, &kind_}) *hasher = Hasher();
}

arrow::Status LogHasher::Push(BatchPtr batch, const Emit& emit) {
  const EventView events(*batch);
  // The partitioner puts punctuation into batches of its own.
  if (events.size() > 0 && events[0].src != kNoNode) {
    const auto rows = events.rows();
    std::int64_t begin = 0;
    while (next_cut_ < cuts_.size() && cuts_[next_cut_] <= rows.back()) {
      const auto end = std::lower_bound(rows.begin(), rows.end(), cuts_[next_cut_++]);
      Add(events, begin, end - rows.begin());
      begin = end - rows.begin();
      EndPiece();
    }
    Add(events, begin, events.size());
  }
  return emit(std::move(batch));
}

std::vector<LogHasher::Piece> LogHasher::TakePieces() {
  EndPiece();
  return std::exchange(pieces_, {});
}

}  // namespace coden
