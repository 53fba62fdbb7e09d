// Turn columns of many types into the few that the tool computes with, refusing nulls
// with the row they are in.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

namespace coden {

/// Say where a value stands, for messages: "'edges.parquet', column 'time', row 12".
struct ColumnPlace {
  std::string_view path;
  std::string_view column;
  std::int64_t first_row = 0;  ///< row of the input that the array begins with

  std::string At(std::int64_t row) const;
};

/// Refuse an array with a null.
arrow::Status CheckNoNulls(const arrow::Array& array, const ColumnPlace& place);

/// Read node ids as `id_type` (NodeIdMap::IdType).
arrow::Result<std::shared_ptr<arrow::Array>> ReadIds(
    const std::shared_ptr<arrow::Array>& array,
    const std::shared_ptr<arrow::DataType>& id_type, const ColumnPlace& place);

/// Whether a column of `type` can be a time: integers, timestamps and dates can.
bool IsTimeType(const arrow::DataType& type);

/// Read times as int64, in the unit of the column, refusing negative ones.
arrow::Result<std::shared_ptr<arrow::Int64Array>> ReadTimes(
    const std::shared_ptr<arrow::Array>& array, const ColumnPlace& place);

}  // namespace coden
