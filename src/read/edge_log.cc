#include "coden/read/edge_log.h"

#include <algorithm>

#include <arrow/array.h>
#include <arrow/type.h>

#include "coden/pipeline/error.h"
#include "coden/read/event_batch.h"
#include "read/columns_internal.h"
#include "read/input_schemas_internal.h"
#include "read/time_limits_internal.h"

namespace coden {

arrow::Result<EdgeLog> EdgeLog::Open(const InputOptions& input, EventMode events,
                                     const std::vector<std::string>& known) {
  if (input.edges.empty()) return UsageError(kNoEdgeLog);
  EdgeLog log;
  ARROW_ASSIGN_OR_RAISE(log.source, ParquetSource::Open(input.edges, known));
  ARROW_ASSIGN_OR_RAISE(const auto columns, CheckEdgeLogSchema(*log.source, input, events,
                                                               Refuse(input.edges)));
  log.columns = {columns.src.name, columns.dst.name, columns.time.name};
  if (columns.op.usable()) log.columns.push_back(columns.op.name);
  log.id_type = columns.src.id_type;
  ARROW_ASSIGN_OR_RAISE(const RowsInRange rows,
                        FindRowsInRange(*log.source, input, columns.time,
                                        columns.num_rows, Refuse(input.edges)));
  log.num_before = rows.begin;
  log.num_rows = rows.end - rows.begin;
  log.num_after = columns.num_rows - rows.end;
  return log;
}

arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> EdgeLog::Scan(
    std::int64_t batch_rows, std::int64_t first_row, std::int64_t end_row) const {
  return source->Scan(columns, batch_rows, num_before + first_row,
                      num_before + std::min(end_row, num_rows));
}

arrow::Result<EventTime> EdgeLog::LastTime() const {
  // The row group that has the row is decoded in batches of this size.
  constexpr std::int64_t kBatchRows = 1 << 16;
  ARROW_ASSIGN_OR_RAISE(const auto rows,
                        source->Scan({columns[2]}, kBatchRows, num_before + num_rows - 1,
                                     num_before + num_rows));
  std::shared_ptr<arrow::RecordBatch> batch;
  ARROW_RETURN_NOT_OK(rows->ReadNext(&batch));
  if (batch == nullptr) return InputChanged();
  const OnBreach refuse = Refuse(source->path());
  ARROW_ASSIGN_OR_RAISE(
      const auto times,
      ReadTimes(batch->column(0), {columns[2], num_before + num_rows - 1, refuse}));
  return times->Value(0);
}

EventReader::EventReader(std::string path, EventMode events, NodeIdMap& nodes,
                         std::int64_t first_row)
    : path_(std::move(path)),
      events_(events),
      nodes_(nodes),
      next_row_(first_row),
      order_(std::make_unique<RisingTimes>()) {}

EventReader::~EventReader() = default;

arrow::Result<SchemaPtr> EventReader::Bind(const SchemaPtr& input) {
  columns_ = input->field_names();
  return EventSchema();
}

arrow::Status EventReader::Push(BatchPtr batch, const Emit& emit) {
  const OnBreach refuse = Refuse(path_);
  const auto place = [&](int column) {
    return ColumnPlace{columns_[column], next_row_, refuse};
  };
  ARROW_ASSIGN_OR_RAISE(const auto src,
                        ReadIds(batch->column(0), nodes_.id_type(), place(0)));
  ARROW_ASSIGN_OR_RAISE(const auto dst,
                        ReadIds(batch->column(1), nodes_.id_type(), place(1)));
  ARROW_ASSIGN_OR_RAISE(const auto times, ReadTimes(batch->column(2), place(2)));
  ARROW_RETURN_NOT_OK(order_->Check(*times, place(2)));
  std::vector<bool> inserts;
  if (events_ == EventMode::kSigned) {
    ARROW_ASSIGN_OR_RAISE(inserts, ReadOps(batch->column(3), place(3)));
  }
  std::vector<NodeId> src_ids;
  std::vector<NodeId> dst_ids;
  ARROW_RETURN_NOT_OK(nodes_.EncodeEdges(*src, *dst, &src_ids, &dst_ids));
  const EventKind usual =
      events_ == EventMode::kToggle ? EventKind::kToggle : EventKind::kInsert;
  std::vector<std::int8_t> kinds(batch->num_rows(), static_cast<std::int8_t>(usual));
  for (std::size_t row = 0; row < inserts.size(); ++row) {
    if (!inserts[row]) kinds[row] = static_cast<std::int8_t>(EventKind::kDelete);
  }
  next_row_ += batch->num_rows();
  return emit(
      EventBatch(std::move(src_ids), std::move(dst_ids), times, std::move(kinds)));
}

arrow::Status EventReader::Finish(const Emit&) { return arrow::Status::OK(); }

}  // namespace coden
