#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "coden/read/edge_log.h"
#include "coden/state/log_hasher.h"

namespace coden {

/// Rows of one file of the log that the schedule uses, but for late ones among them,
/// which are dropped. The first and the last are used. Rows between two segments are not.
struct LogSegment {
  std::string file;            ///< its name (ParquetSource::File)
  std::int64_t first_row = 0;  ///< of the file
  std::int64_t num_rows = 0;
  std::int64_t first_event = 0;  ///< events before it
  std::int64_t num_events = 0;
  std::string hash;  ///< of its events (LogHasher)

  std::int64_t end_row() const { return first_row + num_rows; }
  std::int64_t end_event() const { return first_event + num_events; }
};

/// The segments of what came through a hasher whose pieces end with files.
std::vector<LogSegment> SegmentsOf(const EdgeLog& log,
                                   const std::vector<LogHasher::Piece>& pieces,
                                   std::int64_t first_event);

/// Events of all segments.
std::int64_t NumEvents(std::span<const LogSegment> segments);

/// The row in range of `log` that comes after the last segment.
arrow::Result<std::int64_t> RowAfter(std::span<const LogSegment> segments,
                                     const EdgeLog& log);

/// Used rows of a log, to be read again.
struct UsedRows {
  std::shared_ptr<arrow::RecordBatchReader> reader;
  std::int64_t count = 0;      ///< rows that the reader gives
  EventReaderOptions options;  ///< of the stage that turns them into events
};

/// Read the events after the first `num_events` of `segments`. Late rows among them are
/// dropped by the EventReader.
arrow::Result<UsedRows> ReadUsedRows(const EdgeLog& log,
                                     std::span<const LogSegment> segments,
                                     std::int64_t batch_rows,
                                     std::int64_t num_events = 0);

}  // namespace coden
