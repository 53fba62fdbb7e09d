#include "read/time_index_internal.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <arrow/array.h>
#include <arrow/compute/cast.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <parquet/arrow/reader.h>
#include <parquet/metadata.h>
#include <parquet/statistics.h>

#include "coden/base/error.h"
#include "read/columns_internal.h"

namespace coden {

namespace {

constexpr std::int64_t kBatchRows = 65536;
constexpr std::string_view kFallingTimes =
    "times must not fall from one row group to the next; sort the log by time and name "
    "its files in that order, or set `input.late = drop`";

// Whether a time may be negative or null is for those to say who read the rows.
OnBreach Ignore() {
  return [](const Breach&) { return arrow::Status::OK(); };
}

// The times of a column that stands in a file as `scalar`, read as `type`.
arrow::Result<EventTime> TimeOf(const arrow::Scalar& scalar,
                                const std::shared_ptr<arrow::DataType>& type,
                                const std::string& column) {
  ARROW_ASSIGN_OR_RAISE(const auto raw, arrow::MakeArrayFromScalar(scalar, 1));
  ARROW_ASSIGN_OR_RAISE(const auto typed, arrow::compute::Cast(*raw, type));
  ARROW_ASSIGN_OR_RAISE(const auto times, ReadTimes(typed, {column, 0, Ignore()}));
  return times->Value(0);
}

// What the footer says about the times of one row group; nothing where it has no
// statistics, or none that can be used.
std::optional<std::pair<EventTime, EventTime>> RangeOf(
    const parquet::RowGroupMetaData& group, int leaf, const std::string& column,
    const std::shared_ptr<arrow::DataType>& type) {
  const auto statistics = group.ColumnChunk(leaf)->statistics();
  if (statistics == nullptr || !statistics->HasMinMax()) return std::nullopt;
  std::shared_ptr<arrow::Scalar> low, high;
  if (!parquet::arrow::StatisticsAsScalars(*statistics, &low, &high).ok()) {
    return std::nullopt;
  }
  const auto first = TimeOf(*low, type, column);
  const auto last = TimeOf(*high, type, column);
  if (!first.ok() || !last.ok()) return std::nullopt;
  return std::pair(*first, *last);
}

}  // namespace

arrow::Result<TimeIndex> TimeIndex::Make(const ParquetSource& source,
                                         const std::string& column,
                                         const OnBreach& on_breach) {
  TimeIndex index(source, column);
  const auto type = source.schema()->GetFieldByName(column)->type();
  std::int64_t row = 0;
  ARROW_RETURN_NOT_OK(
      source.ForEachFooter([&](const parquet::FileMetaData& footer) -> arrow::Status {
        const int leaf = footer.schema()->ColumnIndex(column);
        for (int i = 0; i < footer.num_row_groups(); ++i) {
          const auto metadata = footer.RowGroup(i);
          Group group{row, row + metadata->num_rows()};
          row = group.end_row;
          if (group.first_row == group.end_row) continue;
          if (leaf >= 0) {
            if (const auto range = RangeOf(*metadata, leaf, column, type)) {
              group.known = true;
              std::tie(group.first, group.last) = *range;
            }
          }
          index.groups_.push_back(group);
        }
        return arrow::Status::OK();
      }));
  ARROW_RETURN_NOT_OK(index.Check(on_breach));
  return index;
}

arrow::Status TimeIndex::Check(const OnBreach& on_breach) const {
  std::optional<EventTime> before;
  for (const Group& group : groups_) {
    if (!group.known) continue;
    if (before && group.first < *before) {
      ARROW_RETURN_NOT_OK(
          on_breach({column_, group.first_row, std::string(kFallingTimes),
                     std::to_string(group.first) + " after " + std::to_string(*before)}));
    }
    before = group.last;
  }
  return arrow::Status::OK();
}

arrow::Result<EventTime> TimeIndex::TimeOfRow(std::int64_t row) const {
  ARROW_ASSIGN_OR_RAISE(const auto reader,
                        source_.Scan({column_}, kBatchRows, row, row + 1));
  std::shared_ptr<arrow::RecordBatch> batch;
  ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
  if (batch == nullptr) return InputChanged();
  ARROW_ASSIGN_OR_RAISE(const auto times,
                        ReadTimes(batch->column(0), {column_, row, Ignore()}));
  return times->Value(0);
}

arrow::Result<EventTime> TimeIndex::LastTimeOf(const Group& group) const {
  if (group.known) return group.last;
  return TimeOfRow(group.end_row - 1);
}

arrow::Result<EventTime> TimeIndex::FirstTime() const {
  const Group& front = groups_.front();
  EventTime first = front.first;
  if (!front.known) {
    ARROW_ASSIGN_OR_RAISE(first, TimeOfRow(front.first_row));
  }
  for (const Group& group : groups_) {
    if (group.known) first = std::min(first, group.first);
  }
  return first;
}

arrow::Result<EventTime> TimeIndex::LastTime() const {
  ARROW_ASSIGN_OR_RAISE(EventTime last, LastTimeOf(groups_.back()));
  for (const Group& group : groups_) {
    if (group.known) last = std::max(last, group.last);
  }
  return last;
}

arrow::Result<std::int64_t> TimeIndex::FirstRowIn(const Group& group,
                                                  EventTime time) const {
  if (group.known && group.first >= time) return group.first_row;
  ARROW_ASSIGN_OR_RAISE(const auto reader, source_.Scan({column_}, kBatchRows,
                                                        group.first_row, group.end_row));
  std::int64_t row = group.first_row;
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) return row;
    ARROW_ASSIGN_OR_RAISE(const auto times,
                          ReadTimes(batch->column(0), {column_, row, Ignore()}));
    for (std::int64_t i = 0; i < times->length(); ++i, ++row) {
      if (times->IsValid(i) && times->Value(i) >= time) return row;
    }
  }
}

arrow::Result<std::int64_t> TimeIndex::FirstRowFrom(EventTime time, bool sorted) const {
  if (!sorted) {
    for (const Group& group : groups_) {
      if (group.known && group.last < time) continue;
      ARROW_ASSIGN_OR_RAISE(const std::int64_t row, FirstRowIn(group, time));
      if (row < group.end_row) return row;
    }
    return groups_.empty() ? 0 : groups_.back().end_row;
  }
  // Bisect by hand: looking at a row group can fail.
  std::size_t low = 0;
  std::size_t high = groups_.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    ARROW_ASSIGN_OR_RAISE(const EventTime last, LastTimeOf(groups_[middle]));
    if (last < time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == groups_.size()) return groups_.empty() ? 0 : groups_.back().end_row;
  return FirstRowIn(groups_[low], time);
}

}  // namespace coden
