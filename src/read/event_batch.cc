#include "coden/read/event_batch.h"

#include <utility>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/type.h>

namespace coden {

namespace {

template <typename Array, typename Value>
std::shared_ptr<arrow::Array> TakeVector(std::vector<Value>& values) {
  const auto length = static_cast<std::int64_t>(values.size());
  return std::make_shared<Array>(length,
                                 arrow::Buffer::FromVector(std::exchange(values, {})));
}

template <typename Array, typename Value>
std::span<const Value> ViewColumn(const arrow::RecordBatch& batch, int column) {
  const auto& array = static_cast<const Array&>(*batch.column(column));
  return {array.raw_values(), static_cast<std::size_t>(array.length())};
}

}  // namespace

std::shared_ptr<arrow::Schema> EventSchema() {
  return arrow::schema({
      arrow::field("src", arrow::int32(), /*nullable=*/false),
      arrow::field("dst", arrow::int32(), /*nullable=*/false),
      arrow::field("time", arrow::int64(), /*nullable=*/false),
      arrow::field("kind", arrow::int8(), /*nullable=*/false),
      arrow::field("row", arrow::int64(), /*nullable=*/false),
  });
}

std::shared_ptr<arrow::RecordBatch> EventBatch(std::vector<NodeId> src,
                                               std::vector<NodeId> dst,
                                               std::shared_ptr<arrow::Array> times,
                                               std::vector<std::int8_t> kinds,
                                               std::vector<std::int64_t> rows) {
  const auto num_rows = static_cast<std::int64_t>(kinds.size());
  return arrow::RecordBatch::Make(
      EventSchema(), num_rows,
      {TakeVector<arrow::Int32Array>(src), TakeVector<arrow::Int32Array>(dst),
       std::move(times), TakeVector<arrow::Int8Array>(kinds),
       TakeVector<arrow::Int64Array>(rows)});
}

void EventBatchBuilder::Append(const EdgeEvent& event, std::int64_t row) {
  src_.push_back(event.src);
  dst_.push_back(event.dst);
  time_.push_back(event.time);
  kind_.push_back(static_cast<std::int8_t>(event.kind));
  row_.push_back(row);
}

std::shared_ptr<arrow::RecordBatch> EventBatchBuilder::Finish() {
  auto times = TakeVector<arrow::Int64Array>(time_);
  return EventBatch(std::exchange(src_, {}), std::exchange(dst_, {}), std::move(times),
                    std::exchange(kind_, {}), std::exchange(row_, {}));
}

EventView::EventView(const arrow::RecordBatch& batch)
    : src_(ViewColumn<arrow::Int32Array, NodeId>(batch, 0)),
      dst_(ViewColumn<arrow::Int32Array, NodeId>(batch, 1)),
      time_(ViewColumn<arrow::Int64Array, EventTime>(batch, 2)),
      kind_(ViewColumn<arrow::Int8Array, std::int8_t>(batch, 3)),
      row_(ViewColumn<arrow::Int64Array, std::int64_t>(batch, 4)) {}

}  // namespace coden
