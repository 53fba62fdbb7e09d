#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "coden/report/results_table.h"

namespace coden {

/// How often nodes of one class were given another: test nodes that had an event, at all
/// prediction times and in all runs.
struct ClassCounts {
  std::vector<std::string> names;  ///< numbers by value, other labels by their text
  /// (class, predicted class) -> number of predictions; pairs that never occur are left
  /// out
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> pairs;
};

/// Count `label`, `predicted`, `split` and `present` of predictions.parquet.
arrow::Result<ClassCounts> CountClasses(const arrow::Table& predictions);

/// The largest classes one by one and the rest as the last, "other".
struct ConfusionMatrix {
  std::vector<std::string> names;
  std::vector<std::vector<std::int64_t>> counts;  ///< row: class, column: predicted
  std::size_t num_merged = 0;                     ///< classes behind "other"; 0: none
};

ConfusionMatrix MakeConfusionMatrix(const ClassCounts& counts, std::size_t max_classes);

/// Precision, recall, F1 and support of every class.
ResultsTable ClassScoreTable(const ClassCounts& counts);

}  // namespace coden
