#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/status.h>

#include "coden/import/import.h"

namespace coden::importing {

/// A rule that a row can break.
struct RowRule {
  std::string_view reason;  ///< a few words, for the count of dropped rows
  std::string_view rule;    ///< the rule and the way out, for the error
};

/// Refuse rows that break a rule, or drop and count them: the one place that knows which
/// (`on-error`). May be called from several threads.
class RowProblems {
 public:
  RowProblems(std::string name, OnRowError on_error)
      : name_(std::move(name)), on_error_(on_error) {}

  /// An error that names the line; OK where rows are dropped, and then this one is
  /// counted. `column` and `value` are empty where there is none.
  arrow::Status Report(std::int64_t line, std::string_view column, const RowRule& rule,
                       std::string_view value = {});

  /// By reason; the file is left to the caller.
  std::vector<DroppedRows> dropped() const;
  std::int64_t num_dropped() const;
  const std::string& name() const { return name_; }

 private:
  const std::string name_;
  const OnRowError on_error_;
  mutable std::mutex mutex_;
  std::vector<DroppedRows> dropped_;
};

}  // namespace coden::importing
