#include "coden/state/log_segments.h"

#include <algorithm>
#include <iterator>

#include "coden/base/error.h"

namespace coden {

namespace {

// Rows of a log, counted from the start of its range.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// Ranges of rows, one behind the other. Opens a range when the one before it has ended.
class RangeReader : public arrow::RecordBatchReader {
 public:
  RangeReader(const EdgeLog& log, std::int64_t batch_rows, std::vector<RowRange> ranges)
      : log_(log), batch_rows_(batch_rows), ranges_(std::move(ranges)) {}

  arrow::Status Open() { return OpenNext(); }

  std::shared_ptr<arrow::Schema> schema() const override { return current_->schema(); }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    while (true) {
      ARROW_RETURN_NOT_OK(current_->ReadNext(batch));
      if (*batch != nullptr || next_ >= ranges_.size()) return arrow::Status::OK();
      ARROW_RETURN_NOT_OK(OpenNext());
    }
  }

 private:
  arrow::Status OpenNext() {
    const RowRange none;
    const RowRange& range = ranges_.empty() ? none : ranges_[next_++];
    return log_.Scan(batch_rows_, range.begin, range.end).Value(&current_);
  }

  const EdgeLog& log_;
  std::int64_t batch_rows_;
  std::vector<RowRange> ranges_;
  std::size_t next_ = 0;
  std::shared_ptr<arrow::RecordBatchReader> current_;
};

arrow::Result<RowRange> RangeOf(const EdgeLog& log, const LogSegment& segment) {
  const auto file = log.RowsOf(segment.file);
  if (!file || file->num_rows < segment.end_row()) return InputChanged();
  return RowRange{file->first_row + segment.first_row,
                  file->first_row + segment.end_row()};
}

}  // namespace

std::vector<LogSegment> SegmentsOf(const EdgeLog& log,
                                   const std::vector<LogHasher::Piece>& pieces,
                                   std::int64_t first_event) {
  std::vector<LogSegment> segments;
  for (const LogHasher::Piece& piece : pieces) {
    const ParquetSource::Place place = log.source->PlaceOf(piece.first_row);
    segments.push_back({place.file->name, place.row, piece.end_row - piece.first_row,
                        first_event, piece.num_events, piece.digest});
    first_event += piece.num_events;
  }
  return segments;
}

std::int64_t NumEvents(std::span<const LogSegment> segments) {
  return segments.empty() ? 0 : segments.back().end_event();
}

arrow::Result<std::int64_t> RowAfter(std::span<const LogSegment> segments,
                                     const EdgeLog& log) {
  if (segments.empty()) return 0;
  ARROW_ASSIGN_OR_RAISE(const RowRange last, RangeOf(log, segments.back()));
  return last.end;
}

arrow::Result<UsedRows> ReadUsedRows(const EdgeLog& log,
                                     std::span<const LogSegment> segments,
                                     std::int64_t batch_rows, std::int64_t num_events) {
  UsedRows rows;
  std::vector<RowRange> ranges;
  for (const LogSegment& segment : segments) {
    if (segment.end_event() <= num_events) continue;
    ARROW_ASSIGN_OR_RAISE(RowRange range, RangeOf(log, segment));
    const std::int64_t done = std::max<std::int64_t>(num_events - segment.first_event, 0);
    // Without late rows among them, it is known which row an event is.
    if (segment.num_rows == segment.num_events) {
      range.begin += done;
    } else if (done > 0) {
      rows.options.skip = done;
    }
    rows.count += range.end - range.begin;
    if (!ranges.empty() && ranges.back().end == range.begin) {
      ranges.back().end = range.end;
    } else {
      ranges.push_back(range);
    }
  }
  rows.options.first_row = log.num_before + (ranges.empty() ? 0 : ranges.front().begin);
  rows.options.late.policy = LatePolicy::kDrop;
  const auto reader = std::make_shared<RangeReader>(log, batch_rows, std::move(ranges));
  ARROW_RETURN_NOT_OK(reader->Open());
  rows.reader = reader;
  return rows;
}

}  // namespace coden
