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

/// The edge log of a run: its source and the columns that are read from it.
struct EdgeLog {
  std::unique_ptr<ParquetSource> source;
  std::vector<std::string> columns;  ///< src, dst, time and, for signed events, op
  std::shared_ptr<arrow::DataType> id_type;
  std::int64_t num_rows = 0;

  /// Open `input.edges` and check its schema, reading footers only.
  static arrow::Result<EdgeLog> Open(const InputOptions& input, EventMode events);

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Scan(
      std::int64_t batch_rows) const;
};

class RisingTimes;

/// The `read` stage: turn rows of the log into normalised events (event_batch.h),
/// numbering nodes through `nodes`. Refuses nulls, negative times and times that fall.
class EventReader : public Operator {
 public:
  /// `nodes` must outlive the stage.
  EventReader(std::string path, EventMode events, NodeIdMap& nodes);
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
  std::int64_t rows_ = 0;
  std::unique_ptr<RisingTimes> order_;
};

}  // namespace coden
