#pragma once

#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "coden/base/ini_text.h"
#include "coden/report/results_table.h"

namespace coden {

/// Sum up metrics.parquet (schemas/metrics.csv): one row per prediction time, means over
/// the training runs, and with several runs the standard deviation of Micro-F1 (of a
/// sample: divided by runs - 1).
///
/// Beside the model's scores stand those of the controls, and the gain over the control
/// with the highest average.
///
/// Footer: the average over prediction times, whose deviation is that of each run's own
/// average, and the last prediction time. A value that is not finite counts nowhere. A
/// table of another schema is a corruption error.
///
/// `settings` are those of the training: the title says which model, inputs, protocol,
/// seeds and split the scores are of.
arrow::Result<ResultsTable> MicroF1Table(const arrow::Table& metrics,
                                         const std::vector<IniSection>& settings = {});

}  // namespace coden
