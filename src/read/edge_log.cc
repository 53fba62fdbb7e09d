#include "coden/read/edge_log.h"

#include <algorithm>

#include <arrow/array.h>
#include <arrow/compute/api.h>
#include <arrow/type.h>

#include "coden/pipeline/error.h"
#include "coden/read/event_batch.h"
#include "read/columns_internal.h"

namespace coden {

namespace {

// Read the `op` column: true for an insertion, false for a deletion.
arrow::Result<std::vector<bool>> ReadOps(const std::shared_ptr<arrow::Array>& array,
                                         const ColumnPlace& place) {
  ARROW_RETURN_NOT_OK(CheckNoNulls(*array, place));
  std::vector<bool> inserts(array->length());
  if (array->type_id() == arrow::Type::BOOL) {
    const auto& values = static_cast<const arrow::BooleanArray&>(*array);
    for (std::int64_t row = 0; row < array->length(); ++row)
      inserts[row] = values.Value(row);
    return inserts;
  }
  // Integers and strings are both compared as text, so one rule serves all types.
  ARROW_ASSIGN_OR_RAISE(const auto text, arrow::compute::Cast(*array, arrow::utf8()));
  const auto& values = static_cast<const arrow::StringArray&>(*text);
  for (std::int64_t row = 0; row < array->length(); ++row) {
    const std::string_view value = values.GetView(row);
    if (value == "1" || value == "insert") {
      inserts[row] = true;
    } else if (value != "-1" && value != "delete") {
      return InputError(place.At(row), ": an op must be 1 or insert, -1 or delete: '",
                        value, "'");
    }
  }
  return inserts;
}

}  // namespace

arrow::Result<EdgeLog> EdgeLog::Open(const InputOptions& input, EventMode events) {
  if (input.edges.empty()) return UsageError("there is no edge log: set `input.edges`");
  EdgeLog log;
  ARROW_ASSIGN_OR_RAISE(log.source, ParquetSource::Open(input.edges));
  ARROW_ASSIGN_OR_RAISE(const auto src, log.source->Column(input.src, "input.src"));
  ARROW_ASSIGN_OR_RAISE(const auto dst, log.source->Column(input.dst, "input.dst"));
  ARROW_ASSIGN_OR_RAISE(const auto time, log.source->Column(input.time, "input.time"));
  log.columns = {input.src, input.dst, input.time};
  if (events == EventMode::kSigned) {
    ARROW_ASSIGN_OR_RAISE(const auto op, log.source->Column(input.op, "input.op"));
    log.columns.push_back(input.op);
  }
  ARROW_ASSIGN_OR_RAISE(log.id_type, NodeIdMap::IdType(*src->type()));
  ARROW_ASSIGN_OR_RAISE(const auto dst_type, NodeIdMap::IdType(*dst->type()));
  if (!dst_type->Equals(*log.id_type)) {
    return InputError("'", input.edges, "': columns '", input.src, "' and '", input.dst,
                      "' must be of one kind: ", src->type()->ToString(), " and ",
                      dst->type()->ToString());
  }
  if (!IsTimeType(*time->type())) {
    return InputError(
        "'", input.edges, "', column '", input.time,
        "': a time must be a whole number or a timestamp: ", time->type()->ToString());
  }
  ARROW_ASSIGN_OR_RAISE(log.num_rows, log.source->CountRows());
  if (log.num_rows == 0)
    return InputError("the edge log '", input.edges, "' has no rows");
  return log;
}

arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> EdgeLog::Scan(
    std::int64_t batch_rows) const {
  return source->Scan(columns, batch_rows);
}

EventReader::EventReader(std::string path, EventMode events, NodeIdMap& nodes)
    : path_(std::move(path)), events_(events), nodes_(nodes) {}

arrow::Result<SchemaPtr> EventReader::Bind(const SchemaPtr& input) {
  columns_ = input->field_names();
  return EventSchema();
}

arrow::Status EventReader::Push(BatchPtr batch, const Emit& emit) {
  const auto place = [this](int column) {
    return ColumnPlace{path_, columns_[column], rows_};
  };
  ARROW_ASSIGN_OR_RAISE(const auto src,
                        ReadIds(batch->column(0), nodes_.id_type(), place(0)));
  ARROW_ASSIGN_OR_RAISE(const auto dst,
                        ReadIds(batch->column(1), nodes_.id_type(), place(1)));
  ARROW_ASSIGN_OR_RAISE(const auto times, ReadTimes(batch->column(2), place(2)));
  std::vector<bool> inserts;
  if (events_ == EventMode::kSigned) {
    ARROW_ASSIGN_OR_RAISE(inserts, ReadOps(batch->column(3), place(3)));
  }
  ARROW_RETURN_NOT_OK(nodes_.EncodeEdges(*src, *dst, &src_, &dst_));

  EventBatchBuilder events;
  for (std::int64_t row = 0; row < batch->num_rows(); ++row) {
    const EventTime time = times->Value(row);
    if (time < last_time_) {
      return InputError(place(2).At(row),
                        ": times must not fall; sort the log by time: ", time, " after ",
                        last_time_);
    }
    last_time_ = time;
    EventKind kind = EventKind::kInsert;
    if (events_ == EventMode::kToggle) kind = EventKind::kToggle;
    if (events_ == EventMode::kSigned && !inserts[row]) kind = EventKind::kDelete;
    events.Append({src_[row], dst_[row], time, kind});
  }
  rows_ += batch->num_rows();
  return emit(events.Finish());
}

arrow::Status EventReader::Finish(const Emit&) { return arrow::Status::OK(); }

}  // namespace coden
