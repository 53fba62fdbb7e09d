#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <arrow/result.h>

#include "coden/base/operator.h"
#include "coden/graph/node_id_map.h"
#include "coden/read/late_rows.h"
#include "coden/read/parquet_source.h"
#include "coden/settings/graph_options.h"
#include "coden/settings/input_options.h"

namespace coden {

/// The edge log of a run: its source, the columns that are read from it, and the rows
/// that `input.from` and `input.until` leave of it.
struct EdgeLog {
  std::unique_ptr<ParquetSource> source;
  std::vector<std::string> columns;        ///< src, dst, time and, for signed events, op
  std::vector<std::string> other_columns;  ///< of the source, which are not read
  std::shared_ptr<arrow::DataType> id_type;
  std::shared_ptr<arrow::DataType> time_type;
  std::int64_t num_rows = 0;    ///< in range
  std::int64_t num_before = 0;  ///< rows of the source before the range
  std::int64_t num_after = 0;   ///< and after it
  /// Rows of one file of the source.
  struct FileRows {
    std::int64_t first_row = 0;  ///< of the source
    std::int64_t num_rows = 0;
  };
  std::unordered_map<std::string, FileRows> file_rows;  ///< by name

  /// Open `input.edges` and check its schema. Reads footers, and the time column of row
  /// groups that a limit falls into. A range without rows is an error of the input. The
  /// files called `known` come first (ParquetSource).
  static arrow::Result<EdgeLog> Open(const InputOptions& input, EventMode events,
                                     const std::vector<std::string>& known = {});

  /// Stream the rows in range from `first_row` up to, not including, `end_row`, which
  /// count from the start of the range.
  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Scan(
      std::int64_t batch_rows, std::int64_t first_row = 0,
      std::int64_t end_row = ParquetSource::kToTheEnd) const;

  /// The rows of the file called `name`, counted from the start of the range, before
  /// which it may begin, and up to its end; nothing where there is no such file.
  std::optional<FileRows> RowsOf(const std::string& name) const;

  /// Rows in range that are not late, and the time of the last of them.
  struct KeptRows {
    std::int64_t count = 0;
    EventTime last_time = kNoTime;
  };
  /// Count them from `first_row` on. Reads the time column.
  arrow::Result<KeptRows> CountKept(std::int64_t first_row, const LateRule& rule) const;

  /// The time of the last row in range.
  arrow::Result<EventTime> LastTime() const;
};

/// Where an EventReader begins, and which rows it leaves out.
struct EventReaderOptions {
  std::int64_t first_row = 0;  ///< of the source, that the stream begins with
  LateRule late = {};
  /// That many rows are left out at the start, not counting late ones.
  std::int64_t skip = 0;
  const ParquetSource* source = nullptr;  ///< errors name the file of a row by it
};

/// The `read` stage: turn rows of the log into normalised events (event_batch.h),
/// numbering nodes through `nodes`. Refuses nulls and negative times. Late rows are
/// refused, or dropped and counted: then nothing else of them is read.
class EventReader : public Operator {
 public:
  /// `nodes` and the source must outlive the stage.
  EventReader(std::string path, EventMode events, NodeIdMap& nodes,
              const EventReaderOptions& options = {});

  /// Late rows that were dropped so far.
  std::int64_t num_late() const { return num_late_; }

  std::string_view name() const override { return "read"; }
  arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) override;
  arrow::Status Push(BatchPtr batch, const Emit& emit) override;
  arrow::Status Finish(const Emit& emit) override;

 private:
  std::string path_;
  EventMode events_;
  NodeIdMap& nodes_;
  EventReaderOptions options_;
  std::vector<std::string> columns_;
  std::int64_t next_row_;
  std::int64_t skip_;
  LateRows late_;
  std::int64_t num_late_ = 0;
};

}  // namespace coden
