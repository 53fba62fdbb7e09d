// How a broken rule of the input schemas is told. Checks state the rule; whoever calls
// them decides what follows: a reader refuses the first breach, the validator lists all.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <arrow/status.h>
#include <arrow/type_fwd.h>

#include "coden/read/parquet_source.h"

namespace coden {

/// One place where an input breaks a rule.
struct Breach {
  std::string column;     ///< empty where the whole input is meant
  std::int64_t row = -1;  ///< counted over the whole input; -1 where it is not about rows
  std::string rule;       ///< what is wrong and the way out, without values
  std::string value;      ///< what was found; may be empty

  /// "rule: value"
  std::string Sentence() const;
};

/// Take note of a breach. A status that is not OK ends the check.
using OnBreach = std::function<arrow::Status(const Breach&)>;

/// Refuse the first breach with an error that says where it is:
/// "'edges.parquet', column 'time', row 12: a time must not be negative: -3".
OnBreach Refuse(const std::string& path);

/// The same for an input that may have several files: the message names the file, and
/// the row counts within it. `source` must outlive the result.
OnBreach Refuse(const ParquetSource& source);

/// Where the values of an array stand in their input, and who hears of their breaches.
struct ColumnPlace {
  std::string_view column;
  std::int64_t first_row = 0;  ///< row of the input that the array begins with
  const OnBreach& on_breach;

  arrow::Status Report(std::int64_t row, std::string_view rule,
                       std::string value = {}) const;
};

/// Whether a column of this type can be what a setting names.
using TypeCheck = bool (*)(const arrow::DataType&);

/// Say that `schema` does not have exactly one column called `name`, and which columns
/// have a type that fits; `type_rule` says which types do, where none has one.
std::string ColumnRule(const arrow::Schema& schema, const std::string& name,
                       std::string_view setting, TypeCheck fits,
                       std::string_view type_rule);

}  // namespace coden
