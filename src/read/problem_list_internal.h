#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coden/base/progress.h"
#include "coden/read/parquet_source.h"
#include "coden/read/validation.h"
#include "read/rules_internal.h"

namespace coden {

/// The problems of one input: breaches of one rule in one column are counted together.
class ProblemList {
 public:
  ProblemList(std::string input, std::string_view path);
  ProblemList(const ProblemList&) = delete;
  ProblemList& operator=(const ProblemList&) = delete;

  /// Hears of breaches and lets every check go on.
  const OnBreach& on_breach() const { return on_breach_; }

  /// Add what does not stop a run: `count` rows or nodes, none if 0.
  void Remark(std::string column, std::string rule, std::int64_t count,
              std::int64_t first_row);

  /// Turn an error about the content of the input into a problem; pass others on.
  arrow::Status Absorb(const arrow::Status& status);

  /// Stream `columns` of `source`, from row `begin_row` to `end_row`, to `visit(batch,
  /// first row)`, polling for an interrupt.
  arrow::Status ForEachBatch(
      const ParquetSource& source, const std::vector<std::string>& columns,
      std::int64_t batch_rows, std::int64_t begin_row, std::int64_t end_row,
      const RunContext& context,
      const std::function<arrow::Status(const arrow::RecordBatch&, std::int64_t)>& visit);

  /// Rows of the current batch that had a breach so far.
  const std::vector<bool>& broken() const { return broken_; }

  /// Return the problems by first row, remarks last: an order that does not depend on how
  /// the rows were cut into batches.
  std::vector<InputProblem> Take();

 private:
  void Add(const Breach& breach);

  std::string input_;
  std::string path_;
  OnBreach on_breach_;
  std::vector<InputProblem> problems_;
  std::map<std::pair<std::string, std::string>, std::size_t> by_rule_;
  std::int64_t first_row_ = 0;
  std::vector<bool> broken_;
};

}  // namespace coden
