#include "coden/read/edge_log.h"

#include <algorithm>
#include <numeric>
#include <span>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/compute/api.h>
#include <arrow/type.h>

#include "coden/base/error.h"
#include "coden/read/event_batch.h"
#include "read/columns_internal.h"
#include "read/input_schemas_internal.h"
#include "read/time_limits_internal.h"

namespace coden {

namespace {

// The row group that has a row is decoded in batches of this size.
constexpr std::int64_t kTimeBatchRows = 1 << 16;

arrow::Result<BatchPtr> WithoutLate(const BatchPtr& batch,
                                    const std::vector<bool>& late) {
  arrow::BooleanBuilder keep;
  ARROW_RETURN_NOT_OK(keep.Reserve(batch->num_rows()));
  for (const bool is_late : late) keep.UnsafeAppend(!is_late);
  ARROW_ASSIGN_OR_RAISE(const auto mask, keep.Finish());
  ARROW_ASSIGN_OR_RAISE(const auto kept, arrow::compute::Filter(batch, mask));
  return kept.record_batch();
}

// What is wrong with `row`, the first of a batch that is late. `before` is the time of
// the last row before the batch.
std::string TimesOf(std::span<const EventTime> times, std::ptrdiff_t row,
                    EventTime before, EventTime predicted) {
  const auto at = static_cast<std::size_t>(row);
  const std::string time = std::to_string(times[at]);
  if (times[at] <= predicted)
    return time + ", and predicted up to " + std::to_string(predicted);
  return time + " after " + std::to_string(row == 0 ? before : times[at - 1]);
}

}  // namespace

arrow::Result<EdgeLog> EdgeLog::Open(const InputOptions& input, EventMode events,
                                     const std::vector<std::string>& known) {
  if (input.edges.empty()) return UsageError(kNoEdgeLog);
  EdgeLog log;
  ARROW_ASSIGN_OR_RAISE(log.source, ParquetSource::Open(input.edges, known));
  ARROW_ASSIGN_OR_RAISE(const auto columns, CheckEdgeLogSchema(*log.source, input, events,
                                                               Refuse(input.edges)));
  log.columns = {columns.src.name, columns.dst.name, columns.time.name};
  if (columns.op.usable()) log.columns.push_back(columns.op.name);
  for (const std::string& name : log.source->schema()->field_names()) {
    if (std::find(log.columns.begin(), log.columns.end(), name) == log.columns.end())
      log.other_columns.push_back(name);
  }
  std::int64_t first_row = 0;
  for (const ParquetSource::File& file : log.source->files()) {
    log.file_rows[file.name] = {first_row, file.num_rows};
    first_row += file.num_rows;
  }
  log.id_type = columns.src.id_type;
  log.time_type = columns.time.type;
  ARROW_ASSIGN_OR_RAISE(const RowsInRange rows,
                        FindRowsInRange(*log.source, input, columns.time,
                                        columns.num_rows, Refuse(*log.source)));
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

std::optional<EdgeLog::FileRows> EdgeLog::RowsOf(const std::string& name) const {
  const auto found = file_rows.find(name);
  if (found == file_rows.end()) return std::nullopt;
  const std::int64_t first = found->second.first_row - num_before;
  return FileRows{first, std::min(found->second.num_rows, num_rows - first)};
}

arrow::Result<EdgeLog::KeptRows> EdgeLog::CountKept(std::int64_t first_row,
                                                    const LateRule& rule) const {
  KeptRows kept;
  LateRows late(rule.predicted);
  const OnBreach refuse = Refuse(*source);
  ARROW_ASSIGN_OR_RAISE(const auto batches,
                        source->Scan({columns[2]}, kTimeBatchRows, num_before + first_row,
                                     num_before + num_rows));
  std::int64_t row = num_before + first_row;
  std::vector<bool> is_late;
  for (BatchPtr batch;; row += batch->num_rows()) {
    ARROW_RETURN_NOT_OK(batches->ReadNext(&batch));
    if (batch == nullptr) break;
    ARROW_ASSIGN_OR_RAISE(const auto times,
                          ReadTimes(batch->column(0), {columns[2], row, refuse}));
    const auto size = static_cast<std::size_t>(times->length());
    kept.count += times->length() - late.Mark({times->raw_values(), size}, &is_late);
  }
  if (kept.count > 0) kept.last_time = late.earliest();
  return kept;
}

arrow::Result<EventTime> EdgeLog::LastTime() const {
  ARROW_ASSIGN_OR_RAISE(const auto rows,
                        source->Scan({columns[2]}, kTimeBatchRows,
                                     num_before + num_rows - 1, num_before + num_rows));
  std::shared_ptr<arrow::RecordBatch> batch;
  ARROW_RETURN_NOT_OK(rows->ReadNext(&batch));
  if (batch == nullptr) return InputChanged();
  const OnBreach refuse = Refuse(*source);
  ARROW_ASSIGN_OR_RAISE(
      const auto times,
      ReadTimes(batch->column(0), {columns[2], num_before + num_rows - 1, refuse}));
  return times->Value(0);
}

EventReader::EventReader(std::string path, EventMode events, NodeIdMap& nodes,
                         const EventReaderOptions& options)
    : path_(std::move(path)),
      events_(events),
      nodes_(nodes),
      options_(options),
      next_row_(options.first_row),
      skip_(options.skip),
      late_(options.late.predicted) {}

arrow::Result<SchemaPtr> EventReader::Bind(const SchemaPtr& input) {
  columns_ = input->field_names();
  return EventSchema();
}

arrow::Status EventReader::Push(BatchPtr batch, const Emit& emit) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(batch->num_rows()));
  std::iota(rows.begin(), rows.end(), next_row_);
  const std::int64_t first_row = next_row_;
  next_row_ += batch->num_rows();
  // Rows are reported as the place in `rows`, because late ones may have been taken out.
  const OnBreach in_source =
      options_.source == nullptr ? Refuse(path_) : Refuse(*options_.source);
  const OnBreach refuse = [&](Breach breach) {
    if (breach.row >= 0) breach.row = rows[static_cast<std::size_t>(breach.row)];
    return in_source(breach);
  };
  const auto place = [&](int column) {
    return ColumnPlace{columns_[column], /*first_row=*/0, refuse};
  };
  ARROW_ASSIGN_OR_RAISE(auto times, ReadTimes(batch->column(2), place(2)));
  std::vector<bool> late;
  const EventTime before = late_.earliest();
  const std::span<const EventTime> all_times(times->raw_values(), rows.size());
  if (const std::int64_t num_late = late_.Mark(all_times, &late); num_late > 0) {
    if (options_.late.policy == LatePolicy::kRefuse) {
      const auto row = std::find(late.begin(), late.end(), true) - late.begin();
      return place(2).Report(row, late_.RuleOf(times->Value(row)),
                             TimesOf(all_times, row, before, options_.late.predicted));
    }
    num_late_ += num_late;
    ARROW_ASSIGN_OR_RAISE(batch, WithoutLate(batch, late));
    ARROW_ASSIGN_OR_RAISE(times, ReadTimes(batch->column(2), place(2)));
    std::erase_if(rows, [&](std::int64_t row) {
      return late[static_cast<std::size_t>(row - first_row)];
    });
  }
  if (skip_ > 0) {
    const std::int64_t skipped = std::min(skip_, batch->num_rows());
    skip_ -= skipped;
    batch = batch->Slice(skipped);
    times = std::static_pointer_cast<arrow::Int64Array>(times->Slice(skipped));
    rows.erase(rows.begin(), rows.begin() + skipped);
  }
  if (batch->num_rows() == 0) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const auto src,
                        ReadIds(batch->column(0), nodes_.id_type(), place(0)));
  ARROW_ASSIGN_OR_RAISE(const auto dst,
                        ReadIds(batch->column(1), nodes_.id_type(), place(1)));
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
  return emit(EventBatch(std::move(src_ids), std::move(dst_ids), times, std::move(kinds),
                         std::move(rows)));
}

arrow::Status EventReader::Finish(const Emit&) { return arrow::Status::OK(); }

}  // namespace coden
