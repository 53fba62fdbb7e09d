// Find rows of a log by their time without reading it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "coden/base/types.h"
#include "coden/read/parquet_source.h"
#include "read/rules_internal.h"

namespace coden {

/// The times of a log by row group. What the footers tell is taken from there; of row
/// groups without statistics, the time column is decoded where a search ends in one.
class TimeIndex {
 public:
  /// Read the footers of `source`, which must outlive the index and have rows and a time
  /// column called `column`. Rule: times do not fall from one row group to the next, as
  /// far as the footers tell.
  static arrow::Result<TimeIndex> Make(const ParquetSource& source,
                                       const std::string& column,
                                       const OnBreach& on_breach);

  /// Return the first row whose time is `time` or later; the number of rows where all
  /// times are before. `sorted`: times do not fall, so that row groups can be bisected.
  arrow::Result<std::int64_t> FirstRowFrom(EventTime time, bool sorted = true) const;

  /// The earliest and the latest time, as far as the footers and the two ends tell.
  arrow::Result<EventTime> FirstTime() const;
  arrow::Result<EventTime> LastTime() const;

 private:
  struct Group {
    std::int64_t first_row = 0;
    std::int64_t end_row = 0;
    bool known = false;  // whether the footer tells `first` and `last`
    EventTime first = 0;
    EventTime last = 0;
  };

  TimeIndex(const ParquetSource& source, std::string column)
      : source_(source), column_(std::move(column)) {}
  arrow::Status Check(const OnBreach& on_breach) const;
  arrow::Result<EventTime> TimeOfRow(std::int64_t row) const;
  arrow::Result<EventTime> LastTimeOf(const Group& group) const;
  arrow::Result<std::int64_t> FirstRowIn(const Group& group, EventTime time) const;

  const ParquetSource& source_;
  std::string column_;
  std::vector<Group> groups_;  // those that have rows
};

}  // namespace coden
