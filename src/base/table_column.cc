#include <limits>

#include <arrow/array.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include "base/table_column_internal.h"
#include "coden/base/error.h"

namespace coden {

namespace {

arrow::Result<std::shared_ptr<arrow::ChunkedArray>> FindColumn(
    const arrow::Table& table, const std::string& file, const std::string& column) {
  auto found = table.GetColumnByName(column);
  if (found == nullptr) {
    return CorruptionError(file, " must have exactly one column `", column, "`");
  }
  if (found->null_count() != 0) {
    return CorruptionError(file, ": column `", column,
                           "` must have no nulls: ", found->null_count());
  }
  return found;
}

template <typename ArrayType, typename Value>
void Append(const arrow::ChunkedArray& column, std::vector<Value>& values) {
  values.reserve(static_cast<std::size_t>(column.length()));
  for (const auto& chunk : column.chunks()) {
    const auto& array = static_cast<const ArrayType&>(*chunk);
    for (std::int64_t row = 0; row < array.length(); ++row) {
      values.push_back(static_cast<Value>(array.Value(row)));
    }
  }
}

arrow::Status WrongType(const std::string& file, const std::string& column,
                        std::string_view wanted, const arrow::DataType& type) {
  return CorruptionError(file, ": column `", column, "` must be ", wanted, ": ",
                         type.ToString());
}

}  // namespace

arrow::Result<std::vector<double>> RealColumn(const arrow::Table& table,
                                              const std::string& file,
                                              const std::string& column) {
  ARROW_ASSIGN_OR_RAISE(const auto found, FindColumn(table, file, column));
  if (found->type()->id() != arrow::Type::DOUBLE) {
    return WrongType(file, column, "double", *found->type());
  }
  std::vector<double> values;
  Append<arrow::DoubleArray>(*found, values);
  return values;
}

arrow::Result<std::vector<double>> OptionalRealColumn(const arrow::Table& table,
                                                      const std::string& file,
                                                      const std::string& column) {
  const auto found = table.GetColumnByName(column);
  if (found == nullptr || found->null_count() == 0)
    return RealColumn(table, file, column);
  if (found->type()->id() != arrow::Type::DOUBLE)
    return WrongType(file, column, "double", *found->type());
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(found->length()));
  for (const auto& chunk : found->chunks()) {
    const auto& array = static_cast<const arrow::DoubleArray&>(*chunk);
    for (std::int64_t row = 0; row < array.length(); ++row)
      values.push_back(array.IsNull(row) ? std::numeric_limits<double>::quiet_NaN()
                                         : array.Value(row));
  }
  return values;
}

arrow::Result<std::vector<std::int64_t>> IntegerColumn(const arrow::Table& table,
                                                       const std::string& file,
                                                       const std::string& column) {
  ARROW_ASSIGN_OR_RAISE(const auto found, FindColumn(table, file, column));
  std::vector<std::int64_t> values;
  switch (found->type()->id()) {
    case arrow::Type::INT32:
      Append<arrow::Int32Array>(*found, values);
      return values;
    case arrow::Type::INT64:
      Append<arrow::Int64Array>(*found, values);
      return values;
    default:
      return WrongType(file, column, "int32 or int64", *found->type());
  }
}

arrow::Result<std::vector<std::uint8_t>> FlagColumn(const arrow::Table& table,
                                                    const std::string& file,
                                                    const std::string& column) {
  ARROW_ASSIGN_OR_RAISE(const auto found, FindColumn(table, file, column));
  if (found->type()->id() != arrow::Type::BOOL) {
    return WrongType(file, column, "bool", *found->type());
  }
  std::vector<std::uint8_t> values;
  Append<arrow::BooleanArray>(*found, values);
  return values;
}

arrow::Result<std::vector<std::string_view>> TextColumn(const arrow::Table& table,
                                                        const std::string& file,
                                                        const std::string& column) {
  ARROW_ASSIGN_OR_RAISE(const auto found, FindColumn(table, file, column));
  if (found->type()->id() != arrow::Type::STRING) {
    return WrongType(file, column, "string", *found->type());
  }
  std::vector<std::string_view> values;
  values.reserve(static_cast<std::size_t>(found->length()));
  for (const auto& chunk : found->chunks()) {
    const auto& array = static_cast<const arrow::StringArray&>(*chunk);
    for (std::int64_t row = 0; row < array.length(); ++row) {
      values.push_back(array.GetView(row));
    }
  }
  return values;
}

}  // namespace coden
