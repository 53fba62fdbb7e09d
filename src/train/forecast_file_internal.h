#pragma once

#include <memory>
#include <span>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "coden/base/types.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_store.h"
#include "coden/train/train_files.h"

namespace coden {

/// What a model says of all nodes of a snapshot at one prediction time.
struct Forecast {
  int prediction = 0;
  EventTime time = 0;
  std::shared_ptr<arrow::Array> node_ids;  ///< in the order of the snapshot
  std::span<const NodeId> nodes;           ///< their rows of `probabilities`
  std::span<const float> probabilities;    ///< [nodes of the run, classes]
};

/// Return the rows of forecast.parquet. The class with the highest probability is
/// predicted; of equal ones the first.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> ForecastBatch(
    const Forecast& forecast, const arrow::Array& classes);

/// Start forecast.parquet, with the classes in its metadata; `goes_on`: with the rows
/// that it has.
arrow::Result<std::unique_ptr<ParquetFileWriter>> StageForecast(
    RunStore& store, const std::shared_ptr<arrow::DataType>& node_type,
    const arrow::Array& classes, bool goes_on);

}  // namespace coden
