#include "coden/sample/schedule.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include "coden/base/error.h"

namespace coden {

std::shared_ptr<arrow::Schema> ScheduleSchema() {
  const auto required = [](const char* name, std::shared_ptr<arrow::DataType> type) {
    return arrow::field(name, std::move(type), /*nullable=*/false);
  };
  return arrow::schema({
      required("snapshot", arrow::int32()),
      required("prediction", arrow::int32()),
      required("at_prediction", arrow::boolean()),
      required("time", arrow::int64()),
      required("events", arrow::int64()),
      required("num_nodes", arrow::int64()),
      required("num_edges", arrow::int64()),
      required("sigma", arrow::float64()),
      arrow::field("error_bound", arrow::float64()),
      arrow::field("base", arrow::int32()),
  });
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> ScheduleToBatch(
    const Schedule& schedule) {
  arrow::Int32Builder snapshot, prediction, base;
  arrow::BooleanBuilder at_prediction;
  arrow::Int64Builder time, events, num_nodes, num_edges;
  arrow::DoubleBuilder sigma, error_bound;
  for (const SchedulePoint& point : schedule) {
    ARROW_RETURN_NOT_OK(snapshot.Append(point.snapshot));
    ARROW_RETURN_NOT_OK(prediction.Append(point.prediction));
    ARROW_RETURN_NOT_OK(at_prediction.Append(point.at_prediction));
    ARROW_RETURN_NOT_OK(time.Append(point.time));
    ARROW_RETURN_NOT_OK(events.Append(point.events));
    ARROW_RETURN_NOT_OK(num_nodes.Append(point.num_nodes));
    ARROW_RETURN_NOT_OK(num_edges.Append(point.num_edges));
    ARROW_RETURN_NOT_OK(sigma.Append(point.sigma));
    ARROW_RETURN_NOT_OK(point.error_bound ? error_bound.Append(*point.error_bound)
                                          : error_bound.AppendNull());
    ARROW_RETURN_NOT_OK(point.base ? base.Append(*point.base) : base.AppendNull());
  }
  std::vector<std::shared_ptr<arrow::Array>> columns;
  for (arrow::ArrayBuilder* builder : std::initializer_list<arrow::ArrayBuilder*>{
           &snapshot, &prediction, &at_prediction, &time, &events, &num_nodes, &num_edges,
           &sigma, &error_bound, &base}) {
    ARROW_ASSIGN_OR_RAISE(auto column, builder->Finish());
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(ScheduleSchema(),
                                  static_cast<std::int64_t>(schedule.size()), columns);
}

arrow::Result<Schedule> ScheduleFromTable(const arrow::Table& table, int first_snapshot) {
  if (!table.schema()->Equals(*ScheduleSchema(), /*check_metadata=*/false)) {
    return CorruptionError("the schedule has columns this version does not know: ",
                           table.schema()->ToString());
  }
  ARROW_ASSIGN_OR_RAISE(const auto batch, table.CombineChunksToBatch());
  const auto int32_at = [&](int column, std::int64_t row) {
    return static_cast<const arrow::Int32Array&>(*batch->column(column)).Value(row);
  };
  const auto int64_at = [&](int column, std::int64_t row) {
    return static_cast<const arrow::Int64Array&>(*batch->column(column)).Value(row);
  };
  Schedule schedule;
  for (std::int64_t row = 0; row < batch->num_rows(); ++row) {
    SchedulePoint point;
    point.snapshot = int32_at(0, row);
    point.prediction = int32_at(1, row);
    point.at_prediction =
        static_cast<const arrow::BooleanArray&>(*batch->column(2)).Value(row);
    point.time = int64_at(3, row);
    point.events = int64_at(4, row);
    point.num_nodes = int64_at(5, row);
    point.num_edges = int64_at(6, row);
    point.sigma = static_cast<const arrow::DoubleArray&>(*batch->column(7)).Value(row);
    const auto& bounds = static_cast<const arrow::DoubleArray&>(*batch->column(8));
    if (bounds.IsValid(row)) point.error_bound = bounds.Value(row);
    if (batch->column(9)->IsValid(row)) point.base = int32_at(9, row);
    if (point.snapshot != first_snapshot + row) {
      return CorruptionError("the schedule's snapshots must count up from ",
                             first_snapshot, ": row ", row, " says ", point.snapshot);
    }
    const int base = point.base.value_or(point.snapshot);
    const bool rests_on_full =
        base == point.snapshot ||
        (base >= first_snapshot && base < point.snapshot &&
         schedule[static_cast<std::size_t>(base - first_snapshot)].base == base);
    if (!rests_on_full) {
      return CorruptionError("the base of snapshot ", point.snapshot,
                             " must be itself or an earlier full snapshot: ", base);
    }
    if (!schedule.empty() && (point.events < schedule.back().events ||
                              point.prediction < schedule.back().prediction)) {
      return CorruptionError(
          "the schedule's events and predictions must not fall: they do at row ", row);
    }
    schedule.push_back(point);
  }
  return schedule;
}

}  // namespace coden
