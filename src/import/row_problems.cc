#include "import/row_problems_internal.h"

#include <algorithm>

#include "coden/base/error.h"

namespace coden::importing {

arrow::Status RowProblems::Report(std::int64_t line, std::string_view column,
                                  const RowRule& rule, std::string_view value) {
  if (on_error_ == OnRowError::kSkip) {
    const std::scoped_lock lock(mutex_);
    const auto known = std::find_if(
        dropped_.begin(), dropped_.end(),
        [&](const DroppedRows& other) { return other.reason == rule.reason; });
    if (known != dropped_.end()) {
      ++known->rows;
      known->first_line = std::min(known->first_line, line);
    } else {
      dropped_.push_back({{}, std::string(rule.reason), 1, line});
    }
    return arrow::Status::OK();
  }
  std::string place = name_ + ", line " + std::to_string(line);
  if (!column.empty()) place += ", column '" + std::string(column) + "'";
  std::string shown;
  if (!value.empty()) shown = ": '" + std::string(value.substr(0, 80)) + "'";
  return InputError(place, ": ", rule.rule, "; `--on-error skip` drops such rows", shown);
}

std::vector<DroppedRows> RowProblems::dropped() const {
  const std::scoped_lock lock(mutex_);
  return dropped_;
}

std::int64_t RowProblems::num_dropped() const {
  std::int64_t rows = 0;
  for (const DroppedRows& dropped : this->dropped()) rows += dropped.rows;
  return rows;
}

}  // namespace coden::importing
