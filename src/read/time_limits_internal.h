// The part of a log that `input.from` and `input.until` ask for, in the unit of its
// times.
#pragma once

#include <optional>
#include <string>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "coden/base/types.h"
#include "coden/read/parquet_source.h"
#include "coden/settings/input_options.h"
#include "read/input_schemas_internal.h"
#include "read/rules_internal.h"

namespace coden {

/// from <= time < until; no limit where there is no value.
struct TimeLimits {
  std::optional<EventTime> from;
  std::optional<EventTime> until;

  bool any() const { return from || until; }
};

/// Read the limits for a time column of `type`: whole numbers in its unit or, where it is
/// a timestamp or a date, ISO dates and times such as 2024-01-05T12:00:00Z, in UTC unless
/// they name a zone. What cannot be read is a usage error.
arrow::Result<TimeLimits> ReadTimeLimits(const InputOptions& input,
                                         const arrow::DataType& type);

/// The rows of a log that its limits leave.
struct RowsInRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Find the rows of `source` within the limits of `input`; all `num_rows` of them where
/// there are none. A range without rows is a breach.
arrow::Result<RowsInRange> FindRowsInRange(const ParquetSource& source,
                                           const InputOptions& input,
                                           const InputColumn& time, std::int64_t num_rows,
                                           const OnBreach& on_breach);

/// Write `time` as the value of a time column of `type`: 19727 or 2024-01-05 (19727).
std::string ShowTime(EventTime time, const std::shared_ptr<arrow::DataType>& type);

}  // namespace coden
