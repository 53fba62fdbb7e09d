#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/graph/graph_options.h"
#include "coden/graph/node_id_map.h"
#include "coden/pipeline/operator.h"
#include "coden/read/input_options.h"
#include "coden/read/parquet_source.h"

namespace coden {

/// The edge log of a run: its source, the columns that are read from it, and the rows
/// that `input.from` and `input.until` leave of it.
struct EdgeLog {
  std::unique_ptr<ParquetSource> source;
  std::vector<std::string> columns;  ///< src, dst, time and, for signed events, op
  std::shared_ptr<arrow::DataType> id_type;
  std::int64_t num_rows = 0;    ///< in range
  std::int64_t num_before = 0;  ///< rows of the source before the range
  std::int64_t num_after = 0;   ///< and after it

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

  /// The time of the last row in range.
  arrow::Result<EventTime> LastTime() const;
};

class RisingTimes;

/// The `read` stage: turn rows of the log into normalised events (event_batch.h),
/// numbering nodes through `nodes`. Refuses nulls, negative times and times that fall.
class EventReader : public Operator {
 public:
  /// `nodes` must outlive the stage. `first_row` is the row of the input that the stream
  /// begins with; errors count from there.
  EventReader(std::string path, EventMode events, NodeIdMap& nodes,
              std::int64_t first_row = 0);
  ~EventReader() override;

  std::string_view name() const override { return "read"; }
  arrow::Result<SchemaPtr> Bind(const SchemaPtr& input) override;
  arrow::Status Push(BatchPtr batch, const Emit& emit) override;
  arrow::Status Finish(const Emit& emit) override;

 private:
  std::string path_;
  EventMode events_;
  NodeIdMap& nodes_;
  std::vector<std::string> columns_;
  std::int64_t next_row_;
  std::unique_ptr<RisingTimes> order_;
};

}  // namespace coden
