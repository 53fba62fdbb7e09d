#include "train/forecast_file_internal.h"

#include <algorithm>

#include <arrow/builder.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include "coden/store/run_layout.h"
#include "train/model_files_internal.h"

namespace coden {

std::shared_ptr<arrow::Schema> ForecastSchema(
    const std::shared_ptr<arrow::DataType>& node_type,
    const std::shared_ptr<arrow::DataType>& label_type) {
  const auto required = [](const char* name, std::shared_ptr<arrow::DataType> type) {
    return arrow::field(name, std::move(type), /*nullable=*/false);
  };
  return arrow::schema({
      required("node", node_type),
      required("prediction", arrow::int32()),
      required("time", arrow::int64()),
      required("predicted", label_type),
      required("probability", arrow::float64()),
      required("probabilities", arrow::list(required("element", arrow::float32()))),
  });
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> ForecastBatch(
    const Forecast& forecast, const arrow::Array& classes) {
  const auto num_rows = static_cast<std::int64_t>(forecast.nodes.size());
  const auto num_classes = static_cast<std::size_t>(classes.length());
  const auto schema = ForecastSchema(forecast.node_ids->type(), classes.type());
  const arrow::ArraySpan class_values(*classes.data());
  arrow::Int32Builder predictions;
  arrow::Int64Builder times;
  arrow::DoubleBuilder best_shares;
  const auto shares = std::make_shared<arrow::FloatBuilder>();
  arrow::ListBuilder lists(arrow::default_memory_pool(), shares,
                           schema->GetFieldByName("probabilities")->type());
  ARROW_ASSIGN_OR_RAISE(const auto predicted, arrow::MakeBuilder(classes.type()));
  ARROW_RETURN_NOT_OK(shares->Reserve(num_rows * classes.length()));
  for (arrow::ArrayBuilder* builder : std::initializer_list<arrow::ArrayBuilder*>{
           &predictions, &times, &best_shares, &lists, predicted.get()}) {
    ARROW_RETURN_NOT_OK(builder->Reserve(num_rows));
  }
  for (const NodeId node : forecast.nodes) {
    const auto row = forecast.probabilities.subspan(node * num_classes, num_classes);
    const auto best = std::max_element(row.begin(), row.end());
    predictions.UnsafeAppend(forecast.prediction);
    times.UnsafeAppend(forecast.time);
    best_shares.UnsafeAppend(*best);
    ARROW_RETURN_NOT_OK(predicted->AppendArraySlice(class_values, best - row.begin(), 1));
    ARROW_RETURN_NOT_OK(lists.Append());
    ARROW_RETURN_NOT_OK(shares->AppendValues(row.data(), classes.length()));
  }
  arrow::ArrayVector columns = {forecast.node_ids};
  for (arrow::ArrayBuilder* builder : std::initializer_list<arrow::ArrayBuilder*>{
           &predictions, &times, predicted.get(), &best_shares, &lists}) {
    ARROW_ASSIGN_OR_RAISE(columns.emplace_back(), builder->Finish());
  }
  return arrow::RecordBatch::Make(schema, num_rows, std::move(columns));
}

arrow::Result<std::unique_ptr<ParquetFileWriter>> StageForecast(
    RunStore& store, const std::shared_ptr<arrow::DataType>& node_type,
    const arrow::Array& classes, bool goes_on) {
  ParquetFileOptions options;
  options.metadata =
      arrow::key_value_metadata({"coden.classes"}, {ClassesToText(classes)});
  ARROW_ASSIGN_OR_RAISE(
      auto writer,
      ParquetFileWriter::Stage(store, RunLayout::kForecast,
                               ForecastSchema(node_type, classes.type()), options));
  if (goes_on) ARROW_RETURN_NOT_OK(CopyParquetRows(store, RunLayout::kForecast, *writer));
  return writer;
}

}  // namespace coden
