#pragma once

#include <memory>

#include <arrow/type_fwd.h>

namespace coden {

/// The schema of predictions.parquet (schemas/predictions.csv). Nodes and classes keep
/// the type of the user's ids and labels: int64 or utf8.
std::shared_ptr<arrow::Schema> PredictionsSchema(
    const std::shared_ptr<arrow::DataType>& node_type,
    const std::shared_ptr<arrow::DataType>& label_type);

/// The schema of forecast.parquet (schemas/forecast.csv), of the same types.
std::shared_ptr<arrow::Schema> ForecastSchema(
    const std::shared_ptr<arrow::DataType>& node_type,
    const std::shared_ptr<arrow::DataType>& label_type);

/// The schema of metrics.parquet (schemas/metrics.csv). A score over no nodes at all is
/// NaN.
std::shared_ptr<arrow::Schema> MetricsSchema();

}  // namespace coden
