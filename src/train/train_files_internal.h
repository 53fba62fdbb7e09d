#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "coden/train/train_files.h"
#include "train/metrics_internal.h"
#include "train/training_input_internal.h"

namespace coden {

/// Return the rows of predictions.parquet for prediction time number `k` of the data:
/// one for every node that has a label and a prediction then.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> PredictionsBatch(
    const TrainingInput& input, std::span<const Part> split, const PairScores& scores,
    int run, std::int64_t k);

/// Return metrics.parquet; element i of `runs` holds the metrics of run i.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> MetricsBatch(
    std::span<const std::vector<PredictionMetrics>> runs);

/// Return one line of metrics.jsonl, with its line end: of an epoch, or of a prediction
/// time with the scores of its controls.
std::string ControlsLine(int run, const PredictionMetrics& metrics);
std::string MetricsLine(int run, const EpochRecord& record);

}  // namespace coden
