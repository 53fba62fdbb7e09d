#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
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

/// Counts predictions.parquet part by part: `label`, `predicted`, `split` and `present`.
class ClassCounter {
 public:
  arrow::Status Add(const arrow::Table& predictions);
  ClassCounts Finish() const;

 private:
  std::size_t NumberOf(const std::string& name);
  arrow::Result<std::vector<std::size_t>> NumbersOf(const arrow::Table& table,
                                                    const std::string& column);

  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<std::string> names_;  // in the order in which they were seen
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> pairs_;
};

/// The largest classes one by one and the rest as the last, "other".
struct ConfusionMatrix {
  std::vector<std::string> names;
  std::vector<std::vector<std::int64_t>> counts;  ///< row: class, column: predicted
  std::size_t num_merged = 0;                     ///< classes behind "other"; 0: none
};

ConfusionMatrix MakeConfusionMatrix(const ClassCounts& counts, std::size_t max_classes);

/// Precision, recall and F1 of every class, and how many predictions there are for nodes
/// of it: a node counts once for every prediction time and run.
ResultsTable ClassScoreTable(const ClassCounts& counts);

}  // namespace coden
